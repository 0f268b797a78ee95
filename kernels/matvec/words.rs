//! Words of four 8-bit elements, and how their products are added.

use crate::epilogue::EpilogueElement;
use crate::reduce::{Reduction, Sum};
use cuda_std::array;
use cuda_std::float::{Float, HalfFloat};
use cuda_std::fp8::{F8E4M3, F8E5M2};
use cuda_std::integer::dp4a;
use half::f16;

/// Words in 16 bytes.
pub const WORDS: usize = 4;

/// Elements in a word.
const OF_WORD: usize = 4;

/// Elements in 16 bytes.
const ELEMENTS: usize = WORDS * OF_WORD;

/// An 8-bit element type, four in a word, the first in the lowest bits.
pub trait Words {
    /// The type of sums.
    type Sum: EpilogueElement;

    /// How sums are added.
    type Addition: Reduction<Self::Sum, Accumulator = Self::Sum>;

    /// 16 bytes of v, unpacked for products with several rows.
    type Unpacked: Copy;

    /// Unpacks 16 bytes of v.
    fn unpack(v: [i32; WORDS]) -> Self::Unpacked;

    /// Adds the products of 16 bytes of a row with those of v to `sum`, in order, scaled by a factor that
    /// [`of_part`](Self::of_part) removes.
    #[track_caller]
    fn add_products(sum: Self::Sum, row: [i32; WORDS], v: &Self::Unpacked) -> Self::Sum;

    /// The sum of a part, without the factor.
    fn of_part(sum: Self::Sum) -> Self::Sum;
}

/// Element `place` of a vector.
#[inline(always)]
fn byte(words: [i32; WORDS], place: usize) -> u8 {
    (words[place / OF_WORD] >> (8 * (place % OF_WORD))) as u8
}

/// Wrapping addition of integers.
pub struct WrappingSum;

impl Reduction<i32> for WrappingSum {
    type Accumulator = i32;
    type Output = i32;
    const IDENTITY: i32 = 0;

    #[inline(always)]
    fn lift(element: i32, _index: usize) -> i32 {
        element
    }

    #[inline(always)]
    fn combine(left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }

    #[inline(always)]
    fn finish(total: i32, _elements: usize) -> i32 {
        total
    }
}

/// Adds four products at a time: exact, and wrapping, so the order does not matter.
impl Words for i8 {
    type Sum = i32;
    type Addition = WrappingSum;
    type Unpacked = [i32; WORDS];

    #[inline(always)]
    fn unpack(v: [i32; WORDS]) -> Self::Unpacked {
        v
    }

    #[inline(always)]
    #[track_caller]
    fn add_products(sum: i32, row: [i32; WORDS], v: &Self::Unpacked) -> i32 {
        let mut sum = sum;
        let mut word = 0;
        while word < WORDS {
            sum = dp4a(row[word], v[word], sum);
            word += 1;
        }
        sum
    }

    #[inline(always)]
    fn of_part(sum: i32) -> i32 {
        sum
    }
}

/// [`small`] subtracts this from an element's exponent.
const TAKEN: i32 = 120;

/// Unpacking v adds this to an element's exponent: less than [`TAKEN`], because the largest element is below 2^9.
const GIVEN: i32 = 118;

/// 2 to the power of `exponent`.
const fn power(exponent: i32) -> f32 {
    f32::from_bits(((f32::MAX_EXP - 1 + exponent) as u32) << (f32::MANTISSA_DIGITS - 1))
}

/// 2^-120 times the element in the highest 8 bits of `word`, unless it is NaN.
///
/// Its exponent and fraction move to their places in an f32, whose bias is 120 greater. A subnormal element becomes a
/// subnormal f32.
#[inline(always)]
fn small(word: i32) -> f32 {
    const SIGN_AND_MAGNITUDE: u32 = 0x87f0_0000;
    f32::from_bits((word >> 4) as u32 & SIGN_AND_MAGNITUDE)
}

/// Whether one of the elements of a word is NaN: a byte of ones below the sign.
#[inline(always)]
fn has_nan(word: i32) -> bool {
    const MAGNITUDES: u32 = 0x7f7f_7f7f;
    const ONES: u32 = 0x0101_0101;
    ((word as u32 & MAGNITUDES) + ONES) & !MAGNITUDES != 0
}

/// A product with a [`small`] element is the element's product times a power of two. So the sums round as sums of the
/// products themselves do: none is subnormal, or beyond the largest number.
impl Words for F8E4M3 {
    type Sum = f32;
    type Addition = Sum;
    type Unpacked = [f32; ELEMENTS];

    #[inline(always)]
    fn unpack(v: [i32; WORDS]) -> Self::Unpacked {
        array::from_fn(|place| Self::from_bits(byte(v, place)).to_f32() * const { power(GIVEN) })
    }

    #[inline(always)]
    #[track_caller]
    fn add_products(sum: f32, row: [i32; WORDS], v: &Self::Unpacked) -> f32 {
        let mut sum = sum;
        let mut place = 0;
        while place < ELEMENTS {
            let word = row[place / OF_WORD];
            let highest = word << (8 * (OF_WORD - 1 - place % OF_WORD));
            sum = Float::mul_add(small(highest), v[place], sum);
            if place % OF_WORD == 0 && has_nan(word) {
                sum = f32::NAN;
            }
            place += 1;
        }
        sum
    }

    #[inline(always)]
    fn of_part(sum: f32) -> f32 {
        sum * const { power(TAKEN - GIVEN) }
    }
}

/// An element is the upper half of an f16.
impl Words for F8E5M2 {
    type Sum = f32;
    type Addition = Sum;
    type Unpacked = [f32; ELEMENTS];

    #[inline(always)]
    fn unpack(v: [i32; WORDS]) -> Self::Unpacked {
        array::from_fn(|place| HalfFloat::widen(f16::from_bits(u16::from(byte(v, place)) << 8)))
    }

    #[inline(always)]
    #[track_caller]
    fn add_products(sum: f32, row: [i32; WORDS], v: &Self::Unpacked) -> f32 {
        let row = Self::unpack(row);
        let mut sum = sum;
        let mut place = 0;
        while place < ELEMENTS {
            sum = Float::mul_add(row[place], v[place], sum);
            place += 1;
        }
        sum
    }

    #[inline(always)]
    fn of_part(sum: f32) -> f32 {
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of products of elements widened one by one.
    fn plain<T: Copy + Into<f32>>(row: [T; ELEMENTS], v: [T; ELEMENTS]) -> f32 {
        let terms = row.into_iter().zip(v);
        terms.fold(0.0, |sum, (a, b)| {
            Into::<f32>::into(a).mul_add(b.into(), sum)
        })
    }

    fn words(codes: [u8; ELEMENTS]) -> [i32; WORDS] {
        core::array::from_fn(|word| {
            i32::from_le_bytes(core::array::from_fn(|place| codes[OF_WORD * word + place]))
        })
    }

    fn sum<T: Words<Sum = f32>>(row: [u8; ELEMENTS], v: [u8; ELEMENTS]) -> f32 {
        T::of_part(T::add_products(0.0, words(row), &T::unpack(words(v))))
    }

    /// Every pair of codes, at every place, beside products of other sizes.
    #[test]
    fn products_have_the_bits_of_those_of_widened_elements() {
        fn assert_same(found: f32, expected: f32, case: (u8, u8, usize)) {
            let same = found.to_bits() == expected.to_bits();
            let are_nan = found.is_nan() && expected.is_nan();
            assert!(same || are_nan, "{found} instead of {expected}: {case:?}");
        }
        for left in 0..=u8::MAX {
            for right in 0..=u8::MAX {
                let place = usize::from(left ^ right) % ELEMENTS;
                let others = [0x35, 0xb1, 0x2e, 0x01];
                let mut row: [u8; ELEMENTS] = core::array::from_fn(|it| others[it % 4]);
                let mut v = [0x3a; ELEMENTS];
                (row[place], v[place]) = (left, right);
                let case = (left, right, place);
                let expected = plain(row.map(F8E4M3::from_bits), v.map(F8E4M3::from_bits));
                assert_same(sum::<F8E4M3>(row, v), expected, case);
                let expected = plain(row.map(F8E5M2::from_bits), v.map(F8E5M2::from_bits));
                assert_same(sum::<F8E5M2>(row, v), expected, case);
            }
        }
    }
}
