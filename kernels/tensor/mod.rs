//! Matrix products on the tensor cores of compute capability 9.0: C = A B, A is M x K, B is K x N, C is
//! M x N and row-major.
//!
//! An entry's name ends in the layouts of A and B, as those of [`matmul`](crate::matmul) do.
//!
//! | part | file |
//! |---|---|
//! | the entries' parameters | `entry.rs` |
//! | a main loop: a warpgroup copies, others multiply | `product.rs` |
//! | f16 and bf16 | `half.rs` |
//! | i8 and floats of 8 bits | `bytes.rs` |
//! | f32 from products of halves: a main loop with totals on the ordinary units | `split_product.rs` |
//! | f32 matrices taken apart into halves | `split/` |
//! | how a tile of an operand comes to shared memory, and how products read it | `operand.rs` |
//! | which tiles of C a cluster computes, in which order | `schedule.rs` |
//! | how outputs come from registers to global memory | `outputs.rs` |
//! | outputs that an epilogue computes | `finish.rs`, by way of the crate's `finish.rs` |
//!
//! A tensor core adds the products of one instruction and the accumulator exactly, but for what lies
//! more than 25 bits below the largest of them, and rounds toward zero (`docs/tensor_cores.md`). So an
//! output's bits depend on K and the type alone, and not on the shape, the tile or the layout. Sums of
//! integers are exact, and wrap around.

/// Files that images for other architectures do not have.
macro_rules! of_sm_90a {
    ($($item:item)*) => {$(
        #[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
        $item
    )*};
}

of_sm_90a! {
    #[macro_use]
    mod entry;

    mod bytes;
    mod finish;
    mod half;
    mod operand;
    mod outputs;
    mod product;
    mod schedule;
    mod shape;
    mod split_product;

    pub use bytes::*;
    pub use half::*;
    pub use schedule::ClusterTile;
    pub use shape::TensorShape;
    pub use split_product::*;
}

mod split;

pub use split::*;

of_sm_90a! {
    /// Bytes along k of a stage.
    const DEPTH_BYTES: usize = 128;

    /// Elements of 16 bits along k of a stage.
    pub const HALF_DEPTH: usize = DEPTH_BYTES / 2;

    /// Rows that a warpgroup multiplies with one instruction.
    const WARPGROUP_ROWS: usize = 64;
}
