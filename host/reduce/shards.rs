//! What one device does for the reduction of an array that several devices have: the partial results of
//! its blocks.

use super::launch::check_length;
use super::sealed::{Reduce, ReducePairs};
use crate::buffer::{Buffer, BufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::launch::LaunchConfig;
use crate::launch_args::{global, global_mut};
use crate::module::Module;
use tilewright_kernels::reduce::BLOCK_THREADS;

/// The partial result of a block that reduces elements of type `T` by `R`.
pub(crate) type Partial<R, T> = <T as Reduce<R>>::Accumulator;

/// The partial result of a block that reduces pairs of elements of type `T` by `R`.
pub(crate) type PairPartial<R, T> = <T as ReducePairs<R>>::Accumulator;

/// What a launch needs beside the elements, for itself alone.
struct Own<A: Element, O: Element> {
    partials: Buffer<A>,
    ticket: Buffer<u32>,
    result: Buffer<O>,
}

impl<A: Element, O: Element> Own<A, O> {
    /// For `blocks` blocks: two at least, because a single one leaves a value and no partial result.
    fn new(device: &Device, blocks: u32) -> Outcome<Self> {
        Ok(Self {
            partials: Buffer::uninit(device, blocks.max(2) as usize)?,
            ticket: Buffer::zeroed(device, 1)?,
            result: Buffer::uninit(device, 1)?,
        })
    }

    fn config(&self) -> LaunchConfig {
        LaunchConfig::new(self.partials.len() as u32, BLOCK_THREADS)
    }
}

impl Device {
    /// The partial results of `blocks` blocks (1 at least) that have the tiles of `shard` in turns, without
    /// waiting. There may be another one at the end, of no elements. `shard` starts with an allocation.
    pub(crate) fn partials_of<R, T: Reduce<R>>(
        &self,
        shard: BufferView<'_, T>,
        blocks: u32,
    ) -> Outcome<Buffer<T::Accumulator>> {
        let mut own = Own::<T::Accumulator, T::Value>::new(self, blocks)?;
        let config = own.config();
        let params = (
            global(shard),
            global_mut(own.partials.view_mut()),
            global_mut(own.ticket.view_mut()),
            global_mut(own.result.view_mut()),
        );
        let module = Module::on_demand(self, T::MODULE);
        // SAFETY: (1) the kernel's (1): there are as many partial results as blocks. Its (2): an allocation
        // is aligned to 256 bytes, and `result` has an element. Its (3): the ticket is new and 0, and nothing
        // else uses it or the partial results. (2) `shard` is borrowed until this returns; the rest is new.
        unsafe { module.launch_params(T::KERNEL, config, params) }?;
        Ok(own.partials)
    }

    /// [`partials_of`](Self::partials_of) of pairs of two shards.
    pub(crate) fn pair_partials_of<R, T: ReducePairs<R>>(
        &self,
        (x, y): (BufferView<'_, T>, BufferView<'_, T>),
        blocks: u32,
    ) -> Outcome<Buffer<T::Accumulator>> {
        check_length(x.len(), y.len())?;
        let mut own = Own::<T::Accumulator, T::Value>::new(self, blocks)?;
        let config = own.config();
        let params = (
            global(x),
            global(y),
            global_mut(own.partials.view_mut()),
            global_mut(own.ticket.view_mut()),
            global_mut(own.result.view_mut()),
        );
        let module = Module::on_demand(self, T::MODULE);
        // SAFETY: (1) the kernel's (1): there are as many partial results as blocks. Its (2): the lengths
        // were compared, and `result` has an element. Its (3): the ticket is new and 0, and nothing else uses
        // it or the partial results. (2) `x` and `y` are borrowed until this returns; the rest is new.
        unsafe { module.launch_params(T::KERNEL, config, params) }?;
        Ok(own.partials)
    }
}
