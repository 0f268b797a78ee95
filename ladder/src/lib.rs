//! The ladders: from the plain kernel to the fast one, with one GPU programming technique per step.
//!
//! Each submodule is one ladder. Its `Step` lists the steps in order, with the field's term for
//! each, and a function launches a step, with the usual checks. The steps are for reading,
//! measuring and comparing (`cargo ladder`); programs that need the result call
//! [`Device::reduce_sum`](tilewright::Device::reduce_sum) and
//! [`Device::matmul_coarsened`](tilewright::Device::matmul_coarsened).

mod kernels;
mod operands;

pub mod divergence;
pub mod histogram;
pub mod memory;
pub mod prefetch;
pub mod product;
pub mod sum;
pub mod tensor;

/// Information on a step, for tables and pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepInfo {
    /// The field's term for the technique, such as `neighboured pairs`.
    pub term: &'static str,
    /// Its kernel, in the crate `tilewright-ladder-kernels`, or the function of the host library.
    pub kernel: &'static str,
    /// The change from the previous step, in one sentence.
    pub change: &'static str,
}
