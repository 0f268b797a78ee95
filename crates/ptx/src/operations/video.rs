//! Arithmetic of the bytes or the halves of words (PTX ISA, "SIMD Video Instructions"), and `wmma`.

use super::family::family;
use crate::words::{
    Accumulate, Aligned, MatrixLayout, MatrixShape, Memory, Saturate, SaturateFinite, Sync, Type,
};

family! {
    /// Arithmetic of four bytes or two halves.
    Video: VideoName {
        AddBytes = "vadd4", SubtractBytes = "vsub4", AverageBytes = "vavrg4", DifferenceBytes = "vabsdiff4",
        MinBytes = "vmin4", MaxBytes = "vmax4",
        AddHalves = "vadd2", SubtractHalves = "vsub2", AverageHalves = "vavrg2", DifferenceHalves = "vabsdiff2",
        MinHalves = "vmin2", MaxHalves = "vmax2",
    }
    with 4..=4;
    /// The sign of results.
    d: Type,
    /// The sign of the first operand's parts.
    a: Type,
    /// The sign of the second operand's parts.
    b: Type,
    /// Whether results are clamped.
    saturate: Option<Saturate>,
    /// Whether they are added up, and to the third operand.
    accumulate: Option<Accumulate>,
}

family! {
    /// Moves a matrix between memory and the registers of a warp.
    WmmaTransfer: WmmaTransferName {
        LoadA = "wmma.load.a", LoadB = "wmma.load.b", LoadC = "wmma.load.c", Store = "wmma.store.d",
    }
    with 2..=3;
    /// Always there.
    sync: Sync,
    /// Always there.
    aligned: Aligned,
    /// The order of the elements in memory.
    layout: MatrixLayout,
    /// The shape of the product.
    shape: MatrixShape,
    /// The space of the address; none for a generic address.
    memory: Option<Memory>,
    /// The type of an element.
    of: Type,
}

family! {
    /// A product of a warp whose fragments have no documented order.
    WmmaProduct: WmmaProductName { Product = "wmma.mma", }
    with 4..=4;
    /// Always there.
    sync: Sync,
    /// Always there.
    aligned: Aligned,
    /// The order in which the first operand was loaded.
    a_layout: MatrixLayout,
    /// The order in which the second operand was loaded.
    b_layout: MatrixLayout,
    /// Rows, columns, and products a sum.
    shape: MatrixShape,
    /// The type of the results.
    d: Type,
    /// The type of the first operand.
    a: Type,
    /// The type of the second operand.
    b: Type,
    /// The type of what is added to.
    c: Type,
    /// Whether sums are clamped.
    satfinite: Option<SaturateFinite>,
}

family! {
    /// A product of f16 matrices, whose type is not named.
    WmmaHalfProduct: WmmaHalfProductName { Product = "wmma.mma", }
    with 4..=4;
    /// Always there.
    sync: Sync,
    /// Always there.
    aligned: Aligned,
    /// The order in which the first operand was loaded.
    a_layout: MatrixLayout,
    /// The order in which the second operand was loaded.
    b_layout: MatrixLayout,
    /// Rows, columns, and products a sum.
    shape: MatrixShape,
    /// The type of the results.
    d: Type,
    /// The type of what is added to.
    c: Type,
    /// Whether sums are clamped.
    satfinite: Option<SaturateFinite>,
}
