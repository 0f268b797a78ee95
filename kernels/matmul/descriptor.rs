//! Descriptions of product kernels, by which the host selects and launches them.

/// The part of C that one block computes, and the block's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockTile {
    /// Rows of C.
    pub rows: usize,
    /// Columns of C.
    pub columns: usize,
    /// Threads of the block, along x.
    pub threads: u32,
}

impl BlockTile {
    /// Blocks that cover an `m` x `n` result. `None` if a grid cannot have as many along x (2^31 - 1).
    #[must_use]
    pub const fn blocks(&self, m: usize, n: usize) -> Option<u32> {
        let rows = m.div_ceil(self.rows);
        let columns = n.div_ceil(self.columns);
        match rows.checked_mul(columns) {
            Some(blocks) if blocks <= i32::MAX as usize => Some(blocks as u32),
            _ => None,
        }
    }
}

/// The order in which the elements of an operand lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandLayout {
    /// Rows are contiguous: `n` in an entry's name.
    RowMajor,
    /// Columns are contiguous: `t` in an entry's name.
    ColumnMajor,
    /// Either: another kernel rearranges the operand for this one.
    Either,
}

/// A product kernel's tile, layouts and requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductDescriptor {
    /// The part of C that one block computes.
    pub tile: BlockTile,
    /// The layout of A.
    pub a: OperandLayout,
    /// The layout of B.
    pub b: OperandLayout,
    /// Alignment of B's rows, in bytes; at least the size of an element.
    pub b_row_alignment: usize,
    /// Dynamic shared memory of a block, in bytes.
    pub dynamic_shared_bytes: usize,
}

/// A kernel that multiplies matrices.
pub trait ProductKernel {
    /// The kernel's tile, layouts and requirements.
    const DESCRIPTOR: ProductDescriptor;
}
