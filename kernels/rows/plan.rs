//! The split of a row over threads, which determines the order of its sums.
//!
//! ```text
//! short:   up to 1024 elements; lanes of a warp share a row
//! block:   up to 32 768 elements; a block has a row, in registers
//! long:    a block of 1024 threads takes sections of 16 384 elements
//! ```
//!
//! It depends on the row's length and the size of its elements alone.

/// Elements of a row that a thread keeps in registers, in f32.
pub const VALUES: usize = 32;

/// Elements of a section of a long row that a thread keeps in registers, in f32: half of [`VALUES`], so that shared
/// memory holds more whole sections.
pub const SECTION_VALUES: usize = VALUES / 2;

/// Bytes of one vector.
pub const VECTOR_BYTES: usize = 16;

/// Lanes that share a short row, at most, for any warp width.
pub const LANES_OF_ROW: u32 = 32;

/// Threads of a block that has short rows.
pub const SHORT_THREADS: u32 = 128;

/// Rows of one vector for each lane that a lane has at once, and rows of two. More bytes are on their way so.
pub const ROWS_OF_ONE: usize = 4;
pub const ROWS_OF_TWO: usize = 2;

/// The smallest and the largest block that has one row.
const FEWEST_THREADS: u32 = 128;
const MOST_THREADS: u32 = 1024;

/// How the elements of a row are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowClass {
    /// `lanes` lanes of a warp have a row: one vector each, or 32 lanes two, or up to [`VALUES`] elements each.
    Short {
        /// A power of two up to 32.
        lanes: u32,
        /// Vectors of a lane, at most.
        vectors: usize,
    },
    /// A block of `threads` threads has a row, up to [`VALUES`] elements each.
    Block {
        /// A power of two from 128 to 1024.
        threads: u32,
    },
    /// A block of 1024 threads has a row, section after section.
    Long,
}

/// One row's split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowPlan {
    /// How the elements are divided.
    pub class: RowClass,
    /// Elements of the row.
    len: usize,
    /// Elements of a vector.
    vector: usize,
}

impl RowPlan {
    /// The split of a row of `len` elements of `element_bytes` bytes, 2 or 4.
    #[must_use]
    pub const fn new(len: usize, element_bytes: usize) -> Self {
        let vector = VECTOR_BYTES / element_bytes;
        let vectors = len.div_ceil(vector);
        let class = if vectors <= LANES_OF_ROW as usize {
            RowClass::Short {
                lanes: if vectors == 0 {
                    1
                } else {
                    vectors.next_power_of_two() as u32
                },
                vectors: 1,
            }
        } else if len <= LANES_OF_ROW as usize * VALUES {
            RowClass::Short {
                lanes: LANES_OF_ROW,
                vectors: if vectors <= 2 * LANES_OF_ROW as usize {
                    2
                } else {
                    VALUES / vector
                },
            }
        } else if len <= MOST_THREADS as usize * VALUES {
            let threads = len.div_ceil(VALUES).next_power_of_two() as u32;
            RowClass::Block {
                threads: if threads < FEWEST_THREADS {
                    FEWEST_THREADS
                } else {
                    threads
                },
            }
        } else {
            RowClass::Long
        };
        Self { class, len, vector }
    }

    /// Threads of a block.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        match self.class {
            RowClass::Short { .. } => SHORT_THREADS,
            RowClass::Block { threads } => threads,
            RowClass::Long => MOST_THREADS,
        }
    }

    /// Rows of a block.
    #[must_use]
    pub const fn rows_of_block(&self) -> usize {
        match self.class {
            RowClass::Short { lanes, vectors } => {
                let rows = match vectors {
                    1 => ROWS_OF_ONE,
                    2 => ROWS_OF_TWO,
                    _ => 1,
                };
                (SHORT_THREADS / lanes) as usize * rows
            }
            RowClass::Block { .. } | RowClass::Long => 1,
        }
    }

    /// Sections of the row, which threads take one after another.
    #[must_use]
    pub const fn sections(&self) -> usize {
        match self.class {
            RowClass::Long => self.len.div_ceil(self.threads() as usize * SECTION_VALUES),
            _ => 1,
        }
    }

    /// Elements of a vector for each thread of the block.
    #[must_use]
    pub const fn stride(&self) -> usize {
        self.threads() as usize * self.vector
    }

    /// Elements of a long row that are kept in shared memory with room for `room` elements, and elements of the memory
    /// for them: whole sections, or the row, in whole vectors of all threads.
    #[must_use]
    pub const fn kept(&self, room: usize) -> (usize, usize) {
        if !matches!(self.class, RowClass::Long) {
            return (0, 0);
        }
        let stride = self.stride();
        let whole = self.len.next_multiple_of(stride);
        if whole <= room {
            return (self.len, whole);
        }
        let section = self.threads() as usize * SECTION_VALUES;
        let sections = room / section * section;
        (sections, sections)
    }

    /// Additions on the longest path from an element to the row's sum.
    #[must_use]
    pub const fn height(&self) -> u32 {
        let in_vector = self.vector.ilog2();
        let vectors = (VALUES / self.vector) as u32;
        match self.class {
            RowClass::Short { lanes, vectors: 1 } => in_vector + lanes.ilog2(),
            RowClass::Short { lanes, vectors } => in_vector + vectors as u32 + lanes.ilog2(),
            RowClass::Block { threads } => in_vector + vectors + threads.ilog2(),
            RowClass::Long => {
                // A section's vectors, and the sections.
                in_vector + vectors / 2 + self.sections() as u32 + self.threads().ilog2()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_fits_its_threads() {
        for bytes in [2, 4] {
            for len in (0..40_000).chain([50_257, 262_144, 1 << 20]) {
                let plan = RowPlan::new(len, bytes);
                let vector = VECTOR_BYTES / bytes;
                let room = match plan.class {
                    RowClass::Short { lanes, vectors } => lanes as usize * vectors * vector,
                    RowClass::Block { threads } => threads as usize * VALUES,
                    RowClass::Long => plan.sections() * plan.threads() as usize * SECTION_VALUES,
                };
                assert!(room >= len, "{len}: {plan:?}");
                assert!(plan.threads().is_multiple_of(64) && plan.rows_of_block() > 0);
            }
        }
    }

    #[test]
    fn short_rows_share_warps_and_long_ones_have_sections() {
        let lanes = |len| RowPlan::new(len, 4).class;
        let one = |lanes| RowClass::Short { lanes, vectors: 1 };
        assert_eq!(
            (lanes(1), lanes(64), lanes(128)),
            (one(1), one(16), one(32))
        );
        assert_eq!(RowPlan::new(64, 4).rows_of_block(), 8 * ROWS_OF_ONE);
        assert_eq!(RowPlan::new(256, 4).rows_of_block(), 4 * ROWS_OF_TWO);
        assert_eq!(RowPlan::new(257, 4).rows_of_block(), 4);
        assert_eq!(lanes(1025), RowClass::Block { threads: 128 });
        assert_eq!(lanes(4097), RowClass::Block { threads: 256 });
        assert_eq!(lanes(32_768), RowClass::Block { threads: 1024 });
        assert_eq!(RowPlan::new(32_769, 2).sections(), 3);
        assert_eq!(RowPlan::new(1 << 20, 2).height(), 3 + 2 + 64 + 10);
    }
}
