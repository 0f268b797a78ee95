//! Products on tensor cores, and the moves of their operands.

use super::family::family;
use crate::words::{
    Aligned, MatrixCount, MatrixLayout, MatrixShape, MatrixTarget, SaturateFinite, Sync,
    Transposed, Type, WarpgroupShape,
};

family! {
    /// Moves matrices between shared memory and the registers of a warp.
    MatrixTransfer: MatrixTransferName { Load = "ldmatrix", Store = "stmatrix", }
    with 2..=2;
    /// Always there.
    sync: Sync,
    /// Always there.
    aligned: Aligned,
    /// The shape of a matrix.
    shape: MatrixShape,
    /// The number of matrices.
    count: MatrixCount,
    /// Whether each is transposed.
    transposed: Option<Transposed>,
    /// The space of the address; none for a generic address.
    memory: Option<MatrixTarget>,
    /// The type of an element.
    of: Type,
}

family! {
    /// A product of a warp.
    Product: ProductName { Product = "mma", }
    with 4..=4;
    /// Always there.
    sync: Sync,
    /// Always there.
    aligned: Aligned,
    /// Rows, columns, and products a sum.
    shape: MatrixShape,
    /// The order of the first operand's elements.
    a_layout: MatrixLayout,
    /// The order of the second operand's elements.
    b_layout: MatrixLayout,
    /// Whether integer sums are clamped.
    satfinite: Option<SaturateFinite>,
    /// The type of the results.
    d: Type,
    /// The type of the first operand's elements.
    a: Type,
    /// The type of the second operand's elements.
    b: Type,
    /// The type of what is added to.
    c: Type,
}

family! {
    /// A product of a warpgroup.
    WarpgroupProduct: WarpgroupProductName { Product = "wgmma.mma_async", }
    with 4..=8;
    /// Always there.
    sync: Sync,
    /// Always there.
    aligned: Aligned,
    /// Columns, and products a sum.
    shape: WarpgroupShape,
    /// Whether integer sums are clamped.
    satfinite: Option<SaturateFinite>,
    /// The type of the results.
    d: Type,
    /// The type of the first operand's elements.
    a: Type,
    /// The type of the second operand's elements.
    b: Type,
}

family! {
    /// Orders products of a warpgroup.
    WarpgroupStep: WarpgroupStepName {
        Fence = "wgmma.fence", Commit = "wgmma.commit_group", Wait = "wgmma.wait_group",
    }
    with 0..=1;
    /// Always there.
    sync: Sync,
    /// Always there.
    aligned: Aligned,
}
