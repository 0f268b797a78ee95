//! One device's part in the reduction of an array that several devices share: the partial results of its blocks.

use super::sealed::{Reduce, Shared};
use crate::buffer::{Buffer, BufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::launch::LaunchConfig;
use crate::launch_args::global_mut;
use crate::module::Module;
use cuda_std::global::GlobalMut;
use tilewright_kernels::reduce::BLOCK_THREADS;

/// Memory that one launch needs for itself, besides the elements.
struct Own<A: Element, O: Element> {
    partials: Buffer<A>,
    ticket: Buffer<u32>,
    result: Buffer<O>,
}

impl<A: Element, O: Element> Own<A, O> {
    /// Memory for `blocks` blocks. It holds at least two partial results, because a single block leaves a value and no
    /// partial result.
    fn new(device: &Device, blocks: u32) -> Outcome<Self> {
        Ok(Self {
            partials: Buffer::uninit(device, blocks.max(2) as usize)?,
            ticket: Buffer::zeroed(device, 1)?,
            result: Buffer::uninit(device, 1)?,
        })
    }

    /// Memory that the blocks of a launch share, and the result.
    fn borrowed(&mut self) -> (Shared<'_, A>, GlobalMut<'_, O>) {
        let shared = Shared {
            partials: global_mut(self.partials.view_mut()),
            ticket: global_mut(self.ticket.view_mut()),
        };
        (shared, global_mut(self.result.view_mut()))
    }
}

impl Device {
    /// The partial results of `blocks` blocks (at least one), which take turns at the tiles of `shards`; does not
    /// wait.
    ///
    /// `shards` are of one array or two, and each starts with an allocation. There may be an extra partial result at
    /// the end, of no elements.
    pub(crate) fn partials_of<R, T: Reduce<R, ARRAYS>, const ARRAYS: usize>(
        &self,
        shards: [BufferView<'_, T>; ARRAYS],
        blocks: u32,
    ) -> Outcome<Buffer<T::Accumulator>> {
        self.check_arrays(shards, false)?;
        let mut own = Own::<T::Accumulator, T::Value>::new(self, blocks)?;
        let config = LaunchConfig::new(own.partials.len() as u32, BLOCK_THREADS);
        let (shared, result) = own.borrowed();
        let params = T::params(shards, shared, result);
        let module = Module::on_demand(self, T::MODULE);
        // SAFETY: the kernel's requirements. There are as many partial results as blocks. `shards` are aligned to 256
        // bytes, as allocations are; the lengths were compared; `result` and the ticket have an element each. The
        // ticket is new and 0, and nothing else uses it or the partial results. Views of live memory without
        // conflicting work: `shards` are borrowed until this returns, and the rest is new.
        unsafe { module.launch_params::<T::Kernel>(config, params) }?;
        Ok(own.partials)
    }
}
