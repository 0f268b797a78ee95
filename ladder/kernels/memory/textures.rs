//! Textures: shifts a picture by a fraction of an element.
//!
//! ```text
//! y[row][column] = x at (column + shift_x, row + shift_y)
//! ```
//!
//! Step: the texture unit interpolates, and handles coordinates outside the picture. By hand that
//! is four loads, four comparisons and three multiply-adds for each element.
//!
//! Prediction: both read each element once from DRAM, and are bound by it. The texture unit saves
//! instructions.

use cuda_std::prelude::*;

/// The centre of the calling thread's element, in texture coordinates.
#[inline(always)]
fn centre(columns: u32) -> (f32, f32) {
    let index = thread::index_1d();
    let (column, row) = (index % columns, index / columns);
    (column as f32 + 0.5, row as f32 + 0.5)
}

/// Samples the texture, shifted, for each element of `y`, which has rows of `columns` elements.
/// Coordinates are multiplied by `scale_x` and `scale_y`, for normalised coordinates.
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

/// [`memory_texture`] by hand: linear interpolation in `x`, and the nearest element outside.
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
        // SAFETY: `neighbours` returns rows and columns of `x`, which has whole rows: the caller's
        // contract.
        unsafe { x.load((row * columns + column) as usize) }
    };
    if let Some(y) = y.own(thread::unique_index()) {
        let upper = between(element(above, left), element(above, right), a);
        let lower = between(element(below, left), element(below, right), a);
        y.set(between(upper, lower, b));
    }
}

/// The two indices below `extent` next to a coordinate, and the weight of the second.
#[inline(always)]
fn neighbours(place: f32, extent: u32) -> (u32, u32, f32) {
    let place = place - 0.5;
    let first = floor(place);
    let clamped = |index: i32| (index.max(0) as u32).min(extent - 1);
    (clamped(first), clamped(first + 1), place - first as f32)
}

/// The largest integer not above `value`, which must fit an i32.
#[inline(always)]
fn floor(value: f32) -> i32 {
    let truncated = value as i32;
    truncated - i32::from(truncated as f32 > value)
}

#[inline(always)]
fn between(first: f32, second: f32, weight: f32) -> f32 {
    (1.0 - weight) * first + weight * second
}
