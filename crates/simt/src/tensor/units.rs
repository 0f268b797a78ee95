//! The instructions of each chip.

use super::double::DoubleUnit;
use super::emulated::EmulatedUnit;
use super::float::FloatUnit;
use super::format::Format;
use super::integer::{IntegerUnit, Overflow};
use super::rounding::Rounding;

/// The bits of a result in `f32` that is not a number.
const NAN_F32: u32 = 0x7fff_ffff;
/// The bits of a result in `f16` that is not a number.
const NAN_F16: u32 = 0x7fff;

/// The lowest exponent that terms are aligned to, whatever their own: where they are smaller, bits
/// below 2^-158 are cut off.
const LOWEST_ALIGNMENT: i32 = -133;

/// A unit with accumulators in `f32`, cut off.
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

/// Products of `mma.sync` on compute capability 9.0.
pub mod mma_sm_90 {
    use super::*;

    /// `m16n8k8` and `m16n8k16`, `.f32.f16.f16.f32`.
    pub const F16: FloatUnit = to_f32(Format::F16, 16, 25);
    /// `m16n8k8` and `m16n8k16`, `.f16.f16.f16.f16`.
    pub const F16_TO_F16: FloatUnit = to_f16(Format::F16, 16, 25);
    /// `m16n8k8` and `m16n8k16`, `.f32.bf16.bf16.f32`.
    pub const BF16: FloatUnit = to_f32(Format::BF16, 16, 25);
    /// `m16n8k4` and `m16n8k8`, `.f32.tf32.tf32.f32`.
    pub const TF32: FloatUnit = to_f32(Format::TF32, 8, 25);
    /// `m16n8k32.f32.e4m3.e4m3.f32`.
    pub const E4M3: EmulatedUnit = fp8(WIDENED, WIDENED);
    /// `m16n8k32.f32.e5m2.e5m2.f32`.
    pub const E5M2: EmulatedUnit = fp8(Format::E5M2, Format::E5M2);
    /// `m16n8k32.f32.e4m3.e5m2.f32`.
    pub const E4M3_E5M2: EmulatedUnit = fp8(WIDENED, Format::E5M2);

    /// In `f16`, a subnormal number of `e4m3` is a normal one; that of `e5m2` stays subnormal.
    const WIDENED: Format = Format::E4M3.widened();

    const fn fp8(a: Format, b: Format) -> EmulatedUnit {
        EmulatedUnit { unit: F16.of(a, b) }
    }
}

/// Products of `mma.sync` on compute capability 8.0. Not measured: as published (see the module).
pub mod mma_sm_80 {
    use super::*;

    /// `m16n8k8` and `m16n8k16`, `.f32.f16.f16.f32`.
    pub const F16: FloatUnit = to_f32(Format::F16, 8, 24);
    /// `m16n8k8` and `m16n8k16`, `.f16.f16.f16.f16`.
    pub const F16_TO_F16: FloatUnit = to_f16(Format::F16, 8, 24);
    /// `m16n8k8` and `m16n8k16`, `.f32.bf16.bf16.f32`.
    pub const BF16: FloatUnit = to_f32(Format::BF16, 8, 24);
    /// `m16n8k4` and `m16n8k8`, `.f32.tf32.tf32.f32`.
    pub const TF32: FloatUnit = to_f32(Format::TF32, 4, 24);
}

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
