//! Global memory, alignment and coalescing: five patterns in which a warp reads 32 elements, each
//! through L1 and L2 ("cached load") and through L2 alone ("non-cached load").
//!
//! ```text
//! y[i] = x[place(i)]
//!     aligned:    i
//!     permuted:   i, the elements of a warp in another order
//!     misaligned: i + 4
//!     broadcast:  i, rounded down to a multiple of 32
//!     scattered:  an element of the whole array
//! ```
//!
//! Step: the hardware coalesces the accesses of one instruction's lanes. Textbooks say into
//! 128-byte lines for cached loads and into 32-byte sectors for others. GPUs since compute
//! capability 5 move sectors in both cases, so L1 helps only if a sector is requested again.
//!
//! Prediction: aligned and permuted need 4 sectors per warp. Misaligned needs 5, one of them
//! already in L1. Broadcast needs 1, and scattered 32, each with 28 unused bytes: an eighth of the
//! speed.

use cuda_std::prelude::*;

/// The offset of misaligned accesses, in elements: 16 bytes.
pub const MISALIGNMENT: usize = 4;

/// Permutes the index within a warp's elements.
#[inline(always)]
#[must_use]
pub fn permuted(index: usize) -> usize {
    index / 32 * 32 + index * 13 % 32
}

/// Permutes `elements` indices, a power of two, so that neighbours are far apart.
#[inline(always)]
#[must_use]
pub fn scattered(index: usize, elements: usize) -> usize {
    index.wrapping_mul(2_654_435_761) & elements.wrapping_sub(1)
}

macro_rules! patterns {
    ($($all:ident, $l2:ident, $name:literal: |$index:ident, $elements:ident| $place:expr;)*) => {$(
        patterns!(@kernel $all, load_cached_all, $name, "L1 and L2", |$index, $elements| $place);
        patterns!(@kernel $l2, load_cached_l2, $name, "L2 alone", |$index, $elements| $place);
    )*};
    (@kernel $kernel:ident, $load:ident, $name:literal, $caches:literal, |$index:ident, $elements:ident| $place:expr) => {
        #[doc = concat!("Reads `x` in the pattern \"", $name, "\" through ", $caches, ", and writes to `y` in order.")]
        ///
        /// # Safety
        /// 1. The number of elements of `y` is a power of two, 32 at least, and `x` has
        ///    [`MISALIGNMENT`] more.
        #[kernel(max_threads = 256)]
        #[allow(unused_variables, reason = "one pattern needs the number of elements")]
        pub unsafe fn $kernel(x: Global<f32>, y: GlobalMut<f32>) {
            let own = thread::unique_index();
            let ($index, $elements) = (own.get(), y.len());
            if let Some(y) = y.own(own) {
                // SAFETY: no pattern leaves `x`: the caller's contract. A single element is
                // aligned.
                let [value] = unsafe { x.$load::<1>($place) };
                y.set(value);
            }
        }
    };
}
patterns! {
    memory_aligned_all, memory_aligned_l2, "aligned": |index, elements| index;
    memory_permuted_all, memory_permuted_l2, "permuted": |index, elements| permuted(index);
    memory_misaligned_all, memory_misaligned_l2, "misaligned": |index, elements| index + MISALIGNMENT;
    memory_broadcast_all, memory_broadcast_l2, "broadcast": |index, elements| index / 32 * 32;
    memory_scattered_all, memory_scattered_l2, "scattered": |index, elements| scattered(index, elements);
}
