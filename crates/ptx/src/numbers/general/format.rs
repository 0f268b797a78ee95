//! Formats of floating-point numbers, and roundings to them by LLVM's emulation.

use crate::words::{Rounding, Type};
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

/// A format of floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    F16,
    Bf16,
    F32,
    F64,
    E4m3,
    E5m2,
}

/// An expression with the emulation's type of a format.
macro_rules! with_format {
    ($format:expr, $number:ident => $value:expr) => {{
        use rustc_apfloat::ieee;
        use $crate::numbers::general::format::Format;
        match $format {
            Format::F16 => {
                type $number = ieee::Half;
                $value
            }
            Format::Bf16 => {
                type $number = ieee::BFloat;
                $value
            }
            Format::F32 => {
                type $number = ieee::Single;
                $value
            }
            Format::F64 => {
                type $number = ieee::Double;
                $value
            }
            Format::E4m3 => {
                type $number = ieee::Float8E4M3FN;
                $value
            }
            Format::E5m2 => {
                type $number = ieee::Float8E5M2;
                $value
            }
        }
    }};
}
pub(super) use with_format;

impl Format {
    /// The format of a type, and how many numbers it has.
    pub fn of(of: Type) -> Option<(Self, u32)> {
        Some(match of {
            Type::F16 => (Self::F16, 1),
            Type::F16x2 => (Self::F16, 2),
            Type::Bf16 => (Self::Bf16, 1),
            Type::Bf16x2 => (Self::Bf16, 2),
            Type::F32 => (Self::F32, 1),
            Type::F32x2 => (Self::F32, 2),
            Type::F64 => (Self::F64, 1),
            Type::E4m3x2 => (Self::E4m3, 2),
            Type::E5m2x2 => (Self::E5m2, 2),
            _ => return None,
        })
    }

    pub const fn bits(self) -> u32 {
        match self {
            Self::E4m3 | Self::E5m2 => 8,
            Self::F16 | Self::Bf16 => 16,
            Self::F32 => 32,
            Self::F64 => 64,
        }
    }

    pub const fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// The NaN that operations return.
    pub const fn nan(self) -> u64 {
        match self {
            Self::E4m3 | Self::E5m2 => 0x7f,
            Self::F16 | Self::Bf16 => 0x7fff,
            Self::F32 => 0x7fff_ffff,
            Self::F64 => 0x7ff8_0000_0000_0000,
        }
    }

    /// The number, which f64 has exactly.
    pub fn wide(self, slot: u64) -> f64 {
        let double = with_format!(self, N => {
            let exact: Double = N::from_bits(slot.into()).convert(&mut false).value;
            exact
        });
        f64::from_bits(double.to_bits() as u64)
    }

    /// The slot of the number next to `value` in this direction.
    pub fn narrow(self, value: f64, round: Round) -> u64 {
        if value.is_nan() {
            return self.nan();
        }
        let exact = Double::from_bits(value.to_bits().into());
        with_format!(self, N => {
            let rounded: N = exact.convert_r(round, &mut false).value;
            rounded.to_bits() as u64
        })
    }

    pub fn is_nan(self, slot: u64) -> bool {
        with_format!(self, N => N::from_bits(slot.into()).is_nan())
    }

    /// A subnormal number as a zero of its sign.
    pub fn flushed(self, slot: u64) -> u64 {
        match with_format!(self, N => N::from_bits(slot.into()).is_denormal()) {
            true => slot & self.sign(),
            false => slot,
        }
    }

    /// The largest finite number.
    pub fn largest(self) -> f64 {
        let bits = with_format!(self, N => N::largest().to_bits() as u64);
        self.wide(bits)
    }

    /// The smallest positive number that is not subnormal, as a slot.
    pub fn least_normal(self) -> u64 {
        with_format!(self, N => N::smallest_normalized().to_bits() as u64)
    }

    pub fn is_negative(self, slot: u64) -> bool {
        slot & self.sign() != 0
    }

    /// One, as a slot.
    pub fn one(self) -> u64 {
        self.narrow(1.0, Round::NearestTiesToEven)
    }
}

/// The direction of a rounding that is not to an integer.
pub(super) const fn direction(rounding: Option<Rounding>) -> Option<Round> {
    Some(match rounding {
        None | Some(Rounding::NearestEven) => Round::NearestTiesToEven,
        Some(Rounding::Zero) => Round::TowardZero,
        Some(Rounding::Up) => Round::TowardPositive,
        Some(Rounding::Down) => Round::TowardNegative,
        Some(Rounding::NearestAway) => Round::NearestTiesToAway,
        _ => return None,
    })
}

/// A type of the emulation.
pub(super) trait Emulated: Float + FloatConvert<Double> + Send + Sync + 'static {}

impl Emulated for Half {}
impl Emulated for BFloat {}
impl Emulated for Single {}
impl Emulated for Double {}
impl Emulated for Float8E4M3FN {}
impl Emulated for Float8E5M2 {}
