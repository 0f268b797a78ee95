//! The inputs of reproducible sums.

use crate::common::exact::Expansion;
use crate::common::random::Random;
use bytemuck::bytes_of;
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::cuda_std::float::Float;
use tilewright::{Device, ReproducibleElement, ReproducibleSum};

/// A type to sum reproducibly.
pub trait Exact: ReproducibleElement<Sum: Into<f64>> + Into<f64> + Debug + PartialEq {
    const MAX: Self;
    const LEAST: Self;
    const NAN: Self;
    const INFINITY: Self;
    const NAN_OF_SUM: Self::Sum;
    const INFINITIES: [Self::Sum; 2];

    fn of(value: f64) -> Self;

    /// Any finite number whose sums do not overflow f64.
    fn any(random: &mut Random) -> Self;

    fn negative(self) -> Self;

    /// The exact sum as it has to be.
    fn rounded(sum: &Expansion) -> Self::Sum;
}

macro_rules! exact {
    ($($float:ident: $bits:ident, $of:expr, $sum:ident, $rounded:ident;)*) => {$(
        impl Exact for $float {
            const MAX: Self = <$float>::MAX;
            const LEAST: Self = <$float>::from_bits(1);
            const NAN: Self = <$float>::NAN;
            const INFINITY: Self = <$float>::INFINITY;
            const NAN_OF_SUM: $sum = <$sum as Float>::CANONICAL_NAN;
            const INFINITIES: [$sum; 2] = [$sum::INFINITY, $sum::NEG_INFINITY];

            fn of(value: f64) -> Self {
                $of(value)
            }

            fn any(random: &mut Random) -> Self {
                loop {
                    let float = <$float>::from_bits(random.bits() as $bits);
                    if f64::from(float).abs() < 1e300 {
                        return float;
                    }
                }
            }

            fn negative(self) -> Self {
                -self
            }

            fn rounded(sum: &Expansion) -> Self::Sum {
                sum.$rounded()
            }
        }
    )*};
}
exact! {
    f32: u32, |value| value as f32, f32, to_f32;
    f64: u64, |value| value, f64, to_f64;
    f16: u16, f16::from_f64, f32, to_f32;
    bf16: u16, bf16::from_f64, f32, to_f32;
}

/// A kind of data, each hard in its own way.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Numbers of one magnitude.
    Ordinary,
    /// Every finite number is as likely.
    Any,
    /// Large numbers that cancel, and small ones.
    Cancelling,
    /// Mostly numbers of one magnitude, and a huge or a tiny one here and there.
    Outliers,
    /// Ever larger numbers, which move every window.
    Rising,
    Subnormal,
}

pub const KINDS: [Kind; 6] = [
    Kind::Ordinary,
    Kind::Any,
    Kind::Cancelling,
    Kind::Outliers,
    Kind::Rising,
    Kind::Subnormal,
];

impl Kind {
    pub fn samples<T: Exact>(self, count: usize, seed: u64) -> Vec<T> {
        let mut random = Random::new(seed);
        let mut samples: Vec<T> = (0..count)
            .map(|index| match self {
                Self::Ordinary | Self::Cancelling => T::of(random.symmetric(50)),
                Self::Any | Self::Rising => T::any(&mut random),
                Self::Outliers if index % 997 == 996 => T::any(&mut random),
                Self::Outliers => T::of(random.symmetric(50)),
                Self::Subnormal => T::of(random.integer(-9..=9) as f64 * T::LEAST.into()),
            })
            .collect();
        match self {
            Self::Cancelling => {
                for at in (0..count.saturating_sub(2)).step_by(3) {
                    samples[at] = T::any(&mut random);
                    samples[at + 2] = samples[at].negative();
                }
            }
            Self::Rising => samples.sort_by(|left, right| {
                let magnitude = |x: &T| -> f64 { Into::<f64>::into(*x).abs() };
                magnitude(left).total_cmp(&magnitude(right))
            }),
            _ => {}
        }
        samples
    }
}

pub fn expected<T: Exact>(data: &[T]) -> T::Sum {
    let mut sum = Expansion::default();
    for &element in data {
        sum.add(element.into());
    }
    T::rounded(&sum)
}

/// The sum of `data` on `device`; the two calls agree.
pub fn sum_on<T: Exact>(device: &Device, data: &[T]) -> T::Sum {
    let x = device.upload(data).unwrap();
    let sum = device.reduce_sum_reproducible(&x).unwrap();
    assert_same(device.reproducible_sum(&x).unwrap().value(), sum);
    sum
}

pub fn state_on<T: Exact>(device: &Device, data: &[T]) -> ReproducibleSum<T> {
    let x = device.upload(data).unwrap();
    device.reproducible_sum(&x).unwrap()
}

/// Fails unless the bits are the same, those of NaN and zeros included.
#[track_caller]
pub fn assert_same<S: bytemuck::Pod + Debug>(found: S, expected: S) {
    assert_eq!(
        bytes_of(&found),
        bytes_of(&expected),
        "{found:?} instead of {expected:?}"
    );
}

pub fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.integer(0..=last as i64) as usize);
    }
}
