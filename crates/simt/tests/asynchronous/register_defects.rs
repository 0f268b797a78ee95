//! Mistakes with `setmaxnreg`, each with a correct twin.

use crate::harness::{me, twins};
use simt::DefectKind::{Deadlock, InvalidArgument, WarpDivergence};

#[test]
fn registers_beyond_those_of_the_block() {
    twins(InvalidArgument, &["suffice for 248"], 128, |_, right| {
        simt::set_max_registers(if right { 248 } else { 256 }, true);
    });
}

#[test]
fn registers_that_are_no_multiple_of_eight() {
    twins(
        InvalidArgument,
        &["44 registers", "in steps of 8"],
        128,
        |_, right| {
            simt::set_max_registers(if right { 40 } else { 44 }, false);
        },
    );
}

/// 128 * 24 + 256 * 240 registers equal 384 threads' with 168 each.
#[test]
fn registers_that_nothing_gives_back() {
    let words = ["waits for 248 registers", "where it has 168"];
    twins(Deadlock, &words, 384, |_, right| match me() / 128 {
        0 => simt::set_max_registers(24, false),
        _ => simt::set_max_registers(if right { 240 } else { 248 }, true),
    });
}

#[test]
fn registers_of_lanes_that_differ() {
    twins(
        WarpDivergence,
        &["different operands to one setmaxnreg"],
        128,
        |_, right| {
            let count = if right || me() % 32 != 3 { 40 } else { 48 };
            simt::set_max_registers(count, false);
        },
    );
}

#[test]
fn registers_of_some_warps() {
    twins(
        WarpDivergence,
        &["some warps of warpgroup 0"],
        128,
        |_, right| {
            if right || me() >= 32 {
                simt::set_max_registers(40, false);
            }
        },
    );
}
