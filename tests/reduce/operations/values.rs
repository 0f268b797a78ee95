//! Elements to reduce, as plain arithmetic sees them.

use crate::common::random::Random;
use bytemuck::bytes_of;
use half::{bf16, f16};
use std::cmp::Ordering;
use std::fmt::Debug;
use tilewright::Element;
use tilewright_kernels::reduce::lines::{ACCUMULATORS, LANE_ACCUMULATORS, LinePlan, TURN};
use tilewright_kernels::reduce::{BLOCK_THREADS, Plan};

/// An element that references compute with.
pub trait Value: Element + Debug + PartialOrd {
    /// A random element: floats of many magnitudes, any integer.
    fn random(random: &mut Random) -> Self;

    /// A small integer.
    fn small(random: &mut Random) -> Self;

    /// The special values of the type: NaN, infinities, zeros of either sign, the ends of the range.
    fn special() -> Vec<Self>;

    /// The canonical NaN, if there is one.
    fn nan() -> Option<Self>;

    /// The value, rounded if it is an integer beyond 2^53.
    fn real(self) -> f64;

    /// An integer modulo 2^64; `None` for floats.
    fn wrapped(self) -> Option<u64>;

    /// The order, with -0 before +0; of numbers.
    fn order(self, other: Self) -> Ordering;

    fn is_nan(self) -> bool {
        self.partial_cmp(&self).is_none()
    }
}

macro_rules! float_values {
    ($($float:ty: $of:expr, $nan:literal;)*) => {$(
        impl Value for $float {
            fn random(random: &mut Random) -> Self {
                $of(random.wide())
            }

            fn small(random: &mut Random) -> Self {
                $of(random.integer(-3..=3) as f64)
            }

            fn special() -> Vec<Self> {
                let numbers = [f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.0].map($of);
                let negative_nan = Self::from_bits(<$float>::NEG_INFINITY.to_bits() + 1);
                let others = [<$float>::MAX, <$float>::MIN, Self::from_bits(1), negative_nan];
                numbers.into_iter().chain(others).collect()
            }

            fn nan() -> Option<Self> {
                Some(Self::from_bits($nan))
            }

            fn real(self) -> f64 {
                self.into()
            }

            fn wrapped(self) -> Option<u64> {
                None
            }

            fn order(self, other: Self) -> Ordering {
                self.real().total_cmp(&other.real())
            }
        }
    )*};
}
float_values! {
    f32: |value: f64| value as f32, 0x7fff_ffff;
    f64: |value: f64| value, 0x7fff_ffff_ffff_ffff;
    f16: f16::from_f64, 0x7fff;
    bf16: bf16::from_f64, 0x7fff;
}

macro_rules! integer_values {
    ($($integer:ty)*) => {$(
        impl Value for $integer {
            fn random(random: &mut Random) -> Self {
                random.bits() as Self
            }

            fn small(random: &mut Random) -> Self {
                random.integer(0..=3) as Self
            }

            fn special() -> Vec<Self> {
                vec![Self::MIN, Self::MAX, 0, 1]
            }

            fn nan() -> Option<Self> {
                None
            }

            fn real(self) -> f64 {
                self as f64
            }

            fn wrapped(self) -> Option<u64> {
                Some(self as u64)
            }

            fn order(self, other: Self) -> Ordering {
                self.cmp(&other)
            }
        }
    )*};
}
integer_values!(i8 u8 i16 u16 i32 u32 i64 u64);

/// The number of inputs of one length.
pub fn inputs<T: Value>(length: usize) -> usize {
    match length {
        0 => 3,
        _ => 4 + T::special().len(),
    }
}

/// An input of so many elements, by its number: random ones; small ones, with ties; zeros; small ones with a special one
/// at some place; random ones among all special ones.
pub fn input<T: Value>(length: usize, number: usize) -> Vec<T> {
    let mut random = Random::new(length as u64);
    let mut fill = |of: fn(&mut Random) -> T| (0..length).map(|_| of(&mut random)).collect();
    let special = T::special();
    match number {
        0 => fill(T::random),
        1 => fill(T::small),
        2 => vec![T::zeroed(); length],
        _ if number - 3 < special.len() => {
            let mut one: Vec<T> = fill(T::small);
            let number = number - 3;
            one[(length - 1) * number / special.len().max(2)] = special[number];
            one
        }
        _ => {
            let mut many: Vec<T> = fill(T::random);
            for (place, &element) in special.iter().cycle().take(length).enumerate() {
                many[place * 7 % length] = element;
            }
            many
        }
    }
}

/// Elements of a line of four parts.
pub const LENGTH_OF_PARTS: usize = 2050;

/// Lines of [`LENGTH_OF_PARTS`] small integers with a special element [on both sides](twice_at) of a border: of a
/// lane's vector, of a round of the accumulators, of a turn and so of a part, or of the first turn after all parts had
/// theirs.
pub fn at_borders<T: Value>() -> Vec<Vec<T>> {
    let step = LinePlan::new(LENGTH_OF_PARTS).turns(0, 0).step;
    let borders = [LANE_ACCUMULATORS, ACCUMULATORS, TURN, 3 * TURN, step];
    let special = T::special();
    let mut random = Random::new(17);
    (0..special.len().max(borders.len()))
        .map(|number| {
            let (border, special) = (
                borders[number % borders.len()],
                special[number % special.len()],
            );
            twice_at(&mut random, LENGTH_OF_PARTS, border, special)
        })
        .collect()
}

/// The borders of a vector, of a warp, of the vectors that a block loads together, of a tile and so of a block, and of
/// the first and the last element of a buffer of the length that comes with them.
fn borders_of_tiles<T: Value>() -> (usize, [usize; 7]) {
    let (tile, lanes) = (Plan::new(1, size_of::<T>()).tile, 16 / size_of::<T>());
    let length = 2 * tile + 37;
    let together = BLOCK_THREADS as usize * lanes;
    let borders = [1, lanes, 32 * lanes, together, tile, 2 * tile, length - 1];
    (length, borders)
}

/// The number of buffers with a special element on both sides of a border.
pub fn at_borders_of_tiles<T: Value>() -> usize {
    T::special().len() * borders_of_tiles::<T>().1.len()
}

/// A buffer of small integers with a special element on both sides of a border, by its number.
pub fn at_border_of_tiles<T: Value>(number: usize) -> Vec<T> {
    let (length, borders) = borders_of_tiles::<T>();
    let special = T::special()[number / borders.len()];
    let mut random = Random::new(18 + number as u64);
    twice_at(
        &mut random,
        length,
        borders[number % borders.len()],
        special,
    )
}

/// Small integers with a special element twice, so that it ties with itself, before `border` and at it.
fn twice_at<T: Value>(random: &mut Random, length: usize, border: usize, special: T) -> Vec<T> {
    let mut elements: Vec<T> = (0..length).map(|_| T::small(random)).collect();
    elements[border - 1..=border].fill(special);
    elements
}

/// Fails unless both have the same bytes.
#[track_caller]
pub fn assert_same<O: Element + Debug>(found: O, expected: O, case: &str) {
    assert_eq!(
        bytes_of(&found),
        bytes_of(&expected),
        "{found:?} instead of {expected:?}, {case}"
    );
}
