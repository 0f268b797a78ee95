//! The launches of reductions of whole buffers.

use super::sealed::{Reduce, ReducePairs};
use crate::buffer::{BufferView, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{ErrorKind, Outcome};
use crate::launch::LaunchConfig;
use crate::launch_args::{global, global_mut};
use crate::module::Module;
use crate::module_source::ModuleSource;
use crate::result_slot::ResultSlot;
use crate::workspace::{LARGEST_PARTIAL, Workspace};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use std::ptr;
use tilewright_kernels::reduce::{BLOCK_THREADS, Plan};

/// The bytes that a kernel reads at once, at whose multiples they start.
const VECTOR_BYTES: u64 = 16;

/// What the blocks of a launch share, beside the result.
struct Shared<'a, A> {
    config: LaunchConfig,
    /// A partial result for each block.
    partials: GlobalMut<'a, A>,
    /// One counter, which is 0.
    ticket: GlobalMut<'a, u32>,
}

impl Device {
    /// The value of `x` on the host.
    pub(super) fn reduced<R, T: Reduce<R>>(&self, x: BufferView<'_, T>) -> Outcome<T::Value> {
        self.check_reducible(x, T::NEEDS_AN_ELEMENT)?;
        self.to_host(|result| self.launch_reduction::<R, T>(x, result))
    }

    /// Writes the value of `x` to `result`.
    pub(super) fn reduced_into<R, T: Reduce<R>>(
        &self,
        x: BufferView<'_, T>,
        result: BufferViewMut<'_, T::Value>,
    ) -> Outcome<()> {
        self.check_reducible(x, T::NEEDS_AN_ELEMENT)?;
        self.check_result(&result)?;
        self.launch_reduction::<R, T>(x, global_mut(result))
    }

    /// The value of the pairs of `x` and `y` on the host.
    pub(super) fn reduced_pairs<R, T: ReducePairs<R>>(
        &self,
        x: BufferView<'_, T>,
        y: BufferView<'_, T>,
    ) -> Outcome<T::Value> {
        self.check_pairs(x, y)?;
        self.to_host(|result| self.launch_pairs::<R, T>(x, y, result))
    }

    /// Writes the value of the pairs of `x` and `y` to `result`.
    pub(super) fn reduced_pairs_into<R, T: ReducePairs<R>>(
        &self,
        x: BufferView<'_, T>,
        y: BufferView<'_, T>,
        result: BufferViewMut<'_, T::Value>,
    ) -> Outcome<()> {
        self.check_pairs(x, y)?;
        self.check_result(&result)?;
        self.launch_pairs::<R, T>(x, y, global_mut(result))
    }

    pub(super) fn check_reducible<T: Element>(
        &self,
        x: BufferView<'_, T>,
        needs_an_element: bool,
    ) -> Outcome<()> {
        self.check_owns(|| "the buffer to reduce".to_owned(), x.device())?;
        if needs_an_element && x.is_empty() {
            return Err(ErrorKind::NoElements);
        }
        Ok(())
    }

    pub(super) fn check_pairs<T: Element>(
        &self,
        x: BufferView<'_, T>,
        y: BufferView<'_, T>,
    ) -> Outcome<()> {
        self.check_owns(|| "the first buffer".to_owned(), x.device())?;
        self.check_owns(|| "the second buffer".to_owned(), y.device())?;
        check_length(x.len(), y.len())
    }

    pub(super) fn check_result<O: Element>(&self, result: &BufferViewMut<'_, O>) -> Outcome<()> {
        self.check_owns(|| "the buffer of the result".to_owned(), result.device())?;
        check_length(1, result.len())
    }

    /// What `launch` leaves in a place for one result.
    pub(super) fn to_host<O: Element>(
        &self,
        launch: impl FnOnce(GlobalMut<'_, O>) -> Outcome<()>,
    ) -> Outcome<O> {
        let mut result = ResultSlot::take(self)?;
        self.in_context(|| {
            launch(result.global_mut())?;
            result.wait()
        })?
    }

    /// Reduces `x` to the one element of `result`, which is of this device and which nothing else
    /// uses until this returns.
    fn launch_reduction<R, T: Reduce<R>>(
        &self,
        x: BufferView<'_, T>,
        result: GlobalMut<'_, T::Value>,
    ) -> Outcome<()> {
        // SAFETY: (1) the selected kernel takes elements that start where `x` does. (2) The caller's.
        unsafe {
            if x.device_address().is_multiple_of(VECTOR_BYTES) {
                self.launch_whole(T::MODULE, T::KERNEL, x, result)
            } else {
                self.launch_whole(T::UNALIGNED_MODULE, T::UNALIGNED, x, result)
            }
        }
    }

    /// Reduces `x` to the one element of `result` by `kernel` of the module `source`.
    ///
    /// # Safety
    /// 1. The kernel reduces an array that starts where `x` does, and asks of its launches what
    ///    [`reductions!`](tilewright_kernels::reductions) says.
    /// 2. `result` is of this device, and nothing else uses it until this returns.
    pub(super) unsafe fn launch_whole<K, T: Element, A: Element, O: Element>(
        &self,
        source: &'static ModuleSource,
        kernel: K,
        x: BufferView<'_, T>,
        result: GlobalMut<'_, O>,
    ) -> Outcome<()>
    where
        K: for<'launch> Kernel<
            Params<'launch> = (
                Global<'launch, T>,
                GlobalMut<'launch, A>,
                GlobalMut<'launch, u32>,
                GlobalMut<'launch, O>,
            ),
        >,
    {
        let module = Module::on_demand(self, source);
        let plan = Plan::new(x.len(), size_of::<T>());
        self.with_workspace(plan, |shared| {
            let params = (global(x), shared.partials, shared.ticket, result);
            // SAFETY: (1) the kernel's (1): blocks and partial results are the plan's. Its (2): `x`
            // starts where the kernel asks, by (1), and `result` has an element. Its (3): the ticket
            // is 0, and the workspace locked. (2) `x` is borrowed until this returns, and `result` is
            // the launch's, by (2).
            unsafe { module.launch_params(kernel, shared.config, params) }
        })
    }

    /// [`launch_reduction`](Self::launch_reduction) of pairs of `x` and `y`, which are equally long.
    fn launch_pairs<R, T: ReducePairs<R>>(
        &self,
        x: BufferView<'_, T>,
        y: BufferView<'_, T>,
        result: GlobalMut<'_, T::Value>,
    ) -> Outcome<()> {
        let module = Module::on_demand(self, T::MODULE);
        let plan = Plan::new(x.len(), size_of::<T>());
        self.with_workspace(plan, |shared| {
            let params = (global(x), global(y), shared.partials, shared.ticket, result);
            // SAFETY: (1) the kernel's (1): blocks and partial results are the plan's. Its (2): the
            // lengths were compared, and `result` has an element. Its (3): the ticket is 0, and the
            // workspace locked. (2) `x` and `y` are borrowed until this returns, and `result` is the
            // launch's.
            unsafe { module.launch_params(T::KERNEL, shared.config, params) }
        })
    }

    /// Locks the workspace for a launch of `plan`, which `launch` submits, and of one block at least.
    fn with_workspace<A: Element>(
        &self,
        plan: Plan,
        launch: impl FnOnce(Shared<'_, A>) -> Outcome<()>,
    ) -> Outcome<()> {
        const { assert!(size_of::<A>() <= LARGEST_PARTIAL) };
        let mut workspace = Workspace::lock(self);
        let (ticket, partials) = workspace.addresses()?;
        // A launch without elements writes the value of none.
        let blocks = plan.blocks.max(1);
        // SAFETY: (1) the workspace has room for a ticket and MAX_BLOCKS partial results, each aligned
        // to 256 bytes, and accumulators are no larger, by the assertion; `Plan` has no more
        // blocks. (2) No other thread submits work that uses the workspace while it is locked, and
        // work that was submitted before comes before.
        let (partials, ticket) = unsafe {
            let partials = ptr::with_exposed_provenance_mut(partials as usize);
            (
                GlobalMut::from_raw_parts(partials, blocks as usize),
                GlobalMut::from_raw_parts(ticket, 1),
            )
        };
        let launched = launch(Shared {
            config: LaunchConfig::new(blocks, BLOCK_THREADS),
            partials,
            ticket,
        });
        // The ticket is 0 between launches that succeed, and may not be after one that did not.
        if launched.is_err() {
            workspace.discard();
        }
        launched
    }
}

pub(super) fn check_length(expected: usize, found: usize) -> Outcome<()> {
    if expected == found {
        return Ok(());
    }
    Err(ErrorKind::WrongLength { expected, found })
}
