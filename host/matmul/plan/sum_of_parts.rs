//! How the products of parts of K are added.

use super::problem::{DeviceFacts, Problem};
use super::rules::Parts;
use super::vector::{VectorWork, columns_of};
use crate::error::CudaVersion;
use crate::images::oldest_driver;
use crate::kernels::images_of;
use crate::matmul::kernel::{GemmKernel, Method};
use crate::matmul::table::kernels_of;
use crate::matmul::types::ElementType;
use cuda_std::kernel::Kernel;
use tilewright_kernels::parts::add_parts_after_f32;

/// A K that is divided into parts, whose products are added.
pub struct Division {
    pub parts: Parts,
    pub sum: SumOfParts,
}

/// How the products of the parts are added.
pub enum SumOfParts {
    /// Of f32 and f64: as sums of columns, one for each output.
    Columns {
        kernel: &'static GemmKernel,
        work: VectorWork,
    },
    /// Of narrower elements: by a kernel of their types.
    ByKernel {
        /// Whether the kernel starts while the last product's still runs.
        overlaps: bool,
    },
}

impl SumOfParts {
    /// How the `parts` of `problem` are added.
    pub fn of(problem: &Problem, parts: Parts, device: DeviceFacts) -> Self {
        const DRIVER: Option<CudaVersion> = oldest_driver(images_of!(add_parts_after_f32));
        let element = problem.element;
        match element {
            ElementType::F32 | ElementType::F64 => {
                let outputs = problem.m * problem.n;
                // One column for each part, one after another.
                let rows = columns_of(outputs, element.bytes(), true);
                let kernels = kernels_of(Method::Vector(rows), element, element);
                Self::Columns {
                    kernel: kernels.first().expect("both types have one"),
                    work: VectorWork::new(rows, (outputs, parts.count), element.bytes(), 1),
                }
            }
            _ => Self::ByKernel {
                overlaps: device.newest_runs(<add_parts_after_f32 as Kernel>::ARCH, DRIVER),
            },
        }
    }
}
