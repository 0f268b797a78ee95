//! The split of a row over threads, which determines the order of its sums.
//!
//! ```text
//! short:   up to 1024 elements; lanes of a warp share a row
//! block:   up to 32 768 elements; a block has a row, in registers
//! parts:   up to 1 MiB of f32, 256 KiB of 16-bit elements; a cluster of 8 blocks has a row, in registers, or one block
//!          takes 8 parts in turn
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

/// Parts of a row that is too long for the registers of a block, one for each block of a cluster.
pub const PARTS: usize = 8;

/// The smallest block that has one row, or a part of one.
const FEWEST_THREADS: u32 = 128;

/// The largest block that has one row, or a part of one.
pub const MOST_THREADS: u32 = 1024;

/// How the elements of a row are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowClass {
    /// `lanes` lanes of a warp have two rows at once: one vector, or up to half of [`VALUES`] elements of a row each. Or
    /// 32 lanes have one row, up to [`VALUES`] elements each.
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
    /// A block of `threads` threads has one of [`PARTS`] parts of a row, up to [`VALUES`] elements each, or takes one
    /// part after another.
    Parts {
        /// A power of two from 256 to 1024, or to 512 for 16-bit elements.
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
        let class = if len <= vector {
            RowClass::Short {
                lanes: 1,
                vectors: 1,
            }
        } else if len <= LANES_OF_ROW as usize * VALUES / 2 {
            RowClass::Short {
                lanes: len.div_ceil(VALUES / 2).next_power_of_two() as u32,
                vectors: VALUES / vector / 2,
            }
        } else if len <= LANES_OF_ROW as usize * VALUES {
            RowClass::Short {
                lanes: LANES_OF_ROW,
                vectors: VALUES / vector,
            }
        } else if len <= MOST_THREADS as usize * VALUES {
            RowClass::Block {
                threads: threads_of(len),
            }
        } else if len <= PARTS * MOST_THREADS as usize * VALUES * element_bytes / 4 {
            RowClass::Parts {
                threads: threads_of(part_of(len, vector)),
            }
        } else {
            RowClass::Long
        };
        Self { class, len, vector }
    }

    /// The same row without parts: a block takes it section after section.
    #[must_use]
    pub const fn without_parts(self) -> Self {
        let class = match self.class {
            RowClass::Parts { .. } => RowClass::Long,
            class => class,
        };
        Self { class, ..self }
    }

    /// Threads of a block.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        match self.class {
            RowClass::Short { .. } => SHORT_THREADS,
            RowClass::Block { threads } | RowClass::Parts { threads } => threads,
            RowClass::Long => MOST_THREADS,
        }
    }

    /// Rows of a block.
    #[must_use]
    pub const fn rows_of_block(&self) -> usize {
        match self.class {
            RowClass::Short { lanes, vectors } => {
                let has_one = vectors == VALUES / self.vector;
                (SHORT_THREADS / lanes) as usize * if has_one { 1 } else { 2 }
            }
            RowClass::Block { .. } | RowClass::Parts { .. } | RowClass::Long => 1,
        }
    }

    /// Elements of a vector.
    #[must_use]
    pub const fn vector(&self) -> usize {
        self.vector
    }

    /// Elements of each part but the last, which may have fewer.
    #[must_use]
    pub const fn part(&self) -> usize {
        part_of(self.len, self.vector)
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

    /// Elements of a row that a block takes piece by piece, and keeps in shared memory with room for `room` elements:
    /// whole sections or parts, or all of the row, in whole vectors.
    #[must_use]
    pub const fn kept(&self, room: usize) -> usize {
        let piece = match self.class {
            RowClass::Parts { .. } => self.part(),
            RowClass::Long => self.threads() as usize * SECTION_VALUES,
            RowClass::Short { .. } | RowClass::Block { .. } => return 0,
        };
        let whole = self.len.next_multiple_of(self.vector);
        if whole <= room {
            whole
        } else {
            room / piece * piece
        }
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
            RowClass::Parts { threads } => in_vector + vectors + threads.ilog2() + PARTS.ilog2(),
            RowClass::Long => {
                // A section's vectors, and the sections.
                let others = in_vector + vectors / 2 + self.threads().ilog2();
                match self.sections() {
                    sections if sections > (u32::MAX - others) as usize => u32::MAX,
                    sections => others + sections as u32,
                }
            }
        }
    }
}

/// Threads of a block that has `elements` elements in registers.
const fn threads_of(elements: usize) -> u32 {
    let threads = elements.div_ceil(VALUES).next_power_of_two() as u32;
    if threads < FEWEST_THREADS {
        FEWEST_THREADS
    } else {
        threads
    }
}

/// Elements of a part of a row of `len` elements: whole vectors.
pub const fn part_of(len: usize, vector: usize) -> usize {
    len.div_ceil(PARTS).next_multiple_of(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_fits_its_threads() {
        for bytes in [2, 4] {
            for len in (0..70_000).chain([131_072, 131_073, 262_143, 262_144, 262_145, 1 << 20]) {
                let plan = RowPlan::new(len, bytes);
                let vector = VECTOR_BYTES / bytes;
                let room = match plan.class {
                    RowClass::Short { lanes, vectors } => lanes as usize * vectors * vector,
                    RowClass::Block { threads } => threads as usize * VALUES,
                    RowClass::Parts { threads } => {
                        assert!((PARTS - 1) * plan.part() < len && PARTS * plan.part() >= len);
                        PARTS * (threads as usize * VALUES).min(plan.part())
                    }
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
        let short = |lanes, vectors| RowClass::Short { lanes, vectors };
        assert_eq!((lanes(1), lanes(5)), (short(1, 1), short(1, 4)));
        assert_eq!((lanes(64), lanes(256)), (short(4, 4), short(16, 4)));
        assert_eq!((lanes(512), lanes(513)), (short(32, 4), short(32, 8)));
        assert_eq!(RowPlan::new(64, 2).class, short(4, 2));
        assert_eq!(RowPlan::new(64, 4).rows_of_block(), 32 * 2);
        assert_eq!(RowPlan::new(4, 4).rows_of_block(), 128 * 2);
        assert_eq!(RowPlan::new(257, 4).rows_of_block(), 4 * 2);
        assert_eq!(lanes(1025), RowClass::Block { threads: 128 });
        assert_eq!(lanes(4097), RowClass::Block { threads: 256 });
        assert_eq!(lanes(32_768), RowClass::Block { threads: 1024 });
        assert_eq!(lanes(32_769), RowClass::Parts { threads: 256 });
        assert_eq!(lanes(65_537), RowClass::Parts { threads: 512 });
        assert_eq!(lanes(262_144), RowClass::Parts { threads: 1024 });
        assert_eq!(RowPlan::new(32_769, 2).without_parts().sections(), 3);
        assert_eq!(RowPlan::new(1 << 20, 2).height(), 3 + 2 + 64 + 10);
    }
}
