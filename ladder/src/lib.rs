//! The ladders: one technique of GPU programming for each step, from the plain kernel to the fast
//! one.
//!
//! Each submodule is one ladder. Its `Step` names the steps in their order, with the term that
//! the field uses for each; a function launches a step, checked as every launch of the crate is.
//! The steps are there to be read, measured and compared (`cargo ladder`);
//! programs that want the result call [`Device::reduce_sum`](tilewright::Device::reduce_sum) and
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

/// What a step of a ladder is, for tables and pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepInfo {
    /// The field's term for the technique, such as `neighboured pairs`.
    pub term: &'static str,
    /// Its kernel, in the crate `tilewright-ladder-kernels`, or the function of the host library.
    pub kernel: &'static str,
    /// What it changes against the step before, in one sentence.
    pub change: &'static str,
}
