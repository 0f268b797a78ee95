//! Barriers of the grid, in cooperative launches.

use crate::harness::{Memory, block, grid_twins, me, twins};
use cuda_std::prelude::*;
use simt::DefectKind::{AtomicRace, DataRace, GridBarrierDivergence};
use simt::grid_barrier;

const BLOCKS: u32 = 5;
const THREADS: u32 = 64;

fn neighbour() -> usize {
    (block() + 1) % BLOCKS as usize
}

/// The calling thread's element among those of `block`.
fn element(block: usize) -> usize {
    block * THREADS as usize + me()
}

#[test]
fn two_phases_without_a_barrier_of_the_grid() {
    let found = grid_twins(DataRace, BLOCKS, THREADS, |memory, right| {
        memory.input.set(element(block()), 2);
        if right {
            grid_barrier();
        } else {
            thread::sync_threads();
        }
        let _ = memory.input.get(element(neighbour()));
    });
    assert!(found.to_string().contains("a grid barrier"), "{found}");
}

/// Each step reads what the step before wrote, and then overwrites it.
fn stencil(memory: &Memory, barriers: [bool; 2]) {
    for _ in 0..3 {
        let next = memory.input.get(element(block())) + memory.input.get(element(neighbour()));
        if barriers[0] {
            grid_barrier();
        }
        memory.input.set(element(block()), next);
        if barriers[1] {
            grid_barrier();
        }
    }
}

#[test]
fn a_stencil_without_the_barrier_before_its_writes() {
    grid_twins(DataRace, BLOCKS, THREADS, |memory, right| {
        stencil(memory, [right, true]);
    });
}

#[test]
fn a_stencil_without_the_barrier_behind_its_writes() {
    grid_twins(DataRace, BLOCKS, THREADS, |memory, right| {
        stencil(memory, [true, right]);
    });
}

#[test]
fn a_sum_of_all_blocks_that_is_read_too_early() {
    let found = grid_twins(AtomicRace, BLOCKS, THREADS, |memory, right| {
        memory.counters.add(0, 1);
        if right {
            grid_barrier();
        }
        let _ = memory.counters.get(0);
    });
    assert!(found.message.contains("races with"), "{found}");
}

/// A barrier orders what came before it, not what comes after it.
#[test]
fn a_second_sum_that_is_read_too_early() {
    grid_twins(AtomicRace, BLOCKS, THREADS, |memory, right| {
        memory.counters.add(0, 1);
        grid_barrier();
        memory.counters.add(1, memory.counters.get(0));
        if right {
            grid_barrier();
        }
        if block() == 3 && me() == 7 {
            let _ = memory.counters.get(1);
        }
    });
}

#[test]
fn a_thread_that_leaves_before_the_barrier() {
    let found = grid_twins(GridBarrierDivergence, BLOCKS, THREADS, |_, right| {
        if !right && block() == 1 && me() == 40 {
            return;
        }
        grid_barrier();
    });
    assert!(found.message.contains("exited"), "{found}");
}

#[test]
fn a_block_that_leaves_before_the_barrier() {
    let found = grid_twins(GridBarrierDivergence, BLOCKS, THREADS, |_, right| {
        if right || block() != 4 {
            grid_barrier();
        }
    });
    assert!(
        found.message.contains("of block (4, 0, 0) has exited"),
        "{found}"
    );
    assert!(
        found
            .to_string()
            .contains("block (4, 0, 0): 0 threads wait"),
        "{found}"
    );
}

#[test]
fn a_block_that_leaves_behind_the_first_barrier() {
    grid_twins(GridBarrierDivergence, BLOCKS, THREADS, |_, right| {
        grid_barrier();
        if right || block() != 0 {
            grid_barrier();
        }
    });
}

#[test]
fn a_warp_at_the_blocks_own_barrier() {
    let found = grid_twins(GridBarrierDivergence, BLOCKS, THREADS, |_, right| {
        if right || block() != 2 || me() < 32 {
            grid_barrier();
        } else {
            thread::sync_threads();
        }
    });
    assert_eq!(found.block, Some((2, 0, 0).into()), "{found}");
    assert!(
        found.to_string().contains("waits at block barrier 0"),
        "{found}"
    );
    assert!(
        found.to_string().contains("waits at the grid barrier"),
        "{found}"
    );
}

#[test]
#[expect(clippy::if_same_then_else, reason = "the branches are two lines")]
fn lanes_of_a_warp_at_two_lines() {
    grid_twins(GridBarrierDivergence, BLOCKS, THREADS, |_, right| {
        if right || block() != 2 || me() != 5 {
            grid_barrier();
        } else {
            grid_barrier();
        }
    });
}

#[test]
fn a_launch_that_is_not_cooperative() {
    let found = twins(GridBarrierDivergence, 2, 32, |_, right| {
        if !right {
            grid_barrier();
        }
    });
    assert!(found.message.contains("not cooperative"), "{found}");
}
