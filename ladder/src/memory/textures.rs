//! Launches on textures.

use super::{BLOCK_THREADS, module};
use tilewright::{Device, ErrorKind, LaunchConfig, Matrix, Result, Texture};
use tilewright_ladder_kernels::memory as kernels;

/// Writes a shifted texture to a matrix of the same shape: row `j` and column `i` get the value at
/// (`i + 0.5 + shift.0`, `j + 0.5 + shift.1`).
///
/// # Errors
/// [`ErrorKind::ShapeMismatch`](tilewright::ErrorKind::ShapeMismatch) if `y` has another shape;
/// [`ErrorKind::TooLarge`](tilewright::ErrorKind::TooLarge) if there are 2^31 elements or more; and
/// those of [`Module::launch`](tilewright::Module::launch).
pub fn shift_texture(
    device: &Device,
    texture: &Texture<2>,
    shift: (f32, f32),
    y: &mut Matrix<f32>,
) -> Result<()> {
    let [columns, rows] = texture.extent();
    let config = LaunchConfig::for_elements(y.as_buffer().len(), BLOCK_THREADS);
    let width = check_picture("ladder::memory::shift_texture", (rows, columns), y)?;
    let scale = |extent: usize| match texture.options().normalised_coordinates {
        true => 1.0 / extent as f32,
        false => 1.0,
    };
    let (scale_x, scale_y) = (scale(columns), scale(rows));
    let arguments = (texture, width, shift.0, shift.1, scale_x, scale_y, y);
    module(device)?.launch(kernels::memory_texture, config, arguments)
}

/// [`shift_texture`] by hand, for a matrix: linear interpolation, and the nearest element outside.
///
/// # Errors
/// Those of [`shift_texture`].
pub fn shift_by_hand(
    device: &Device,
    x: &Matrix<f32>,
    shift: (f32, f32),
    y: &mut Matrix<f32>,
) -> Result<()> {
    let columns = check_picture("ladder::memory::shift_by_hand", x.shape(), y)?;
    if x.as_buffer().is_empty() {
        return Ok(());
    }
    let config = LaunchConfig::for_elements(x.as_buffer().len(), BLOCK_THREADS);
    let arguments = (x, columns, shift.0, shift.1, y);
    // SAFETY: `x` has whole rows, at least one and fewer than 2^31 elements.
    unsafe { module(device)?.launch_unsafe(kernels::memory_interpolated, config, arguments) }
}

/// The number of columns, if `y` has the picture's shape and the kernels can count its elements.
fn check_picture(
    operation: &'static str,
    (rows, columns): (usize, usize),
    y: &Matrix<f32>,
) -> Result<u32> {
    if y.shape() != (rows, columns) {
        return Err(ErrorKind::ShapeMismatch {
            operands: ["the operand", "the result"],
            left: (rows, columns),
            right: y.shape(),
            rule: "the result has the shape of the operand",
        }
        .during(operation));
    }
    let is_small = rows * columns <= i32::MAX as usize;
    let columns = u32::try_from(columns).ok().filter(|_| is_small);
    columns.ok_or_else(|| {
        ErrorKind::TooLarge {
            what: format!("a picture of {rows} rows and {} columns", y.shape().1),
            remedy: "it can have fewer than 2^31 elements",
        }
        .during(operation)
    })
}
