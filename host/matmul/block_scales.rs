//! The scales of blocks of the operands, checked against them.

use super::entry::ScaleArguments;
use super::epilogue::vector;
use crate::device::Device;
use crate::element::Element;
use crate::error::{ErrorKind, Outcome, check_counts, check_shapes};
use crate::launch_args::read_elements;
use crate::matrix::{MatrixBatch, Order};
use bytemuck::Zeroable;
use tilewright_kernels::tensor::{SCALE_BLOCK, ScaleShape, ScaleSteps};

/// The names of the scales in messages.
const NAMES: [&str; 2] = ["the block scales of A", "the block scales of B"];

/// A scale for each 1 x 128 block of A and each 128 x 128 block of B.
#[derive(Clone, Copy, Debug)]
pub struct BlockScales<'a> {
    pub a: MatrixBatch<'a, f32>,
    pub b: MatrixBatch<'a, f32>,
}

impl<'a> BlockScales<'a> {
    /// Fails unless there is one scale for each block of `a` and `b`.
    pub fn check<T: Element>(&self, a: MatrixBatch<'_, T>, b: MatrixBatch<'_, T>) -> Outcome<()> {
        let ((m, k), n) = (a.first().shape(), b.first().cols());
        let blocks = |len: usize| len.div_ceil(SCALE_BLOCK);
        check_shape(NAMES[0], (m, blocks(k)), self.a.first().shape())?;
        check_shape(NAMES[1], (blocks(k), blocks(n)), self.b.first().shape())?;
        // A batch may have one matrix.
        let count = |count: Option<usize>| count.unwrap_or(1);
        check_counts(["A", NAMES[0]], count(a.count()), count(self.a.count()))?;
        check_counts(["B", NAMES[1]], count(b.count()), count(self.b.count()))
    }

    /// Fails unless `device` can read them.
    pub fn check_reads(&self, device: &Device) -> Outcome<()> {
        for (name, scales) in NAMES.into_iter().zip([self.a, self.b]) {
            device.check_reads(|| name.to_owned(), scales.first().holder())?;
            // SAFETY: nothing is read.
            let span = unsafe { read_elements(scales) }.len();
            if u32::try_from(span).is_err() {
                return Err(ErrorKind::TooLarge {
                    what: format!("{name}: {span} elements, gaps included"),
                    remedy: "multiply the product in parts",
                });
            }
        }
        Ok(())
    }

    /// The kernel's arguments.
    pub fn arguments(scales: Option<Self>) -> ScaleArguments<'a> {
        let Some(Self { a, b }) = scales else {
            return ScaleArguments {
                elements: [vector(None), vector(None)],
                shape: ScaleShape::zeroed(),
            };
        };
        ScaleArguments {
            // SAFETY: the launch reads only the scales, as the kernels document.
            elements: unsafe { [read_elements(a), read_elements(b)] },
            shape: ScaleShape {
                lines: steps(a),
                squares: steps(b.t()),
            },
        }
    }
}

/// Distances between the scales of lines along K.
fn steps(scales: MatrixBatch<'_, f32>) -> ScaleSteps {
    let first = scales.first();
    // A single matrix of scales, or a batch of one, serves every product.
    let matrix = match scales.count() {
        Some(2..) => scales.stride(),
        _ => 0,
    };
    let apart = first.leading_dimension();
    let (line, block) = match first.order() {
        Order::RowMajor => (apart, 1),
        Order::ColumnMajor => (1, apart),
    };
    // Steps that are used are shorter than the span of all scales, which fits u32.
    ScaleSteps {
        matrix: matrix as u32,
        line: line as u32,
        block: block as u32,
    }
}

fn check_shape(name: &'static str, expected: (usize, usize), found: (usize, usize)) -> Outcome<()> {
    check_shapes(["the grid of blocks", name], expected, found)
}
