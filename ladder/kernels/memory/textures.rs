//! Textures: a picture is shifted by a part of an element.
//!
//! ```text
//! y[row][column] = x at (column + shift_x, row + shift_y)
//! ```
//!
//! Step: the texture unit interpolates and answers outside of the picture; by hand it is four
//! loads, four comparisons and three multiplications with additions for each element.
//!
//! Prediction: both read each element once from DRAM, so both are bound by it; the texture unit
//! saves instructions.

use cuda_std::prelude::*;

/// The calling thread's column and row, as a texture has its centre at.
#[inline(always)]
fn centre(columns: u32) -> (f32, f32) {
    let index = thread::index_1d();
    let (column, row) = (index % columns, index / columns);
    (column as f32 + 0.5, row as f32 + 0.5)
}

/// Reads the texture at each element of `y`, rows of `columns` elements, after a shift; places are
/// multiplied by `scale_x` and `scale_y`, for normalised coordinates.
#[kernel(max_threads = 256)]
pub fn memory_texture(
    texture: Texture2d,
    columns: u32,
    shift_x: f32,
    shift_y: f32,
    scale_x: f32,
    scale_y: f32,
    y: GlobalMut<f32>,
) {
    let own = thread::unique_index();
    if columns == 0 {
        return;
    }
    let (column, row) = centre(columns);
    if let Some(y) = y.own(own) {
        y.set(texture.sample((column + shift_x) * scale_x, (row + shift_y) * scale_y));
    }
}

/// The same by hand: linear between the elements of `x`, and the nearest element outside.
///
/// # Safety
/// 1. `x` has whole rows of `columns` elements, at least one and fewer than 2^31 elements.
#[kernel(max_threads = 256)]
pub unsafe fn memory_interpolated(
    x: Global<f32>,
    columns: u32,
    shift_x: f32,
    shift_y: f32,
    y: GlobalMut<f32>,
) {
    let (column, row) = centre(columns);
    let (left, right, a) = neighbours(column + shift_x, columns);
    let (above, below, b) = neighbours(row + shift_y, x.len() as u32 / columns);
    let element = |row: u32, column: u32| {
        // SAFETY: (1) `neighbours` leaves no row and no column of `x`.
        unsafe { x.load((row * columns + column) as usize) }
    };
    if let Some(y) = y.own(thread::unique_index()) {
        let upper = between(element(above, left), element(above, right), a);
        let lower = between(element(below, left), element(below, right), a);
        y.set(between(upper, lower, b));
    }
}

/// The two elements of `extent` next to a place, and the weight of the second.
#[inline(always)]
fn neighbours(place: f32, extent: u32) -> (u32, u32, f32) {
    let place = place - 0.5;
    let first = floor(place);
    let clamped = |index: i32| (index.max(0) as u32).min(extent - 1);
    (clamped(first), clamped(first + 1), place - first as f32)
}

/// The largest integer that is not above `value`, which is one of few digits.
#[inline(always)]
fn floor(value: f32) -> i32 {
    let truncated = value as i32;
    truncated - i32::from(truncated as f32 > value)
}

#[inline(always)]
fn between(first: f32, second: f32, weight: f32) -> f32 {
    (1.0 - weight) * first + weight * second
}
