//! Launches that reduce whole buffers.

use super::sealed::{Reduce, Shared};
use crate::buffer::{BufferView, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{ErrorKind, Outcome, check_length};
use crate::launch::LaunchConfig;
use crate::launch_args::global_mut;
use crate::module::Module;
use crate::result_slot::ResultSlot;
use crate::workspace::{LARGEST_PARTIAL, Workspace};
use cuda_std::global::GlobalMut;
use std::ptr;
use tilewright_kernels::reduce::{BLOCK_THREADS, Plan};

/// Bytes of a kernel's vector loads, which is also their alignment.
const VECTOR_BYTES: u64 = 16;

/// The remedy in errors of operations that need an element.
pub(crate) const CHECK_FIRST: &str = "check for an empty input first";

/// The name of operand `index` of `count`, for messages.
pub(super) fn operand(what: &str, index: usize, count: usize) -> String {
    match (count, index) {
        (1, _) => format!("the {what} to reduce"),
        (_, 0) => format!("the first {what}"),
        _ => format!("the second {what}"),
    }
}

impl Device {
    /// The value of `x`, an array or two, on the host.
    pub(super) fn reduced<R, T: Reduce<R, ARRAYS>, const ARRAYS: usize>(
        &self,
        x: [BufferView<'_, T>; ARRAYS],
    ) -> Outcome<T::Value> {
        self.check_arrays(x, T::NEEDS_AN_ELEMENT)?;
        self.to_host(&mut |result| self.launch_reduction::<R, T, ARRAYS>(x, result))
    }

    /// Writes the value of `x`, an array or two, to `result`.
    pub(super) fn reduced_into<R, T: Reduce<R, ARRAYS>, const ARRAYS: usize>(
        &self,
        x: [BufferView<'_, T>; ARRAYS],
        result: BufferViewMut<'_, T::Value>,
    ) -> Outcome<()> {
        self.check_arrays(x, T::NEEDS_AN_ELEMENT)?;
        self.check_result(&result)?;
        self.launch_reduction::<R, T, ARRAYS>(x, global_mut(result))
    }

    /// Fails unless `x` are on this device, have the same length, and have an element if the operation needs one.
    pub(super) fn check_arrays<T: Element, const ARRAYS: usize>(
        &self,
        x: [BufferView<'_, T>; ARRAYS],
        needs_an_element: bool,
    ) -> Outcome<()> {
        for (index, array) in x.iter().enumerate() {
            self.check_reads(|| operand("buffer", index, ARRAYS), array.holder())?;
        }
        for array in &x[1..] {
            let rule = "as many as the first buffer";
            check_length("the second buffer", array.len(), x[0].len(), rule)?;
        }
        match needs_an_element && x[0].is_empty() {
            true => Err(ErrorKind::NoElements {
                what: operand("buffer", 0, ARRAYS),
                remedy: CHECK_FIRST,
            }),
            false => Ok(()),
        }
    }

    pub(super) fn check_result<O: Element>(&self, result: &BufferViewMut<'_, O>) -> Outcome<()> {
        self.check_writes(|| "the buffer of the result".to_owned(), result.written())?;
        check_length(
            "the buffer of the result",
            result.len(),
            1,
            "it takes one value",
        )
    }

    /// Runs `launch` with a place for one result, and returns that result.
    pub(super) fn to_host<O: Element>(
        &self,
        launch: &mut dyn FnMut(GlobalMut<'_, O>) -> Outcome<()>,
    ) -> Outcome<O> {
        let mut result = ResultSlot::take(self)?;
        self.in_context(|| {
            launch(result.global_mut())?;
            result.wait()
        })?
    }

    /// Reduces `x` to the one element of `result`. [`check_arrays`](Self::check_arrays) accepted `x`; `result` is on
    /// this device, and nothing else uses it until this returns.
    fn launch_reduction<R, T: Reduce<R, ARRAYS>, const ARRAYS: usize>(
        &self,
        x: [BufferView<'_, T>; ARRAYS],
        result: GlobalMut<'_, T::Value>,
    ) -> Outcome<()> {
        let plan = Plan::new(x[0].len(), size_of::<T>());
        let mut workspace = Workspace::lock(self)?;
        let (config, shared) = workspace.shared(plan)?;
        let params = T::params(x, shared, result);
        // SAFETY: the kernel's requirements. Its blocks and partial results are those of the plan. The selected
        // kernel takes elements that start where `x` does, the lengths were compared, and `result` and the ticket
        // have an element each. The ticket is 0, and the workspace is locked. Views of live memory without
        // conflicting work: `x` is borrowed until this returns, and nothing else uses `result` meanwhile.
        let launched = unsafe {
            if x[0].device_address().is_multiple_of(VECTOR_BYTES) {
                let module = Module::on_demand(self, T::MODULE);
                module.launch_params::<T::Kernel>(config, params)
            } else {
                let module = Module::on_demand(self, T::UNALIGNED_MODULE);
                module.launch_params::<T::Unaligned>(config, params)
            }
        };
        workspace.after(launched)
    }
}

impl Workspace<'_> {
    /// Memory that the blocks of a launch of `plan` share; a launch has at least one block.
    pub(super) fn shared<A: Element>(
        &mut self,
        plan: Plan,
    ) -> Outcome<(LaunchConfig, Shared<'_, A>)> {
        const { assert!(size_of::<A>() <= LARGEST_PARTIAL) };
        let (ticket, partials) = self.addresses()?;
        // A launch without elements writes the value of empty input.
        let blocks = plan.blocks.max(1);
        // SAFETY: the elements are there: the workspace holds a ticket and MAX_BLOCKS partial results, each aligned
        // to 256 bytes. Accumulators are no larger, by the assertion, and `Plan` has no more blocks. Nothing else
        // accesses them: no other thread submits work that uses the workspace while it is locked, and work that was
        // submitted earlier runs earlier.
        let shared = unsafe {
            let partials = ptr::with_exposed_provenance_mut(partials as usize);
            Shared {
                partials: GlobalMut::from_raw_parts(partials, blocks as usize),
                ticket: GlobalMut::from_raw_parts(ticket, 1),
            }
        };
        Ok((LaunchConfig::new(blocks, BLOCK_THREADS), shared))
    }
}
