//! The plan of a product, for the caller.

use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::matmul::epilogue::Epilogue;
use crate::matmul::execute::Computes;
use crate::matmul::operands::Operands;
use crate::matmul::plan::{Plan, Request, ResiduesPlan, SelectionReason, Staging, Steps};
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
    /// The units that compute the product: `CUDA cores` or `tensor cores`, and whether operands are split.
    pub units: &'static str,
    /// Rows of the result that one block computes.
    pub block_rows: usize,
    /// Columns of the result that one block computes.
    pub block_columns: usize,
    /// Why this kernel was selected.
    pub reason: SelectionReason,
    /// Whether the kernel computes the transpose of the result, from the transposes of B and A.
    pub is_transposed: bool,
    /// How A and B reach the kernel.
    pub staging: [Staging; 2],
    /// The number of parts of K whose products are added; 1 if K is not split.
    pub parts: usize,
    /// The kernel that computes the outputs of rows and columns outside the split's range, or those that products of
    /// residues leave out.
    pub fallback_kernel: Option<&'static str>,
    /// The number of moduli, with a product of residues for each: exact products, and large ones of f64.
    pub moduli: Option<usize>,
}

impl MatmulPlan {
    /// The plan of products in new matrices.
    pub(super) fn of<T: Computes<O, S>, O: Element, S: Element>(
        device: &Device,
        request: Request,
        operands: &Operands<'_, T>,
        epilogue: &Epilogue<'_, S>,
    ) -> Outcome<Self> {
        let (plan, _) = T::plan(device, request, operands, epilogue)?;
        Ok(Self::shown(&plan))
    }

    fn shown(plan: &Plan) -> Self {
        let residues = plan.steps.residues();
        let (kernel, fallback_kernel) = match (&plan.steps, residues) {
            (_, Some(residues)) => (residues.kernel, Some(plan.kernel.name)),
            (Steps::Split(split), _) => (plan.kernel, Some(split.fallback.name)),
            _ => (plan.kernel, None),
        };
        let tile = kernel.descriptor.tile;
        let tile = match plan.steps.vector_work() {
            Some(work) => (work.rows_of_block, 1),
            None => (tile.rows, tile.columns),
        };
        let [a, b] = plan.staging;
        let ((block_rows, block_columns), staging) = match plan.is_transposed {
            true => ((tile.1, tile.0), [b, a]),
            false => (tile, [a, b]),
        };
        Self {
            kernel: kernel.name,
            units: kernel.method.units(),
            block_rows,
            block_columns,
            reason: plan.reason,
            is_transposed: plan.is_transposed,
            staging,
            parts: plan.division.as_ref().map_or(1, |it| it.parts.count),
            fallback_kernel,
            moduli: residues.map(ResiduesPlan::count),
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
            moduli,
            ..
        } = self;
        write!(f, "{kernel} on {units}, ")?;
        if let Some(moduli) = moduli {
            write!(f, "modulo {moduli} numbers, ")?;
        }
        write!(
            f,
            "{block_rows} x {block_columns} outputs per block: {reason}"
        )
    }
}
