//! Asynchronous copies through a ring of stages.

use cuda_std::float::HalfFloat;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use half::f16;

/// Threads of a block.
pub const THREADS: usize = 64;

/// How much of a tile a thread copies, and how it is asked to.
#[derive(Clone, Copy, PartialEq)]
enum Copy {
    /// Whole copies where all is there, zero-filled ones at the end.
    Either,
    /// Zero-filled ones always.
    OrZero,
}

/// Adds up the tiles of the first `len` elements of `x`, each of `THREADS * N` elements with zeros
/// past the end: `out[i] = x[i] + x[i + tile] + x[i + 2 tile] + ...`. A thread copies the vectors of its
/// unique index and adds those of its right neighbour.
///
/// # Safety
/// 1. The launch has one one-dimensional block of [`THREADS`] threads; `out` has an element for
///    each of a tile, and `x` at least `len`.
/// 2. `ring` has `STAGES` tiles and is the block's own.
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
        // SAFETY: (1) `present` counts what is there; `to` is in a stage's tile. (2) Both indices
        // are multiples of N. (3) A stage is filled again behind a barrier after it was read.
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
            // SAFETY: (1) a tile of the ring. (2) Its copies have landed: their threads have
            // waited for them before the barrier.
            *sum += widen(unsafe { ring.load(stage * tile + neighbour + i) });
        }
    }
    pipeline.wait_prior::<0>();
    for (i, sum) in sums.into_iter().enumerate() {
        // SAFETY: (1) is (1). (2) Each thread has the elements of its neighbour to itself.
        unsafe { out.store(neighbour + i, sum) };
    }
}

macro_rules! pipeline_kernels {
    ($($name:ident: $element:ty, $stages:literal stages, $lanes:literal lanes, $copy:expr, $widen:expr;)*) => {$(
        #[doc = concat!("Adds up tiles of 64 x ", $lanes, " ", stringify!($element), " through ", $stages, " stages.")]
        ///
        /// # Safety
        /// 1. The launch has one one-dimensional block of [`THREADS`] threads; `out` has an
        ///    element for each of a tile, and `x` at least `len`.
        #[kernel]
        pub unsafe fn $name(len: usize, x: Global<$element>, out: GlobalMut<f32>) {
            let ring = shared_array![$element; $stages * $lanes * THREADS];
            // SAFETY: (1) is (1). (2) Declared here.
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

/// Copies to shared memory of which no element is there, from any view: each thread reads zeros.
///
/// # Safety
/// 1. The launch has one one-dimensional block of [`THREADS`] threads; `out` has 4 elements for
///    each. `x` and `out` start at multiples of 16 bytes.
#[kernel]
pub unsafe fn zeros_from_nothing(x: Global<f32>, out: GlobalMut<f32>) {
    let tile = shared_array![f32; 4 * THREADS];
    let own = thread::thread_idx_x() as usize * 4;
    let mut pipeline = Pipeline::<2>::new();
    // SAFETY: (1) nothing is read; the destination is the thread's own. (2) is (1). (3) The thread
    // alone touches it.
    unsafe {
        pipeline.copy_or_zero::<f32, 4>(tile.as_slice(), own, x, usize::MAX, 0);
        pipeline.commit();
        pipeline.consumer_wait();
        out.store_vector(own, tile.load_vector::<4>(own));
    }
}

/// Each thread's sum of its own elements of `x`, a block's threads apart, through a ring whose
/// stages are all in flight: a thread copies, waits for and reads its own elements alone.
///
/// # Safety
/// 1. The launch has one one-dimensional block of [`THREADS`] threads; `ring` has `STAGES` elements
///    for each, is the block's own, and `out` has one for each.
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
        // SAFETY: (1) `present` counts what is there; the place is the thread's in the stage.
        // (2) f64 are aligned. (3) The thread alone touches its places, and has read this one.
        unsafe { pipeline.copy_or_zero::<f64, 1>(ring, stage * THREADS + own, x, from, present) };
        pipeline.commit();
    };
    for round in 0..STAGES {
        start(&mut pipeline, round, round);
    }
    let mut sum = 0.0;
    for round in 0..x.len().div_ceil(THREADS) {
        let stage = pipeline.consumer_wait_full();
        // SAFETY: (1) the thread's place in the stage. (2) Its copy has landed.
        sum += unsafe { ring.load(stage * THREADS + own) };
        start(&mut pipeline, stage, round + STAGES);
    }
    pipeline.wait_prior::<0>();
    // SAFETY: (1) is (1). (2) Each thread has its own.
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
            // SAFETY: (1) is (1) and declared here.
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
