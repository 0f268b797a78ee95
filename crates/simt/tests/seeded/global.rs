//! Races in global memory, within a block and between blocks.

use crate::harness::{Memory, block, me, shared, twins};
use cuda_std::prelude::*;
use simt::DefectKind::{AtomicRace, DataRace};

#[test]
fn within_a_block() {
    let found = twins(DataRace, 1, 64, |memory, right| {
        memory.input.set(me(), 2);
        if right {
            thread::sync_threads();
        }
        let _ = memory.input.get((me() + 1) % 64);
    });
    assert!(
        found.message.contains("of a buffer of 4096 bytes"),
        "{found}"
    );
    assert!(found.message.contains("(element "), "{found}");
}

#[test]
fn blocks_that_write_one_result() {
    let found = twins(DataRace, 4, 32, |memory, right| {
        if me() == 0 && (!right || block() == 2) {
            memory.output.set(0, block() as u32);
        }
    });
    assert!(
        found.message.contains("a thread of another block"),
        "{found}"
    );
    assert!(found.related[0].note.contains("of block ("), "{found}");
}

#[test]
fn a_stencil_in_place() {
    twins(DataRace, 4, 32, |memory, right| {
        let index = block() * 32 + me();
        let next = memory.input.get(index) + memory.input.get(index + 1);
        if right {
            memory.output.set(index, next);
        } else {
            thread::sync_threads();
            memory.input.set(index, next);
        }
    });
}

#[test]
fn a_barrier_orders_no_other_block() {
    twins(DataRace, 2, 32, |memory, right| {
        memory.output.set(block() * 32 + me(), 1);
        thread::sync_threads();
        let other = if right { block() } else { 1 - block() };
        if me() == 0 {
            memory.output.set(other * 32 + 5, 2);
        }
    });
}

#[test]
fn vectors_and_words_of_two_blocks() {
    twins(DataRace, 2, 8, |memory, right| {
        if block() == 0 {
            memory.input.set4(4 * me(), [3; 4]);
        } else {
            let _ = memory.input.get(if right { 32 + me() } else { me() });
            let _ = memory.input.get4(64);
        }
    });
}

/// The possible omissions of a ticket for the last block.
#[derive(PartialEq)]
enum Fault {
    None,
    NoFenceBeforeTicket,
    NoFenceAfterTicket,
    FenceOfBlock,
    PartialsOfAllThreads,
}

/// The sum of all threads' values. The block that takes the last ticket adds the partial sums of all blocks.
fn last_block_adds(memory: &Memory, fault: Fault) {
    let is_last = shared![u32; 1];
    if fault == Fault::PartialsOfAllThreads {
        // It holds values before, so that the last block may read it before it is written.
        memory.input.set(512 + block() * 32 + me(), 1);
    }
    if me() == 0 {
        memory.output.set(block(), 32);
        match fault {
            Fault::NoFenceBeforeTicket => {}
            Fault::FenceOfBlock => thread::fence_block(),
            _ => thread::fence_device(),
        }
        let ticket = memory.counters.add(0, 1);
        is_last.set(0, u32::from(ticket + 1 == thread::grid_dim_x()));
    }
    thread::sync_threads();
    if is_last.get(0) == 0 {
        return;
    }
    if fault != Fault::NoFenceAfterTicket {
        thread::fence_device();
    }
    for of_block in (me()..thread::grid_dim_x() as usize).step_by(32) {
        let _ = memory.output.get(of_block);
        if fault == Fault::PartialsOfAllThreads {
            let _ = memory.input.get(512 + of_block * 32 + 7);
        }
    }
    if me() == 0 {
        memory.output.set(256, 0);
        memory.counters.atomic_set(0, 0);
    }
}

#[test]
fn last_block_without_a_fence_before_the_ticket() {
    let found = twins(DataRace, 6, 32, |memory, right| {
        let fault = if right {
            Fault::None
        } else {
            Fault::NoFenceBeforeTicket
        };
        last_block_adds(memory, fault);
    });
    assert!(found.to_string().contains("a device fence"), "{found}");
}

#[test]
fn last_block_without_a_fence_after_the_ticket() {
    twins(DataRace, 6, 32, |memory, right| {
        let fault = if right {
            Fault::None
        } else {
            Fault::NoFenceAfterTicket
        };
        last_block_adds(memory, fault);
    });
}

#[test]
fn last_block_with_a_fence_for_its_block_only() {
    twins(DataRace, 6, 32, |memory, right| {
        let fault = if right {
            Fault::None
        } else {
            Fault::FenceOfBlock
        };
        last_block_adds(memory, fault);
    });
}

/// One thread's fence does not cover threads that it has not met.
#[test]
fn last_block_without_a_barrier_before_the_fence() {
    twins(DataRace, 6, 32, |memory, right| {
        let fault = if right {
            Fault::None
        } else {
            Fault::PartialsOfAllThreads
        };
        last_block_adds(memory, fault);
    });
}

/// As in older CUDA samples: every thread fences, then one takes the ticket.
#[test]
fn fences_of_all_threads_then_one_ticket() {
    twins(DataRace, 5, 64, |memory, right| {
        let is_last = shared![u32; 1];
        memory.output.set(block() * 64 + me(), 1);
        if right {
            thread::fence_device();
        }
        thread::sync_threads();
        if me() == 0 {
            is_last.set(0, memory.counters.add(0, 1));
        }
        thread::sync_threads();
        if is_last.get(0) + 1 == thread::grid_dim_x() {
            thread::fence_device();
            for of_block in 0..5 {
                let _ = memory.output.get(of_block * 64 + me());
            }
        }
    });
}

#[test]
fn a_flag_within_a_block() {
    twins(DataRace, 1, 64, |memory, right| {
        let value = shared![u32; 1];
        match me() {
            0 => {
                value.set(0, 7);
                if right {
                    thread::fence_block();
                }
                memory.counters.atomic_set(0, 1);
            }
            40 => {
                while memory.counters.atomic_get(0) == 0 {
                    thread::yield_now();
                }
                thread::fence_block();
                let _ = value.get(0);
            }
            _ => {}
        }
    });
}

#[test]
fn a_sum_that_one_block_clears_in_the_same_launch() {
    let found = twins(AtomicRace, 4, 32, |memory, right| {
        if block() == 0 && me() == 0 && !right {
            memory.counters.set(0, 0);
        }
        memory.counters.add(0, 1);
    });
    assert!(found.message.contains("races with"), "{found}");
}

#[test]
fn a_plain_read_of_a_counter_that_others_change() {
    twins(AtomicRace, 2, 32, |memory, right| {
        memory.counters.add(3, 1);
        let _ = match right {
            true => memory.counters.atomic_get(3),
            false => memory.counters.get(3),
        };
    });
}
