//! The two paths: chains of multiply-adds of equal length.

use cuda_std::float::Float;

/// Multiply-adds of each path.
pub const ROUNDS: u32 = 512;

/// Goes from `value` to (1 + 2^-10) `value` + 2^-10, [`ROUNDS`] times.
#[inline(always)]
#[track_caller]
pub fn grow(value: f32) -> f32 {
    const STEP: f32 = 1.0 / 1024.0;
    let mut value = value;
    let mut round = 0;
    while round < ROUNDS {
        value = Float::mul_add(value, 1.0 + STEP, STEP);
        round += 1;
    }
    value
}

/// Goes from `value` to 1.5 - `value`^2, [`ROUNDS`] times. From values in -1 to 1 it stays within
/// 1.5 of 0, and does not converge.
#[inline(always)]
#[track_caller]
pub fn wander(value: f32) -> f32 {
    let mut value = value;
    let mut round = 0;
    while round < ROUNDS {
        value = Float::mul_add(value, -value, 1.5);
        round += 1;
    }
    value
}
