//! What the host must know of a product kernel to select and launch it.

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
    /// Blocks that cover an `m` x `n` result, or `None` where they are more than a grid can have
    /// along x (2^31 - 1).
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
    /// Row after row: `n` in an entry's name.
    RowMajor,
    /// Column after column: `t` in an entry's name.
    ColumnMajor,
    /// Either: another kernel brings the operand into the form that this one reads.
    Either,
}

/// What one product kernel computes, and what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductDescriptor {
    /// The part of C that one block computes.
    pub tile: BlockTile,
    /// The layout of A.
    pub a: OperandLayout,
    /// The layout of B.
    pub b: OperandLayout,
    /// Bytes of which the starts of B's rows in memory are multiples; at least those of an element.
    pub b_row_alignment: usize,
    /// Bytes of dynamic shared memory of each block.
    pub dynamic_shared_bytes: usize,
}

/// A kernel that multiplies matrices, as the host knows it.
pub trait ProductKernel {
    /// What the kernel computes, and what it asks for.
    const DESCRIPTOR: ProductDescriptor;
}
