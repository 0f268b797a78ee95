//! Atomic operations with an order and a scope.

use crate::put;
use cuda_std::atomic::{
    AcqRel, Acquire, AtomicAdd, AtomicInteger, AtomicRef, BlockScope, DeviceScope, Relaxed,
    Release, Scope, SystemScope,
};
use cuda_std::prelude::*;

/// The number of orders of an operation that reads and writes.
pub const ORDERS: usize = 4;

/// The words of an integer kernel: one for each operation and order.
pub const WORDS: usize = 8 * ORDERS;

/// Applies an operation in each order, each time to a word of its own, from number `$first` on.
macro_rules! in_each_order {
    ($words:ident[$first:expr].$operation:ident($value:expr)) => {
        $words($first).$operation($value, Relaxed);
        $words($first + 1).$operation($value, Acquire);
        $words($first + 2).$operation($value, Release);
        $words($first + 3).$operation($value, AcqRel);
    };
}

/// Adds one to a word by compare-and-exchange with an order.
macro_rules! count {
    ($word:expr, $one:ident, $load:expr, $update:expr) => {{
        let word = $word;
        let mut current = word.load($load);
        loop {
            let found = word.compare_exchange(current, current + $one, $update);
            if found == current {
                break;
            }
            current = found;
            thread::yield_now();
        }
    }};
}

/// Applies every operation in each order with `value`.
#[inline(always)]
pub(crate) fn apply_all<'a, T: AtomicInteger + core::ops::Add<Output = T> + PartialEq, S: Scope>(
    one: T,
    value: T,
    words: impl Fn(usize) -> AtomicRef<'a, T, S>,
) {
    in_each_order!(words[0].fetch_add(value));
    in_each_order!(words[4].fetch_min(value));
    in_each_order!(words[8].fetch_max(value));
    in_each_order!(words[12].fetch_and(value));
    in_each_order!(words[16].fetch_or(value));
    in_each_order!(words[20].fetch_xor(value));
    in_each_order!(words[24].swap(value));
    count!(words(28), one, Relaxed, Relaxed);
    count!(words(29), one, Acquire, Acquire);
    count!(words(30), one, Relaxed, Release);
    count!(words(31), one, Acquire, AcqRel);
}

macro_rules! integer_kernels {
    ($($name:ident: $element:ty, $scope:ty;)*) => {$(
        #[doc = concat!("Every operation in every order on ", stringify!($element), " of global memory.")]
        ///
        /// # Safety
        /// 1. `words` has [`WORDS`] elements, `x` one for each thread; the threads are in one scope.
        #[kernel]
        pub unsafe fn $name(x: Global<$element>, words: GlobalMut<$element>) {
            // SAFETY: the length and the scope are the caller's contract. Only atomic operations
            // access the words.
            let word = |index| unsafe { words.atomic_ref(index).with_scope::<$scope>() };
            // SAFETY: the length is the caller's contract.
            apply_all(1, unsafe { x.load(thread::unique_index().get()) }, word);
        }
    )*};
}
integer_kernels! {
    ordered_u32: u32, DeviceScope;
    ordered_i32: i32, DeviceScope;
    ordered_u64: u64, DeviceScope;
    ordered_i64: i64, DeviceScope;
    ordered_in_block: u32, BlockScope;
    ordered_in_system: u32, SystemScope;
}

/// Every operation in every order on words of shared memory.
///
/// # Safety
/// 1. The launch has one block of at least [`WORDS`] threads. `words` has [`WORDS`] elements, `x` one for
///    each thread.
#[kernel]
pub unsafe fn ordered_shared(x: Global<u32>, words: GlobalMut<u32>) {
    let shared = shared_array![u32; WORDS];
    let index = thread::unique_index().get();
    // SAFETY: the lengths are the caller's contract. Between the barriers only atomic operations of
    // the block, which is the scope, access the words; before and after, only the thread with the
    // word's index does.
    unsafe {
        if index < WORDS {
            let word = shared.atomic_ref(index).with_scope::<BlockScope>();
            word.store(words.load(index), Relaxed);
        }
        thread::sync_threads();
        let word = |index| shared.atomic_ref(index).with_scope::<BlockScope>();
        apply_all(1, x.load(index), word);
        thread::sync_threads();
        if index < WORDS {
            put(words, index, word(index).load(Acquire));
        }
    }
}

#[inline(always)]
fn add_in_each_order<T: AtomicAdd>(value: T, words: GlobalMut<T>) {
    // SAFETY: the callers' contracts give a word for each order. Only atomic operations access the
    // words.
    let word = |index| unsafe { words.atomic_ref(index) };
    in_each_order!(word[0].fetch_add(value));
}

macro_rules! float_kernels {
    ($($name:ident: $element:ty;)*) => {$(
        #[doc = concat!("Adds ", stringify!($element), " in every order.")]
        ///
        /// # Safety
        /// 1. `sums` has [`ORDERS`] elements, `x` one for each thread.
        #[kernel]
        pub unsafe fn $name(x: Global<$element>, sums: GlobalMut<$element>) {
            // SAFETY: the length is the caller's contract.
            add_in_each_order(unsafe { x.load(thread::unique_index().get()) }, sums);
        }
    )*};
}
float_kernels! {
    ordered_f32: f32;
    ordered_f64: f64;
}

/// The number that a thread passes on: the one that it got, combined with its own part.
pub(crate) fn carried(before: u32, own: u32) -> u32 {
    before.wrapping_mul(31).wrapping_add(own)
}

/// Blocks pass a number from one to the next in plain memory, each adding its element of `x`: a store releases it, a
/// load acquires it.
///
/// # Safety
/// 1. `x` and `flags` have an element for each block; those of `flags` are 0. `number` has one.
#[kernel]
pub unsafe fn relay(x: Global<u32>, number: GlobalMut<u32>, flags: GlobalAtomic<u32>) {
    let block = thread::block_idx_x() as usize;
    if thread::thread_idx_x() != 0 {
        return;
    }
    if let Some(previous) = block.checked_sub(1).and_then(|it| flags.atomic_ref(it)) {
        while previous.load(Acquire) == 0 {
            thread::yield_now();
        }
    }
    // SAFETY: the lengths are the caller's contract. The flags order the blocks' accesses.
    unsafe { put(number, 0, carried(number.load(0), x.load(block))) };
    if let Some(own) = flags.atomic_ref(block) {
        own.store(1, Release);
    }
}

/// Warps pass a number on in shared memory, like the blocks of [`relay`] in global memory. The last warp writes it to
/// `number`.
///
/// # Safety
/// 1. The launch has one block of one dimension and whole warps. `x` has an element for each, `number` one.
#[kernel]
pub unsafe fn relay_in_block(x: Global<u32>, number: GlobalMut<u32>) {
    let (letter, turn) = (shared_array![u32; 1], shared_array![u32; 1]);
    let (warp, warps) = (warp::warp_in_block(), thread::block_dim_x() / warp::width());
    // SAFETY: the array has one element, which only atomic operations of the block, the scope,
    // access.
    let turn = unsafe { turn.atomic_ref(0).with_scope::<BlockScope>() };
    if thread::thread_idx_x() == 0 {
        turn.store(0, Relaxed);
        // SAFETY: the array has one element. A barrier follows.
        unsafe { letter.store(0, 0) };
    }
    thread::sync_threads();
    if warp::lane() != 0 {
        return;
    }
    while turn.load(Acquire) != warp {
        thread::yield_now();
    }
    // SAFETY: the lengths are the caller's contract. Only the warp whose turn it is accesses the
    // element.
    unsafe {
        let carried = carried(letter.load(0), x.load(warp as usize));
        letter.store(0, carried);
        if warp + 1 == warps {
            put(number, 0, carried);
        }
    }
    turn.fetch_add(1, Release);
}

/// Each block writes its part of `sums`. The block that takes the last ticket combines them in the order of blocks.
/// An update that acquires and releases replaces two fences.
///
/// # Safety
/// 1. `x` and `sums` have an element for each block, `tickets` and `result` one; that of `tickets` is 0.
#[kernel]
pub unsafe fn last_ticket_adds(
    x: Global<u32>,
    sums: GlobalMut<u32>,
    tickets: GlobalAtomic<u32>,
    result: GlobalMut<u32>,
) {
    let (block, blocks) = (thread::block_idx_x() as usize, thread::grid_dim_x());
    if thread::thread_idx_x() != 0 {
        return;
    }
    // SAFETY: the lengths are the caller's contract. Each block has its own element.
    unsafe { put(sums, block, x.load(block)) };
    let ticket = tickets.atomic_ref(0);
    if ticket.is_some_and(|ticket| ticket.fetch_add(1, AcqRel) + 1 == blocks) {
        let mut sum = 0;
        for block in 0..blocks as usize {
            // SAFETY: the length is the caller's contract. The last ticket comes after all others,
            // which have released the sums.
            sum = carried(sum, unsafe { sums.load(block) });
        }
        // SAFETY: only one thread has the last ticket.
        unsafe { put(result, 0, sum) };
    }
}
