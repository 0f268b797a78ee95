//! Adds a tile's elements to a thread's window, and handles those that do not fit.

use super::format::{Format, SPECIALS};
use super::round::digit_parts;
use super::window::Window;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use cuda_std::warp::{self, LaneMask};

/// Elements of at least 2^`HUGE`, for which no window is high enough, are added times 2^-`DOWN`.
const HUGE: i32 = 940;
const DOWN: i32 = 64;

/// A warp's digits in shared memory, followed by its counts of special elements.
#[derive(Clone, Copy)]
pub struct WarpDigits<'block> {
    all: SharedSlice<'block, i64>,
    first: usize,
}

impl<'block> WarpDigits<'block> {
    /// The warp's elements, from index `first`.
    ///
    /// # Safety
    /// 1. `all` has all elements that a sum of `F` needs, from `first`, and they are this warp's.
    /// 2. Only the first lane accesses them while this value is used.
    #[inline(always)]
    pub unsafe fn new(all: SharedSlice<'block, i64>, first: usize) -> Self {
        Self { all, first }
    }

    /// Adds to element `index`.
    ///
    /// # Safety
    /// 1. `index` is one of the warp's elements.
    /// 2. The caller is the first lane.
    #[inline(always)]
    unsafe fn add(self, index: usize, count: i64) {
        let at = self.first + index;
        // SAFETY: the element is the warp's: the caller's contract, and that of `new`. Only this
        // lane accesses it.
        unsafe { self.all.store(at, self.all.load(at) + count) };
    }
}

/// A thread's part of the sum.
pub struct Accumulator<'block, F, const BINS: usize> {
    window: Window<F, BINS>,
    digits: WarpDigits<'block>,
}

impl<'block, F: Format, const BINS: usize> Accumulator<'block, F, BINS> {
    /// An empty accumulator over the warp's digits.
    #[inline(always)]
    pub fn new(digits: WarpDigits<'block>) -> Self {
        Self {
            window: Window::new(),
            digits,
        }
    }

    /// Adds the thread's elements of a tile, by `add`, if those of all lanes of the warp fit into their windows. Returns
    /// whether they fit. All lanes call it together.
    #[inline(always)]
    #[must_use]
    pub fn add_fitting(&mut self, add: impl FnOnce(&mut Window<F, BINS>) -> bool) -> bool {
        let mut window = self.window;
        let fits = add(&mut window);
        let all_fit = warp::all(LaneMask::all(), fits);
        if all_fit {
            self.window = window;
        }
        all_fit
    }

    /// Adds any elements. Moves the window to the largest, then down to the remainders until nothing is left, and
    /// leaves it there. All lanes of a warp call it together.
    #[inline(always)]
    pub fn add_any<const LANES: usize, const VECTORS: usize>(
        &mut self,
        mut rest: [[F; LANES]; VECTORS],
    ) {
        self.take_specials(&mut rest);
        while let Some(top) = largest_top(&rest) {
            self.flush(0);
            if F::HIGHEST_TOP == F::LARGEST_TOP || top <= F::HIGHEST_TOP {
                self.window = Window::below(top);
                self.add_rest(&mut rest, |_, element| element, 1.0);
            } else {
                let scale = f64::power(-DOWN);
                self.window = Window::below(top - DOWN);
                let huge = |element: F, wide: f64| match element.magnitude() >= F::power(HUGE) {
                    true => wide * scale,
                    false => 0.0,
                };
                self.add_rest(&mut rest, huge, f64::power(DOWN));
                self.flush(DOWN);
                self.window = Window::new();
            }
        }
    }

    /// Adds `part` of each element to the window, and replaces the element by its remainder:
    /// `scale` times the window's.
    #[inline(always)]
    fn add_rest<const LANES: usize, const VECTORS: usize>(
        &mut self,
        rest: &mut [[F; LANES]; VECTORS],
        part: impl Fn(F, f64) -> f64,
        scale: f64,
    ) {
        for element in rest.as_flattened_mut() {
            let added = part(*element, element.wide());
            let left = self.window.add(added);
            if added != 0.0 {
                *element = F::narrow(-left * scale);
            }
        }
    }

    /// Adds the window, times 2^`scale`, to the warp's digits, and empties it. All lanes of a warp
    /// call it together.
    #[inline(always)]
    pub fn flush(&mut self, scale: i32) {
        for bin in 0..BINS {
            let (count, unit) = self.window.count(bin);
            let count = warp::reduce_sum(count);
            if warp::lane() == 0 {
                let offset = (unit + scale - F::LOWEST) as usize;
                let (first, parts) = digit_parts(count, offset);
                for (index, part) in parts.iter().enumerate() {
                    // SAFETY: a bin lies within the format, and the digits extend 64 bits past it. This is the first
                    // lane.
                    unsafe { self.digits.add(first + index, *part) };
                }
            }
        }
        self.window.empty();
    }

    /// Counts NaN and infinities, and replaces them by zeros.
    #[inline(always)]
    #[expect(clippy::eq_op, reason = "NaN alone differs from itself")]
    fn take_specials<const LANES: usize, const VECTORS: usize>(
        &self,
        tile: &mut [[F; LANES]; VECTORS],
    ) {
        let mut counts = [0_u32; SPECIALS];
        let infinity = F::from_wide_bits(F::INFINITY_BITS);
        for element in tile.as_flattened_mut() {
            if element.magnitude() < infinity {
                continue;
            }
            counts[0] += u32::from(*element != *element);
            counts[1] += u32::from(*element == infinity);
            counts[2] += u32::from(element.magnitude() == infinity && *element < F::ZERO);
            *element = F::ZERO;
        }
        // Comparing arrays would call a function.
        let has_any = counts[0] | counts[1] | counts[2] != 0;
        if !warp::any(LaneMask::all(), has_any) {
            return;
        }
        for (index, count) in counts.iter().enumerate() {
            let count = warp::reduce_sum(*count);
            if warp::lane() == 0 {
                // SAFETY: the counts follow the digits. This is the first lane.
                unsafe { self.digits.add(F::DIGITS + index, i64::from(count)) };
            }
        }
    }
}

/// The greatest [`Format::top`] of a warp's nonzero elements, if any.
#[inline(always)]
fn largest_top<F: Format, const LANES: usize, const VECTORS: usize>(
    tile: &[[F; LANES]; VECTORS],
) -> Option<i32> {
    let mut largest = F::ZERO;
    for element in tile.as_flattened() {
        let magnitude = element.magnitude();
        if magnitude > largest {
            largest = magnitude;
        }
    }
    let top = if largest > F::ZERO {
        largest.top()
    } else {
        i32::MIN
    };
    let top = warp::reduce(top, i32::max);
    (top > i32::MIN).then_some(top)
}
