//! Launches a plan: a file for each way to compute the outputs.
//!
//! `tiles.rs`: a block for each tile, on CUDA cores or at warp level on tensor cores. `warpgroup.rs`: clusters of
//! warpgroups. `split.rs`: split f32. `vector.rs`: rows or columns times a vector. `parts.rs`: products of parts of
//! K, and their sum. `exact.rs`: products by residues. `grouped.rs`: products of unequal shapes. `mirror.rs`: the other half of a symmetric product.

pub mod exact;
pub mod grouped;
mod mirror;
pub mod parts;
pub mod split;
pub mod tiles;
pub mod vector;
pub mod warpgroup;

pub use mirror::mirror;

use super::arithmetic::Arithmetic;
use super::epilogue::Epilogue;
use super::launchers::Kernels;
use super::operands::{Matrices, Operands};
use super::plan::{Plan, Problem, Request};
use super::types::ElementType;
use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::matrix::{Matrix, MatrixBatchMut, MatrixViewMut};

/// How products of a type become outputs of type `O`, with an epilogue in type `S`. An implementation names the ways
/// to launch them.
pub trait Computes<O: Element, S: Element>: Kernels<O, S> {
    /// The types of the operands and of the product.
    const TYPES: (ElementType, ElementType);

    /// Launches the kernels of a plan for an undivided K, or for one part of it.
    fn launch(plan: &Plan, matrices: Matrices<'_, Self, O, S>) -> Outcome<()>;

    /// Executes the plan.
    fn execute(plan: &Plan, matrices: Matrices<'_, Self, O, S>) -> Outcome<()>;

    /// The plan of products in new matrices, and their problem.
    fn plan(
        device: &Device,
        request: Request,
        operands: &Operands<'_, Self>,
        epilogue: &Epilogue<'_, S>,
    ) -> Outcome<(Plan, Problem)>;

    /// The products in a new matrix, one below the other.
    fn in_new(
        device: &Device,
        request: Request,
        operands: &Operands<'_, Self>,
        epilogue: &Epilogue<'_, S>,
    ) -> Outcome<Matrix<O>>;

    /// Writes the products to `c`.
    fn write(
        device: &Device,
        request: Request,
        operands: &Operands<'_, Self>,
        c: MatrixBatchMut<'_, O>,
        epilogue: &Epilogue<'_, S>,
    ) -> Outcome<()>;

    /// Writes products of unequal shapes, each to its matrix.
    fn write_all(
        device: &Device,
        arithmetic: Arithmetic,
        products: Vec<(Operands<'_, Self>, MatrixViewMut<'_, O>)>,
        epilogue: Epilogue<'_, S>,
    ) -> Outcome<()>;
}
