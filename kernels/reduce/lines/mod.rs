//! Reductions of lines: one value for each row or column of a matrix.
//!
//! Either a line's elements are contiguous (`along`), or those of neighbouring lines are (`across`). Segments
//! (`segments`) are contiguous lines of different lengths. All combine in the tree of [`LinePlan`], so the order of
//! the matrix does not change a bit. `combine.rs` has the tree's steps, `sections.rs` combines the parts of
//! contiguous lines, `views.rs` has a launch's inputs and outputs, and `source.rs` reads the elements of one array,
//! or the pairs of two. `macros.rs` makes the kernels, `table.rs` lists the library's, and `entries.rs` has
//! them.

#[macro_use]
mod macros;
#[macro_use]
mod table;

mod across;
mod along;
mod combine;
#[cfg(feature = "entries")]
mod entries;
mod plan;
mod sections;
mod segments;
mod source;
mod views;

#[doc(hidden)]
pub use across::{assert_accumulator, reduce_across};
#[doc(hidden)]
pub use along::reduce_along;
#[cfg(feature = "entries")]
pub(crate) use combine::combine_lanes;
pub(crate) use combine::combine_neighbours;
#[cfg(feature = "entries")]
pub use entries::*;
pub use plan::{
    ACCUMULATORS, ACROSS_LINES, LANE_ACCUMULATORS, LANES_OF_PART, LINE_THREADS, LINES_IN_FLIGHT,
    LinePlan, MOST_PARTS, SEGMENT_LANES, TURN, Turns, list_section,
};
#[cfg(feature = "entries")]
pub(crate) use sections::reduce_partials;
#[doc(hidden)]
pub use segments::{Segments, reduce_segments};
#[doc(hidden)]
pub use source::OneArray;
#[doc(hidden)]
pub use views::{LineWorkspace, Lines};

/// Elements per aligned load: at most 16 bytes, and at most four elements.
#[doc(hidden)]
#[must_use]
pub const fn vector_of<T>() -> usize {
    match size_of::<T>() {
        16 => 1,
        8 => 2,
        _ => 4,
    }
}
