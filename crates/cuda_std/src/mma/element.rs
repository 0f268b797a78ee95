//! Element types and the registers that hold them.

use crate::warp::{LaneValue, sealed};
use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};

/// An `f32` that tensor cores read as tf32: sign, exponent and the first 10 bits of the fraction.
///
/// The low 13 bits are truncated, not rounded.
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Tf32(pub f32);

impl sealed::LaneValue for Tf32 {}

impl LaneValue for Tf32 {
    #[inline(always)]
    fn to_lane_bits(self) -> u64 {
        self.0.to_lane_bits()
    }

    #[inline(always)]
    fn from_lane_bits(bits: u64) -> Self {
        Self(f32::from_lane_bits(bits))
    }
}

/// An element type of `ROWS` x `COLUMNS` fragments. This crate alone implements it.
#[diagnostic::on_unimplemented(
    message = "no tensor-core fragment holds {ROWS} x {COLUMNS} elements of type `{Self}`",
    note = "the documentation of `cuda_std::mma` lists the shapes"
)]
pub trait Element<const ROWS: usize, const COLUMNS: usize>: LaneValue {
    /// A lane's registers for the matrix.
    #[doc(hidden)]
    type Registers: Registers;
}

/// A lane's registers for a fragment.
#[doc(hidden)]
pub trait Registers: Copy + core::fmt::Debug + 'static {
    /// Bytes of one register.
    const BYTES: usize;

    fn zeroed() -> Self;
    fn bits(&self, register: usize) -> u64;
    fn set_bits(&mut self, register: usize, bits: u64);
}

impl<R: LaneValue + core::fmt::Debug, const COUNT: usize> Registers for [R; COUNT] {
    const BYTES: usize = size_of::<R>();

    #[inline(always)]
    fn zeroed() -> Self {
        [R::zeroed(); COUNT]
    }

    #[inline(always)]
    fn bits(&self, register: usize) -> u64 {
        self[register].to_lane_bits()
    }

    #[inline(always)]
    fn set_bits(&mut self, register: usize, bits: u64) {
        self[register] = R::from_lane_bits(bits);
    }
}

macro_rules! elements {
    ($($element:ty: $($rows:literal x $columns:literal in [$register:ty; $count:literal]),*;)*) => {$($(
        impl Element<$rows, $columns> for $element {
            type Registers = [$register; $count];
        }

        const _: () = assert!(
            $rows * $columns * size_of::<$element>() == 32 * $count * size_of::<$register>(),
            "the registers of 32 lanes hold the matrix"
        );
    )*)*};
}
elements! {
    f16: 8 x 8 in [u32; 1], 16 x 8 in [u32; 2], 16 x 16 in [u32; 4];
    bf16: 8 x 8 in [u32; 1], 16 x 8 in [u32; 2], 16 x 16 in [u32; 4];
    Tf32: 4 x 8 in [u32; 1], 8 x 8 in [u32; 2], 16 x 4 in [u32; 2], 16 x 8 in [u32; 4];
    i8: 8 x 16 in [u32; 1], 16 x 8 in [u32; 1], 16 x 16 in [u32; 2], 32 x 8 in [u32; 2],
        16 x 32 in [u32; 4];
    u8: 8 x 16 in [u32; 1], 16 x 8 in [u32; 1], 16 x 16 in [u32; 2], 32 x 8 in [u32; 2],
        16 x 32 in [u32; 4];
    i32: 8 x 8 in [i32; 2], 16 x 8 in [i32; 4];
    f32: 16 x 8 in [f32; 4];
    f64: 8 x 4 in [f64; 1], 4 x 8 in [f64; 1], 8 x 8 in [f64; 2], 16 x 4 in [f64; 2],
        16 x 8 in [f64; 4], 16 x 16 in [f64; 8];
}

/// Elements that one register holds.
pub(super) const fn per_register<T, R: Registers>() -> usize {
    R::BYTES / size_of::<T>()
}
