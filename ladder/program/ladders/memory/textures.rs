//! The section on textures.

use super::super::case::{Case, Scale};
use super::work::{CHECKED, Work, bytes, compare};
use crate::support::Outcome;
use tilewright::{AddressMode, Device, Matrix, Texture, TextureFilter, TextureOptions};
use tilewright_ladder::memory;

/// A shift that is exact in 8-bit weights.
const SHIFT: (f32, f32) = (0.25, 0.375);

struct Picture<S> {
    device: Device,
    source: S,
    options: TextureOptions,
    x: Vec<f32>,
    y: Matrix<f32>,
}

/// A square picture of small integers, and its side, a power of two, so that normalised coordinates
/// are exact.
fn picture(scale: Scale) -> (usize, Vec<f32>) {
    let side = scale.pick(4096, 64);
    let x = (0..side * side).map(|i| (i % 17) as f32).collect();
    (side, x)
}

pub fn textures() -> Vec<Case> {
    let linear = TextureOptions::default().with_filter(TextureFilter::Linear);
    let by_hand = move |device: &Device, scale: Scale| {
        let (side, x) = picture(scale);
        Ok(Work {
            work: 2.0 * bytes::<f32>(x.len()),
            state: Picture {
                device: device.clone(),
                source: device.matrix((side, side), &x)?,
                options: linear,
                x,
                y: device.matrix_zeros((side, side))?,
            },
            launch: |it| memory::shift_by_hand(&it.device, &it.source, SHIFT, &mut it.y),
            check: check_picture,
        })
    };
    let change = "four loads from global memory, linear between them";
    let mut cases = vec![Case::new("by hand", change, by_hand)];
    for (filter, filter_name) in [
        (TextureFilter::Point, "point"),
        (TextureFilter::Linear, "linear"),
    ] {
        for (mode, mode_name) in [
            (AddressMode::Clamp, "clamp"),
            (AddressMode::Wrap, "wrap"),
            (AddressMode::Mirror, "mirror"),
            (AddressMode::Border, "border"),
        ] {
            let options = TextureOptions::default()
                .with_filter(filter)
                .with_address_mode(mode)
                .with_normalised_coordinates(true);
            let prepare = move |device: &Device, scale: Scale| by_texture(device, scale, options);
            let name = format!("texture, {filter_name}, {mode_name}");
            cases.push(Case::new(name, "the texture unit does it", prepare));
        }
    }
    cases
}

fn by_texture(
    device: &Device,
    scale: Scale,
    options: TextureOptions,
) -> Outcome<Work<Picture<Texture<2>>>> {
    let (side, x) = picture(scale);
    Ok(Work {
        work: 2.0 * bytes::<f32>(x.len()),
        state: Picture {
            device: device.clone(),
            source: device.texture_2d(side, side, &x, options)?,
            options,
            x,
            y: device.matrix_zeros((side, side))?,
        },
        launch: |it| memory::shift_texture(&it.device, &it.source, SHIFT, &mut it.y),
        check: check_picture,
    })
}

fn check_picture<S>(picture: &mut Picture<S>) -> Outcome {
    let y = picture.y.to_vec()?;
    let side = picture.y.rows();
    // A sample of all elements, and the last row and column, whose neighbours are outside.
    let last_column = (1..=side).map(|row| row * side - 1);
    let places = (0..y.len()).step_by(CHECKED).chain(last_column);
    let places = places.chain((side - 1) * side..side * side);
    compare(
        &y,
        places.map(|place| (place, shifted(picture, side, place))),
    )
}

/// The value at `place` after [`SHIFT`], which leaves the picture only on two sides.
fn shifted<S>(picture: &Picture<S>, side: usize, place: usize) -> f32 {
    let outside = |index: usize| match picture.options.address_mode {
        _ if index < side => Some(index),
        AddressMode::Clamp | AddressMode::Mirror => Some(side - 1),
        AddressMode::Wrap => Some(0),
        AddressMode::Border => None,
    };
    let element = |row: usize, column: usize| match (outside(row), outside(column)) {
        (Some(row), Some(column)) => picture.x[row * side + column],
        _ => 0.0,
    };
    let (row, column) = (place / side, place % side);
    if picture.options.filter == TextureFilter::Point {
        return element(row, column);
    }
    let (a, b) = SHIFT;
    let of_row = |row| (1.0 - a) * element(row, column) + a * element(row, column + 1);
    (1.0 - b) * of_row(row) + b * of_row(row + 1)
}
