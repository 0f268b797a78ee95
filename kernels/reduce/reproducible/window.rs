//! A thread's window: the bins to which it adds elements.

use super::format::{DIGIT_BITS, Format};
use cuda_std::array;

/// The initial top of a window: for elements below 2^8 that are multiples of 2^-24 (such as all f16), 2^-56 (f32,
/// bf16) or 2^-88 (f64).
const FIRST_TOP: i32 = 8;

/// Binades between the largest element when a window is moved and the window's limit, so that a
/// slightly larger element does not move it again.
const MARGIN: i32 = 4;

/// Bins of 32 bits below 2^top.
///
/// Bin b counts units of 2^(top - 32 (b + 1)), and starts at 1.5 2^52 units. An element below 2^top changes the first
/// bin by at most 2^32 units, and others by less. So after 2^18 elements a bin is still between 2^52 and 2^53 units,
/// where the spacing of f64 is one unit. Each addition therefore rounds to whole units, and the change of the bin is
/// exact. The remainder of the element is exact, too: it is no larger than the element, and a multiple of the same
/// power of two.
///
/// All windows of a warp have the same top.
#[derive(Clone, Copy)]
pub struct Window<F, const BINS: usize> {
    top: i32,
    limit: F,
    bins: [f64; BINS],
}

impl<F: Format, const BINS: usize> Window<F, BINS> {
    const LOWEST_TOP: i32 = F::LOWEST + (BINS * DIGIT_BITS) as i32;

    /// An empty window.
    #[inline(always)]
    pub fn new() -> Self {
        Self::with_top(FIRST_TOP)
    }

    /// An empty window for elements below 2^`exponent`, if possible.
    #[inline(always)]
    pub fn below(exponent: i32) -> Self {
        let top = (exponent + MARGIN).clamp(Self::LOWEST_TOP, F::HIGHEST_TOP);
        Self::with_top(top)
    }

    #[inline(always)]
    fn with_top(top: i32) -> Self {
        Self {
            top,
            limit: F::power(top),
            bins: array::from_fn(|bin| start(unit(top, bin))),
        }
    }

    /// Resets the bins.
    #[inline(always)]
    pub fn empty(&mut self) {
        *self = Self::with_top(self.top);
    }

    /// Whether an element is small enough. False for NaN and infinities.
    #[inline(always)]
    pub fn is_above(&self, element: F) -> bool {
        element.magnitude() < self.limit
    }

    /// Adds an element that is small enough, and returns the negated bits below the last bin, or
    /// +0.
    #[inline(always)]
    pub fn add(&mut self, element: f64) -> f64 {
        let mut left = -element;
        for bin in &mut self.bins {
            let sum = *bin - left;
            left += sum - *bin;
            *bin = sum;
        }
        left
    }

    /// The count of bin `bin`, and the exponent of its unit.
    #[inline(always)]
    pub fn count(&self, bin: usize) -> (i64, i32) {
        let unit = unit(self.top, bin);
        // Within a binade, consecutive floats have consecutive bits.
        let count = self.bins[bin].to_bits() as i64 - start(unit).to_bits() as i64;
        (count, unit)
    }
}

/// The exponent of the unit of bin `bin`.
#[inline(always)]
fn unit(top: i32, bin: usize) -> i32 {
    top - ((bin + 1) * DIGIT_BITS) as i32
}

/// 1.5 2^52 units of 2^unit.
#[inline(always)]
fn start(unit: i32) -> f64 {
    f64::from_bits(((unit + 52 + 1023) as u64) << 52 | 1 << 51)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_counted_or_left() {
        let mut window = Window::<f32, 2>::below(1);
        assert!(window.is_above(31.0) && !window.is_above(32.0) && !window.is_above(f32::NAN));
        assert_eq!(window.add(-3.0), 0.0);
        assert_eq!(window.add(f64::from(f32::power(-40))).to_bits(), 0);
        assert_eq!(window.add(-0.0).to_bits(), 0);
        assert_eq!(window.add(1e-30), -1e-30);
        let counts = [window.count(0), window.count(1)];
        assert_eq!(counts, [(-(3 << 27), -27), (1 << 19, -59)]);
    }

    #[test]
    fn the_lowest_window_leaves_nothing() {
        let mut window = Window::<f64, 3>::below(-1074);
        assert_eq!(window.add(f64::from_bits(1)), 0.0);
        assert_eq!(window.count(2), (1, -1074));
        assert!(Window::<f64, 3>::below(1024).bins[0].is_finite());
    }
}
