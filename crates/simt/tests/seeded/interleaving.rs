//! Mistakes that need another thread between two atomic operations. Schedules find them by switching threads there, and
//! by interleaving blocks.

use crate::harness::{Memory, Words, block, found_in_some_schedules, me};
use cuda_std::prelude::*;
use simt::DefectKind::Deadlock;

/// Adds 1 in two steps, or in one.
fn increment(memory: &Memory, right: bool) {
    if right {
        memory.counters.add(0, 1);
    } else {
        let value = memory.counters.atomic_get(0);
        memory.counters.atomic_set(0, value + 1);
    }
}

#[test]
fn a_lost_update_within_a_block() {
    found_in_some_schedules(None, (1, 256), increment, |counters| counters[0] == 256);
}

#[test]
fn a_lost_update_within_a_warp() {
    found_in_some_schedules(None, (1, 2), increment, |counters| counters[0] == 2);
}

#[test]
fn a_lost_update_among_blocks() {
    found_in_some_schedules(None, (16, 1), increment, |counters| counters[0] == 16);
}

/// Waits in a loop that has no yield.
fn lock(counters: Words<'_>, lock: usize) {
    while counters.atomic_swap(lock, 1) != 0 {}
    thread::fence_device();
}

fn unlock(counters: Words<'_>, lock: usize) {
    thread::fence_device();
    counters.atomic_set(lock, 0);
}

/// Thread `second` takes the two locks in the opposite order of thread 0.
fn take_both(memory: &Memory, is_second: bool, right: bool) {
    let order = if right || !is_second { [0, 1] } else { [1, 0] };
    for each in order {
        lock(memory.counters, each);
    }
    let value = memory.counters.get(2);
    memory.counters.set(2, value + 1);
    for each in order {
        unlock(memory.counters, each);
    }
}

#[test]
fn two_locks_in_two_orders_by_lanes_of_a_warp() {
    let kernel = |memory: &Memory, right: bool| take_both(memory, me() == 1, right);
    found_in_some_schedules(Some(Deadlock), (1, 2), kernel, |counters| counters[2] == 2);
}

#[test]
fn two_locks_in_two_orders_by_warps() {
    let kernel = |memory: &Memory, right: bool| {
        if me().is_multiple_of(32) {
            take_both(memory, me() == 32, right);
        }
    };
    found_in_some_schedules(Some(Deadlock), (1, 64), kernel, |counters| counters[2] == 2);
}

/// A stack of the nodes 1 to 3 without locks (Treiber, "Systems programming: coping with parallelism", 1986). Its head
/// is a node and, in the correct version, a count of changes. Without the count, a head that has changed back looks
/// unchanged.
struct Stack<'a> {
    counters: Words<'a>,
    counts_changes: bool,
}

const HEAD: usize = 0;
const NEXT: usize = 8;
const POPPED: usize = 16;
const NODES: u32 = 3;

impl Stack<'_> {
    fn node(head: u32) -> u32 {
        head & 0xff
    }

    fn changed(&self, head: u32, node: u32) -> u32 {
        match self.counts_changes {
            true => (head & !0xff) + 0x100 + node,
            false => node,
        }
    }

    fn pop(&self) -> u32 {
        loop {
            let head = self.counters.atomic_get(HEAD);
            let node = Self::node(head);
            if node == 0 {
                return 0;
            }
            // The link that the node's pushing thread wrote.
            thread::fence_block();
            let next = self.counters.atomic_get(NEXT + node as usize);
            let new = self.changed(head, next);
            if self.counters.atomic_compare_exchange(HEAD, head, new) == head {
                return node;
            }
        }
    }

    fn push(&self, node: u32) {
        loop {
            let head = self.counters.atomic_get(HEAD);
            self.counters
                .atomic_set(NEXT + node as usize, Self::node(head));
            thread::fence_block();
            let new = self.changed(head, node);
            if self.counters.atomic_compare_exchange(HEAD, head, new) == head {
                return;
            }
        }
    }
}

/// One thread pops a node; another one pops two, and pushes the first back.
fn pop_and_push(memory: &Memory, right: bool) {
    let stack = Stack {
        counters: memory.counters,
        counts_changes: right,
    };
    if me() == 0 {
        (1..=NODES).rev().for_each(|node| stack.push(node));
    }
    thread::sync_threads();
    if me() == 0 {
        memory.counters.set(POPPED, stack.pop());
    } else if me() == 32 {
        let first = stack.pop();
        memory.counters.set(POPPED + 1, stack.pop());
        if first != 0 {
            stack.push(first);
        }
    }
}

/// Whether each node is in the stack or was popped, exactly once.
fn has_each_node_once(counters: &[u32]) -> bool {
    let mut nodes: Vec<u32> = counters[POPPED..POPPED + 2].to_vec();
    nodes.retain(|node| *node != 0);
    let mut node = Stack::node(counters[HEAD]);
    while node != 0 && nodes.len() <= NODES as usize {
        nodes.push(node);
        node = counters[NEXT + node as usize];
    }
    nodes.sort_unstable();
    nodes.into_iter().eq(1..=NODES)
}

#[test]
fn a_head_that_is_the_same_again() {
    found_in_some_schedules(None, (1, 64), pop_and_push, has_each_node_once);
}

const BLOCKS: usize = 24;
const FLAG: usize = 0;
const AGGREGATE: usize = BLOCKS;
const PREFIX: usize = 2 * BLOCKS;
const RESULT: usize = 3 * BLOCKS;

/// A prefix sum in one pass (Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", NVIDIA
/// 2016) over one value for each block. The wrong version stores a block's prefix in the place of its aggregate, so
/// that a block that has found the aggregate may read the prefix.
fn look_back(memory: &Memory, right: bool) {
    if me() != 0 {
        return;
    }
    let words = memory.counters;
    let prefix = if right { PREFIX } else { AGGREGATE };
    let publish = |place: usize, value: u32, flag: u32| {
        words.atomic_set(place + block(), value);
        thread::fence_device();
        words.atomic_set(FLAG + block(), flag);
    };
    let own = block() as u32 + 1;
    let mut before = 0;
    if block() != 0 {
        publish(AGGREGATE, own, 1);
        for other in (0..block()).rev() {
            let mut flag = words.atomic_get(FLAG + other);
            while flag == 0 {
                thread::yield_now();
                flag = words.atomic_get(FLAG + other);
            }
            thread::fence_device();
            let place = if flag == 1 { AGGREGATE } else { prefix };
            before += words.atomic_get(place + other);
            if flag == 2 {
                break;
            }
        }
    }
    publish(prefix, before + own, 2);
    words.set(RESULT + block(), before + own);
}

fn are_prefix_sums(counters: &[u32]) -> bool {
    (0..BLOCKS).all(|block| counters[RESULT + block] as usize == (block + 1) * (block + 2) / 2)
}

#[test]
fn a_look_back_that_keeps_prefix_and_aggregate_in_one_place() {
    let size = (BLOCKS as u32, 32);
    found_in_some_schedules(None, size, look_back, are_prefix_sums);
}
