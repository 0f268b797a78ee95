//! The kernel that was selected for a product, for the caller.

use super::epilogue::Epilogue;
use super::kernel::Method;
use super::launch::vector;
use super::matrices::Operands;
use super::problem::{FewLines, Problem};
use super::select::{Request, Selection, SelectionReason};
use super::types::Accumulator;
use super::types::sealed::Computes;
use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use std::fmt::{self, Display, Formatter};

/// The kernel that a product uses, and why.
///
/// Its `Display` is one line, such as `matmul_coarsened_small_f32_nn on CUDA cores, 32 x 64 outputs per block: the
/// tile size with the shortest estimated time (1 round of small tiles, 1 of medium, 1 of large)`. In a round, the
/// device computes as many tiles as it can hold at once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatmulPlan {
    /// The name of the kernel's entry.
    pub kernel: &'static str,
    /// Where the product is computed: `CUDA cores` or `tensor cores`, and how.
    pub units: &'static str,
    /// Rows of the result that one block computes.
    pub block_rows: usize,
    /// Columns of the result that one block computes.
    pub block_columns: usize,
    /// Why it was selected.
    pub reason: SelectionReason,
}

impl MatmulPlan {
    fn of(selection: &Selection, problem: &Problem) -> Self {
        let tile = selection.kernel.descriptor.tile;
        let (block_rows, block_columns) = match selection.kernel.method {
            Method::Vector(_) => vector::block_of(problem),
            // The kernel computes the transpose.
            Method::Skinny(_) if problem.few_lines() == FewLines::Rows => (tile.columns, tile.rows),
            _ => (tile.rows, tile.columns),
        };
        Self {
            kernel: selection.kernel.name,
            units: selection.kernel.method.units(),
            block_rows,
            block_columns,
            reason: selection.reason,
        }
    }
}

impl Display for MatmulPlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            kernel,
            units,
            block_rows,
            block_columns,
            reason,
        } = self;
        write!(
            f,
            "{kernel} on {units}, {block_rows} x {block_columns} outputs per block: {reason}"
        )
    }
}

impl Device {
    /// The kernel that `request` selects for products in new matrices.
    pub(super) fn plan<T: Computes<O, S>, O: Element, S: Accumulator>(
        &self,
        request: Request,
        operands: Operands<'_, T>,
        epilogue: &Epilogue<'_, S>,
    ) -> Outcome<MatmulPlan> {
        operands.check_inner()?;
        let types = <T as Computes<O, S>>::TYPES;
        let problem = operands.problem_of_new(types, epilogue.is_identity())?;
        let selection = self.select_kernel(request, &problem)?;
        Ok(MatmulPlan::of(&selection, &problem))
    }
}
