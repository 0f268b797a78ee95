//! Asynchronous copies through a ring of stages.

use cuda_std::float::HalfFloat;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use half::f16;

/// Threads of a block.
pub const THREADS: usize = 64;

/// The way in which a thread copies its part of a tile.
#[derive(Clone, Copy, PartialEq)]
enum Copy {
    /// Whole copies, and zero-filled ones at the end.
    Either,
    /// Always zero-filled copies.
    OrZero,
}

/// Adds up the tiles of the first `len` elements of `x`, each of `THREADS * N` elements with zeros past the end:
/// `out[i] = x[i] + x[i + tile] + x[i + 2 tile] + ...`. A thread copies the vectors of its unique index and adds its
/// right neighbour's.
///
/// # Safety
/// 1. The launch has one one-dimensional block of [`THREADS`] threads; `out` has an element for each element of a
///    tile, and `x` at least `len`.
/// 2. `ring` has `STAGES` tiles and belongs to the block.
#[inline(always)]
unsafe fn add_tiles<T: cuda_std::Pod, const STAGES: usize, const N: usize>(
    (len, x): (usize, Global<T>),
    out: GlobalMut<f32>,
    ring: SharedSlice<T>,
    copy: Copy,
    widen: impl Fn(T) -> f32,
) {
    let tile = THREADS * N;
    let tiles = len.div_ceil(tile);
    let own = thread::thread_idx_x() as usize * N;
    let neighbour = (own + N) % tile;
    let mut sums = [0.0; N];
    let mut pipeline = Pipeline::<STAGES>::new();
    let start = |pipeline: &mut Pipeline<STAGES>, number: usize| {
        let (from, to) = (number * tile + own, pipeline.producer_stage() * tile + own);
        let present = len.saturating_sub(from);
        // SAFETY: `present` counts the elements of `x` from `from` on, and `to` is within a stage's
        // tile. Both indices are multiples of N. A barrier separates the reads of a stage from the
        // next copies to it.
        unsafe {
            if copy == Copy::Either && present >= N {
                pipeline.copy::<T, N>(ring, to, x, from);
            } else if number < tiles {
                pipeline.copy_or_zero::<T, N>(ring, to, x, from, present);
            }
        }
        pipeline.commit();
    };
    for number in 0..STAGES - 1 {
        start(&mut pipeline, number);
    }
    for number in 0..tiles {
        let stage = pipeline.consumer_wait();
        thread::sync_threads();
        start(&mut pipeline, number + STAGES - 1);
        for (i, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the index is within a tile of the ring. Its copies have arrived, because
            // their threads waited for them before the barrier.
            *sum += widen(unsafe { ring.load(stage * tile + neighbour + i) });
        }
    }
    pipeline.wait_prior::<0>();
    for (i, sum) in sums.into_iter().enumerate() {
        // SAFETY: the length is the caller's contract. Only this thread writes its neighbour's
        // elements.
        unsafe { out.store(neighbour + i, sum) };
    }
}

macro_rules! pipeline_kernels {
    ($($name:ident: $element:ty, $stages:literal stages, $lanes:literal lanes, $copy:expr, $widen:expr;)*) => {$(
        #[doc = concat!("Adds up tiles of 64 x ", $lanes, " ", stringify!($element), " through ", $stages, " stages.")]
        ///
        /// # Safety
        /// 1. The launch has one one-dimensional block of [`THREADS`] threads; `out` has an element
        ///    for each element of a tile, and `x` at least `len`.
        #[kernel]
        pub unsafe fn $name(len: usize, x: Global<$element>, out: GlobalMut<f32>) {
            let ring = shared_array![$element; $stages * $lanes * THREADS];
            // SAFETY: the launch and the lengths are the caller's contract. The array is declared
            // here, so it is the block's own.
            unsafe { add_tiles::<$element, $stages, $lanes>((len, x), out, ring.as_slice(), $copy, $widen) }
        }
    )*};
}
pipeline_kernels! {
    pipeline2_f32x1: f32, 2 stages, 1 lanes, Copy::Either, |x| x;
    pipeline2_f32x2: f32, 2 stages, 2 lanes, Copy::Either, |x| x;
    pipeline2_f32x4: f32, 2 stages, 4 lanes, Copy::Either, |x| x;
    pipeline3_f32x1: f32, 3 stages, 1 lanes, Copy::OrZero, |x| x;
    pipeline3_f32x2: f32, 3 stages, 2 lanes, Copy::OrZero, |x| x;
    pipeline3_f32x4: f32, 3 stages, 4 lanes, Copy::OrZero, |x| x;
    pipeline4_f32x1: f32, 4 stages, 1 lanes, Copy::Either, |x| x;
    pipeline4_f32x4: f32, 4 stages, 4 lanes, Copy::OrZero, |x| x;
    pipeline5_f32x2: f32, 5 stages, 2 lanes, Copy::Either, |x| x;
    pipeline6_f32x4: f32, 6 stages, 4 lanes, Copy::Either, |x| x;
    pipeline3_f16x2: f16, 3 stages, 2 lanes, Copy::Either, HalfFloat::widen;
    pipeline2_f16x8: f16, 2 stages, 8 lanes, Copy::OrZero, HalfFloat::widen;
    pipeline4_f64x1: f64, 4 stages, 1 lanes, Copy::Either, |x| x as f32;
    pipeline3_f64x2: f64, 3 stages, 2 lanes, Copy::OrZero, |x| x as f32;
}

/// Copies to shared memory without source elements, from any view: each thread reads zeros.
///
/// # Safety
/// 1. The launch has one one-dimensional block of [`THREADS`] threads; `out` has 4 elements for
///    each. `x` and `out` start at multiples of 16 bytes.
#[kernel]
pub unsafe fn zeros_from_nothing(x: Global<f32>, out: GlobalMut<f32>) {
    let tile = shared_array![f32; 4 * THREADS];
    let own = thread::thread_idx_x() as usize * 4;
    let mut pipeline = Pipeline::<2>::new();
    // SAFETY: no source element is read, and the destination is within the tile. The alignment is
    // the caller's contract. Only this thread accesses the destination.
    unsafe {
        pipeline.copy_or_zero::<f32, 4>(tile.as_slice(), own, x, usize::MAX, 0);
        pipeline.commit();
        pipeline.consumer_wait();
        out.store_vector(own, tile.load_vector::<4>(own));
    }
}

/// Each thread's sum of its own elements of `x`, which are a block's threads apart, through a ring
/// whose stages are all in flight: a thread copies, waits for and reads only its own elements.
///
/// # Safety
/// 1. The launch has one one-dimensional block of [`THREADS`] threads; `ring` has `STAGES` elements
///    for each thread and belongs to the block, and `out` has one for each thread.
#[inline(always)]
unsafe fn add_own<const STAGES: usize>(
    x: Global<f64>,
    out: GlobalMut<f64>,
    ring: SharedSlice<f64>,
) {
    let own = thread::thread_idx_x() as usize;
    let mut pipeline = Pipeline::<STAGES>::new();
    let start = |pipeline: &mut Pipeline<STAGES>, stage: usize, round: usize| {
        let from = round * THREADS + own;
        let present = x.len().saturating_sub(from);
        // SAFETY: `present` counts the elements of `x` from `from` on, and the destination is the
        // thread's in its stage. Elements of type f64 are aligned. Only this thread accesses the
        // destination, which it has read before.
        unsafe { pipeline.copy_or_zero::<f64, 1>(ring, stage * THREADS + own, x, from, present) };
        pipeline.commit();
    };
    for round in 0..STAGES {
        start(&mut pipeline, round, round);
    }
    let mut sum = 0.0;
    for round in 0..x.len().div_ceil(THREADS) {
        let stage = pipeline.consumer_wait_full();
        // SAFETY: the index is the thread's in the stage. Its copy has arrived.
        sum += unsafe { ring.load(stage * THREADS + own) };
        start(&mut pipeline, stage, round + STAGES);
    }
    pipeline.wait_prior::<0>();
    // SAFETY: the length is the caller's contract. Each thread has its own element.
    unsafe { out.store(own, sum) };
}

macro_rules! full_ring_kernels {
    ($($name:ident: $stages:literal;)*) => {$(
        #[doc = concat!("Each thread's sum through a ring of ", $stages, ", all of it in flight.")]
        ///
        /// # Safety
        /// 1. The launch has one one-dimensional block of [`THREADS`] threads; `out` has an
        ///    element for each.
        #[kernel]
        pub unsafe fn $name(x: Global<f64>, out: GlobalMut<f64>) {
            let ring = shared_array![f64; $stages * THREADS];
            // SAFETY: the launch and the lengths are the caller's contract. The ring is declared
            // here, so it is the block's own.
            unsafe { add_own::<$stages>(x, out, ring.as_slice()) }
        }
    )*};
}
full_ring_kernels! {
    full_ring1: 1;
    full_ring2: 2;
    full_ring7: 7;
    full_ring16: 16;
}
