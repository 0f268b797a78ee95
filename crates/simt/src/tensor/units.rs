//! The instructions of each chip.

use super::double::DoubleUnit;
use super::emulated::EmulatedUnit;
use super::float::FloatUnit;
use super::format::Format;
use super::integer::{IntegerUnit, Overflow};
use super::rounding::Rounding;

/// The bits of a NaN result in `f32`.
const NAN_F32: u32 = 0x7fff_ffff;
/// The bits of a NaN result in `f16`.
const NAN_F16: u32 = 0x7fff;

/// The lowest exponent to which terms are aligned. If all terms have lower ones, bits below 2^-158
/// are cut off.
const LOWEST_ALIGNMENT: i32 = -133;

/// A unit with accumulators in `f32`, truncated.
const fn to_f32(operands: Format, step: usize, term_bits: u32) -> FloatUnit {
    FloatUnit {
        a: operands,
        b: operands,
        accumulator: Format::F32,
        step,
        term_bits,
        lowest_alignment: LOWEST_ALIGNMENT,
        result_bits: 23,
        rounding: Rounding::TowardZero,
        nan: NAN_F32,
    }
}

/// A unit with accumulators in `f16`, rounded to nearest.
const fn to_f16(operands: Format, step: usize, term_bits: u32) -> FloatUnit {
    FloatUnit {
        accumulator: Format::F16,
        result_bits: 10,
        rounding: Rounding::ToNearest,
        nan: NAN_F16,
        ..to_f32(operands, step, term_bits)
    }
}

/// Products of `wgmma.mma_async` on compute capability 9.0.
pub mod wgmma {
    use super::*;

    /// `m64nNk16.f32.f16.f16`.
    pub const F16: FloatUnit = to_f32(Format::F16, 16, 25);
    /// `m64nNk16.f16.f16.f16`.
    pub const F16_TO_F16: FloatUnit = to_f16(Format::F16, 16, 25);
    /// `m64nNk16.f32.bf16.bf16`.
    pub const BF16: FloatUnit = to_f32(Format::BF16, 16, 25);
    /// `m64nNk8.f32.tf32.tf32`.
    pub const TF32: FloatUnit = to_f32(Format::TF32, 8, 25);
    /// `m64nNk32.f16.e4m3.e4m3`; other pairs of 8-bit formats by [`FloatUnit::of`].
    pub const E4M3_TO_F16: FloatUnit = to_f16(Format::E4M3, 32, 13);
    /// `m64nNk32.f32.e4m3.e4m3`; other pairs of 8-bit formats by [`FloatUnit::of`].
    pub const E4M3: FloatUnit = FloatUnit {
        result_bits: 13,
        ..to_f32(Format::E4M3, 32, 13)
    };
    /// `m64nNk32.f32.e5m2.e5m2`.
    pub const E5M2: FloatUnit = E4M3.of(Format::E5M2, Format::E5M2);
}

/// Products of `mma.sync` on one generation of chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpUnits {
    /// `m16n8k8` and `m16n8k16`, `.f32.f16.f16.f32`.
    pub f16: FloatUnit,
    /// `m16n8k8` and `m16n8k16`, `.f16.f16.f16.f16`.
    pub f16_to_f16: FloatUnit,
    /// `m16n8k8` and `m16n8k16`, `.f32.bf16.bf16.f32`.
    pub bf16: FloatUnit,
    /// `m16n8k4` and `m16n8k8`, `.f32.tf32.tf32.f32`.
    pub tf32: FloatUnit,
}

impl WarpUnits {
    /// Compute capability 8.0 to 8.9. Not measured: as published (see the module).
    pub const SM_80: Self = Self::of(8, 24);
    /// Compute capability 9.0; published for 10.0 and 12.0, too.
    pub const SM_90: Self = Self::of(16, 25);

    /// The units of a chip, by the major number of its compute capability.
    #[must_use]
    pub const fn of_compute_capability(major: u32) -> Self {
        if major >= 9 { Self::SM_90 } else { Self::SM_80 }
    }

    const fn of(step: usize, term_bits: u32) -> Self {
        Self {
            f16: to_f32(Format::F16, step, term_bits),
            f16_to_f16: to_f16(Format::F16, step, term_bits),
            bf16: to_f32(Format::BF16, step, term_bits),
            tf32: to_f32(Format::TF32, step / 2, term_bits),
        }
    }
}

impl EmulatedUnit {
    /// `m16n8k32.f32.e4m3.e4m3.f32`.
    pub const E4M3: Self = Self::of(WIDENED, WIDENED);
    /// `m16n8k32.f32.e5m2.e5m2.f32`.
    pub const E5M2: Self = Self::of(Format::E5M2, Format::E5M2);
    /// `m16n8k32.f32.e4m3.e5m2.f32`.
    pub const E4M3_E5M2: Self = Self::of(WIDENED, Format::E5M2);

    const fn of(a: Format, b: Format) -> Self {
        Self {
            unit: WarpUnits::SM_90.f16.of(a, b),
        }
    }
}

/// In `f16`, a subnormal number of `e4m3` is a normal one; that of `e5m2` stays subnormal.
const WIDENED: Format = Format::E4M3.widened();

/// `.s32.s8.s8.s32` on every chip.
pub const S8: IntegerUnit = IntegerUnit {
    a_signed: true,
    b_signed: true,
    overflow: Overflow::Wrap,
};
/// `.s32.u8.u8.s32` on every chip.
pub const U8: IntegerUnit = IntegerUnit {
    a_signed: false,
    b_signed: false,
    ..S8
};
/// `.f64.f64.f64.f64` in every shape.
pub const F64: DoubleUnit = DoubleUnit;
