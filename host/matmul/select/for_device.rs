//! The selection for a given device.

use super::group::select_in_group;
use super::obstacle::obstacle;
use super::{DeviceFacts, Request, Selection, select};
use crate::device::Device;
use crate::error::{ErrorKind, Outcome};
use crate::matmul::kernel::{GemmKernel, TileConfig};
use crate::matmul::problem::Problem;

impl Device {
    /// The kernel that `request` selects for the problem.
    pub(in crate::matmul) fn select_kernel(
        &self,
        request: Request,
        problem: &Problem,
    ) -> Outcome<Selection> {
        let selection = select(problem, self.facts(), request);
        selection.ok_or_else(|| self.no_kernel(request, problem))
    }

    /// The kernel for one launch of products of unequal shapes, at least one, whose operands have the same orders.
    pub(in crate::matmul) fn select_group_kernel(
        &self,
        problems: &[&Problem],
    ) -> Outcome<&'static GemmKernel> {
        let kernel = select_in_group(problems, self.facts());
        kernel.ok_or_else(|| {
            let request = Request::Grouped(TileConfig::Small);
            self.no_kernel(request, problems[0])
        })
    }

    /// Why there is no kernel: none computes the problem, or the driver is too old for the one that does.
    #[cold]
    fn no_kernel(&self, request: Request, problem: &Problem) -> ErrorKind {
        let facts = self.facts();
        let with_newer_driver = DeviceFacts {
            driver: None,
            ..facts
        };
        let needed = select(problem, with_newer_driver, request).and_then(|it| it.kernel.driver);
        if let (Some(found), Some(needed)) = (facts.driver, needed) {
            return ErrorKind::DriverTooOld { found, needed };
        }
        ErrorKind::NoKernel {
            problem: problem.to_string(),
            device: self.label(),
            reason: obstacle(problem, facts, request),
        }
    }

    /// The facts that the selection of a kernel depends on.
    pub(in crate::matmul) fn facts(&self) -> DeviceFacts {
        let properties = self.properties();
        DeviceFacts {
            multiprocessors: properties.multiprocessors,
            compute_capability: properties.compute_capability,
            limit: None,
            driver: properties.driver,
            warp_threads: properties.warp_threads,
        }
    }
}
