//! The selection for a device at hand.

use super::group::select_in_group;
use super::{DeviceFacts, Request, Selection, select};
use crate::device::Device;
use crate::error::{ErrorKind, Outcome};
use crate::matmul::kernel::GemmKernel;
use crate::matmul::problem::Problem;

impl Device {
    /// The kernel of `request` for the problem.
    pub(in crate::matmul) fn select_kernel(
        &self,
        request: Request,
        problem: &Problem,
    ) -> Outcome<Selection> {
        let selection = select(problem, self.facts(), request);
        selection.ok_or_else(|| self.no_kernel(problem))
    }

    /// The kernel for one launch of products of unequal shapes, 1 at least, whose operands have the same
    /// orders.
    pub(in crate::matmul) fn select_group_kernel(
        &self,
        problems: &[&Problem],
    ) -> Outcome<&'static GemmKernel> {
        let kernel = select_in_group(problems, self.facts());
        kernel.ok_or_else(|| self.no_kernel(problems[0]))
    }

    fn no_kernel(&self, problem: &Problem) -> ErrorKind {
        ErrorKind::NoKernel {
            problem: problem.to_string(),
            device: self.properties().name.clone(),
        }
    }

    /// What the selection of a kernel depends on.
    pub(in crate::matmul) fn facts(&self) -> DeviceFacts {
        let properties = self.properties();
        DeviceFacts {
            multiprocessors: properties.multiprocessors,
            compute_capability: properties.compute_capability,
            limit: None,
            warp_threads: properties.warp_threads,
        }
    }
}
