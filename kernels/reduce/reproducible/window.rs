//! A thread's window: the bins to which it adds elements.

use super::format::{DIGIT_BITS, Format};
use cuda_std::array;

/// The initial top of a window: for elements below 2^8 that are multiples of 2^-24 (such as all f16), 2^-56 (f32,
/// bf16) or 2^-88 (f64).
const FIRST_TOP: i32 = 8;

/// Binades between the largest element when a window is moved and the window's limit, so that a
/// slightly larger element does not move it again.
const MARGIN: i32 = 4;

/// Elements of 16 bits that are added in f32, before their sum goes to a window.
const ADDED_FIRST: usize = 16;

/// Bits below 2^top of the first and of both of the sums in f32.
const FIRST_BITS: [i32; 2] = [20, 40];

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

    /// Adds elements one by one, and returns whether all fitted. Otherwise the bins are unspecified.
    #[inline(always)]
    pub fn add_each<const LANES: usize, const VECTORS: usize>(
        &mut self,
        tile: &[[F; LANES]; VECTORS],
    ) -> bool {
        let (mut fits, mut left) = (true, 0);
        for element in tile.as_flattened() {
            fits &= self.is_above(*element);
            let bits = self.add(element.wide()).to_bits();
            left |= bits as u32 | (bits >> 32) as u32;
        }
        fits && left == 0
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

impl<const BINS: usize> Window<f32, BINS> {
    /// Adds elements of 16 bits, [`ADDED_FIRST`] at a time, and returns whether all fitted. Otherwise the bins are
    /// unspecified.
    ///
    /// They fit if they are below 2^top, and multiples of 2^(top - 40). Each is cut in two, by additions that round to
    /// units of 2^(top - 20) and of 2^(top - 40). The parts are at most 2^20 units, so 16 of each are added in f32
    /// exactly, and the two sums in f64.
    #[inline(always)]
    pub fn add_short<T: Copy, const LANES: usize, const VECTORS: usize>(
        &mut self,
        tile: &[[T; LANES]; VECTORS],
        widen: impl Fn(T) -> f32,
    ) -> bool {
        const { assert!((LANES * VECTORS).is_multiple_of(ADDED_FIRST)) };
        let starts = FIRST_BITS.map(|bits| start_f32(self.top - bits));
        let elements = tile.as_flattened();
        let (mut fits, mut left, mut first) = (true, 0, 0);
        while first < LANES * VECTORS {
            let (mut sums, mut number) = ([0.0; 2], 0);
            while number < ADDED_FIRST {
                let element = widen(elements[first + number]);
                fits &= self.is_above(element);
                let high = (element + starts[0]) - starts[0];
                let rest = element - high;
                let low = (rest + starts[1]) - starts[1];
                left |= (low - rest).to_bits();
                sums[0] += high;
                sums[1] += low;
                number += 1;
            }
            let bits = self.add(f64::from(sums[0]) + f64::from(sums[1])).to_bits();
            left |= bits as u32 | (bits >> 32) as u32;
            first += ADDED_FIRST;
        }
        fits && left == 0
    }
}

/// 1.5 2^23 units of 2^unit, or NaN if that is no f32.
#[inline(always)]
fn start_f32(unit: i32) -> f32 {
    let exponent = (unit + 23 + 127).min(255);
    f32::from_bits((exponent as u32) << 23 | 1 << 22)
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
    use core::convert::identity;

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

    /// The sum of a window's bins, in units of its last one.
    fn total(window: &Window<f32, 2>) -> i128 {
        let [high, low] = [0, 1].map(|bin| i128::from(window.count(bin).0));
        (high << DIGIT_BITS) + low
    }

    #[test]
    fn short_elements_are_added_exactly_or_refused() {
        const TOP: i32 = 5;
        let window = Window::<f32, 2>::below(TOP - MARGIN);
        let unit = window.count(1).1;
        let units = |x: f32| (f64::from(x) / f64::power(unit)) as i128;
        // All as large as 16 bits allow, with both signs, and all bits of either part of the smallest.
        let largest = f32::power(TOP) - f32::power(TOP - 11);
        let least = f32::power(TOP - 40);
        for elements in [
            [[largest; 8]; 4],
            [[-largest; 8]; 4],
            [[least; 8]; 4],
            [[largest, -least, least * 255.0, -0.0, 1.0, -1.0, 0.0, least]; 4],
        ] {
            let mut added = window;
            assert!(added.add_short(&elements, identity));
            let expected: i128 = elements.as_flattened().iter().copied().map(units).sum();
            assert_eq!(total(&added), expected);
        }
        let refused = [
            f32::power(TOP),
            -f32::power(TOP),
            f32::INFINITY,
            f32::NAN,
            least / 2.0,
            f32::from_bits(1),
        ];
        for element in refused {
            for place in 0..32 {
                let mut elements = [[1.0; 8]; 4];
                elements[place / 8][place % 8] = element;
                assert!(
                    !{ window }.add_short(&elements, identity),
                    "{element} at {place}"
                );
            }
        }
        // Sums whose first additions have no f32 are refused, not wrong.
        assert!(!Window::<f32, 2>::below(128).add_short(&[[1e38; 8]; 4], identity));
    }
}
