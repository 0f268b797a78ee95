//! The cases of all row operations: types, shapes and elements, and how far a result may be from f64.

use crate::common::random::Random;
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::{Element, RowElement};

/// Rows and their length: around vectors, lanes, the classes of rows and their blocks, vocabularies, parts, several sections.
pub const SHAPES: [(usize, usize); 28] = [
    (9, 1),
    (70, 2),
    (33, 4),
    (41, 7),
    (35, 31),
    (66, 32),
    (33, 33),
    (131, 64),
    (17, 128),
    (9, 129),
    (9, 255),
    (5, 257),
    (5, 1000),
    (6, 1023),
    (5, 1024),
    (2, 1025),
    (3, 4095),
    (2, 4096),
    (2, 4097),
    (2, 9001),
    (2, 16_385),
    (2, 32_768),
    (1, 32_769),
    (1, 50_257),
    (1, 65_537),
    (1, 131_072),
    (1, 200_003),
    (1, 262_144),
];

/// The unit roundoff of f32, in which all is computed.
pub const U: f64 = 1.0 / (1 << 24) as f64;

/// An element type of row operations.
pub trait Value: RowElement + Element + Debug + PartialEq {
    /// Half a unit in the last place, relative.
    const HALF_UNIT: f64;
    /// The smallest subnormal number.
    const SMALLEST: f64;

    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
    fn bits(self) -> u32;
}

macro_rules! values {
    ($($element:ident $half_unit:expr, $smallest:expr, $of:expr, $wide:expr;)*) => {$(
        impl Value for $element {
            const HALF_UNIT: f64 = $half_unit;
            const SMALLEST: f64 = $smallest;

            fn of(value: f64) -> Self {
                $of(value)
            }

            fn wide(self) -> f64 {
                $wide(self)
            }

            fn bits(self) -> u32 {
                u32::from(self.to_bits())
            }
        }
    )*};
}
values! {
    f32 0.0, 1.5e-45, |value| value as f32, f64::from;
    f16 1.0 / 2048.0, 6.0e-8, f16::from_f64, f64::from;
    bf16 1.0 / 256.0, 1.0e-40, bf16::from_f64, f64::from;
}

/// Elements of about the size of scores, some of them far below the rest.
pub fn scores<T: Value>(count: usize, seed: u64) -> Vec<T> {
    let mut random = Random::new(seed);
    let element = |_| {
        let score = 4.0 * random.signed_unit();
        let is_far = random.integer(0..=15) == 0;
        T::of(if is_far { 20.0 * score } else { score })
    };
    (0..count).map(element).collect()
}

/// Fails unless each of `found` is within `bound` of `expected`, apart from the rounding to the type.
#[track_caller]
pub fn assert_close<T: Value>(
    found: &[T],
    expected: &[f64],
    bound: impl Fn(usize) -> f64,
    case: &str,
) {
    assert_eq!(found.len(), expected.len(), "{case}");
    for (index, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let in_f32 = bound(index);
        let allowed = in_f32 + T::HALF_UNIT * (expected.abs() + in_f32) + T::SMALLEST;
        let error = (found.wide() - expected).abs();
        assert!(
            error <= allowed,
            "element {index}: {found:?} instead of {expected:e}, off by {error:e}, allowed {allowed:e}: {case}"
        );
    }
}

#[track_caller]
pub fn assert_same_bits<T: Value>(found: &[T], expected: &[T], case: &str) {
    assert_eq!(found.len(), expected.len(), "{case}");
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let same = found.bits() == expected.bits();
        assert!(
            same,
            "element {index}: {found:?} instead of {expected:?}: {case}"
        );
    }
}
