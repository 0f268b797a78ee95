//! The form in which a right operand is prepared, by its type and the arithmetic of its products.

use crate::device::Device;
use crate::error::{ErrorKind, Outcome};
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::execute::Computes;
use crate::matmul::plan::{Plan, Problem, Request, Steps, not_split};
use crate::matmul::staging::{LineKernels, PreparedMatrix, PreparedResidues};
use crate::matmul::types::EpilogueScalar;
use crate::matrix::{MatrixView, Order};

/// Rows of the other operand that plans assume when they make residues.
const MANY_ROWS: usize = 1 << 14;

/// The plan of a product of `m` rows with B. Errors name B alone.
fn plan_of<T: Computes<T, T>>(
    device: &Device,
    request: Request,
    m: usize,
    b: MatrixView<'_, T>,
) -> Outcome<Plan> {
    let (k, n) = b.shape();
    let orders = [Order::RowMajor, b.order()];
    let problem = Problem::packed(T::TYPES, (m, n, k), orders, align_of::<T>());
    device.plan(request, &problem).map_err(|error| match error {
        ErrorKind::NoKernel { device, reason, .. } => ErrorKind::NoKernel {
            problem: format!("products with the {k}x{n} matrix of {}", problem.element),
            device,
            reason: match (request, not_split(k)) {
                // The call names no arithmetic.
                (Request::Fastest(Arithmetic::Split, _), Some(reason)) => {
                    format!("{reason}; multiply by the matrix itself, which needs no preparation")
                }
                _ => reason,
            },
        },
        error => error,
    })
}

/// How a type is prepared for products of [`Arithmetic::Auto`].
pub trait Prepare: LineKernels + EpilogueScalar {
    fn prepared<'a>(device: &Device, b: MatrixView<'a, Self>) -> Outcome<PreparedMatrix<'a, Self>>;
}

impl Prepare for f32 {
    fn prepared<'a>(device: &Device, b: MatrixView<'a, f32>) -> Outcome<PreparedMatrix<'a, f32>> {
        device.check_reads(|| "the matrix B".into(), b.holder())?;
        // The smallest product with this right operand.
        let request = Request::Fastest(Arithmetic::Split, None);
        let plan = plan_of(device, request, 1, b)?;
        let Steps::Split(split) = &plan.steps else {
            unreachable!("the request is for split operands");
        };
        PreparedMatrix::split(device, b, split.passes)
    }
}

impl Prepare for f64 {
    fn prepared<'a>(device: &Device, b: MatrixView<'a, f64>) -> Outcome<PreparedMatrix<'a, f64>> {
        with_residues(device, b, Arithmetic::Auto)
    }
}

/// B with the residues that large products of this arithmetic read, if they read any.
pub fn with_residues<'a, T: LineKernels + Computes<T, T>>(
    device: &Device,
    b: MatrixView<'a, T>,
    arithmetic: Arithmetic,
) -> Outcome<PreparedMatrix<'a, T>> {
    device.check_reads(|| "the matrix B".into(), b.holder())?;
    let plan = (!b.is_empty()).then(|| {
        let request = Request::Fastest(arithmetic, None);
        plan_of(device, request, MANY_ROWS, b)
    });
    let plan = plan.transpose()?.filter(|it| it.division.is_none());
    let is_exact = arithmetic == Arithmetic::Exact;
    let prepared = plan.as_ref().and_then(|plan| {
        let residues = plan.steps.residues()?;
        Some(PreparedResidues::new(
            device,
            b,
            residues,
            plan.staging[1],
            is_exact,
        ))
    });
    let prepared = prepared.transpose()?;
    Ok(PreparedMatrix::with_residues(b, arithmetic, prepared))
}
