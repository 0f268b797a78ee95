//! How more elements than 32 bits count are split, which takes no memory: `tests/large.rs` reduces as
//! many.

use tilewright_kernels::reduce::lines::LinePlan;
use tilewright_kernels::reduce::{MAX_BLOCKS, Plan};
use tilewright_kernels::scan::ScanPlan;

const MANY: usize = (1 << 32) + 3;

#[test]
fn buffers_are_split_over_the_most_blocks() {
    let plan = Plan::new(MANY, 4);
    assert_eq!((plan.tile, plan.blocks), (4096, MAX_BLOCKS));
    // A block has 513 tiles of the 2^20 + 1. In a vector and over a thread's four 2 and 2 combinations
    // follow, in a block 8, over the blocks 8 and 8.
    assert_eq!(plan.tree_height(), 513 + 28);
}

#[test]
fn lines_have_longer_sections_and_not_more() {
    let plan = LinePlan::new(MANY);
    assert_eq!((plan.section, plan.sections, plan.parts), (1 << 23, 513, 8));
    assert_eq!(plan.tree_height(), (1 << 13) + 7 + 3 + 17 + 5);
}

#[test]
fn scans_have_more_tiles_and_spans() {
    let plan = ScanPlan::new(MANY, 4);
    assert_eq!(plan.tiles, (1 << 19) + 1);
    assert_eq!((plan.groups(), plan.spans()), ((1 << 14) + 1, 513));
    // The ticket has 16 words.
    let words = 16 + plan.tiles + plan.groups() + plan.spans();
    assert_eq!(plan.state_words(), words);
    // Within a tile 31, over a group, a span and between them 13, and from span to span.
    assert_eq!(plan.height(), 31 + 13 + 513);
}
