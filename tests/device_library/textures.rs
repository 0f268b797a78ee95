//! Textures against their definition in f64.
//!
//! The bound: with linear filtering the weight of each dimension is within 2^-8 of the exact one
//! (its 8 bits after the point, rounded or cut off), so a value is within 2^-8 of the exact one
//! times the difference of its neighbours, and those that the place may be taken to lie between.

use crate::{launch, machines, numbers, output, upload};
use cuda_std_test_kernels::textures as kernels;
use tilewright::{
    AddressMode, Device, Error, ErrorKind, LaunchConfig, Texel, TextureFilter, TextureOptions,
};
use tilewright_test_support::assert_kind;

const MODES: [AddressMode; 4] = [
    AddressMode::Clamp,
    AddressMode::Wrap,
    AddressMode::Mirror,
    AddressMode::Border,
];

/// One unit of a weight with 8 bits after the point.
const WEIGHT_UNIT: f64 = 1.0 / 256.0;

/// Half a unit of f32, for the rounding of the result and of an 8-bit element.
const HALF_UNIT: f64 = f32::EPSILON as f64 / 2.0;

/// A texture as its definition has it.
struct Reference<'a> {
    texels: &'a [f64],
    /// Columns and rows.
    extent: (usize, usize),
    options: TextureOptions,
}

/// A value, and how far a device's may be from it.
#[derive(Clone, Copy, Debug)]
struct Bounded {
    value: f64,
    error: f64,
}

impl Reference<'_> {
    fn texel(&self, column: i64, row: i64) -> f64 {
        let (width, height) = (self.extent.0 as i64, self.extent.1 as i64);
        let column = address(self.options.address_mode, column, width);
        let row = if height == 1 {
            Some(0)
        } else {
            address(self.options.address_mode, row, height)
        };
        match (column, row) {
            (Some(column), Some(row)) => self.texels[row * self.extent.0 + column],
            _ => 0.0,
        }
    }

    fn place(&self, coordinate: f32, extent: usize) -> f64 {
        if self.options.normalised_coordinates {
            f64::from(coordinate) * extent as f64
        } else {
            f64::from(coordinate)
        }
    }

    fn at(&self, x: f32, y: f32) -> Bounded {
        let (x, y) = (self.place(x, self.extent.0), self.place(y, self.extent.1));
        if self.options.filter == TextureFilter::Point {
            let value = self.texel(x.floor() as i64, y.floor() as i64);
            return Bounded {
                value,
                error: HALF_UNIT * value.abs(),
            };
        }
        let is_flat = self.extent.1 == 1;
        let (x, y) = (x - 0.5, if is_flat { 0.0 } else { y - 0.5 });
        let (column, row) = (x.floor() as i64, y.floor() as i64);
        let (a, b) = (x - x.floor(), y - y.floor());
        let row_value = |row| (1.0 - a) * self.texel(column, row) + a * self.texel(column + 1, row);
        let value = if is_flat {
            row_value(0)
        } else {
            (1.0 - b) * row_value(row) + b * row_value(row + 1)
        };
        // A weight may also be rounded past a texel's centre: so one more texel on each side.
        let rows = if is_flat { 0..1 } else { row - 1..row + 3 };
        let around: Vec<f64> = rows
            .flat_map(|row| (column - 1..column + 3).map(move |column| (column, row)))
            .map(|(column, row)| self.texel(column, row))
            .collect();
        let least = around.iter().copied().fold(f64::INFINITY, f64::min);
        let most = around.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let dimensions = if is_flat { 1.0 } else { 2.0 };
        let largest = least.abs().max(most.abs());
        // Four products and three sums of f32, and an 8-bit element's own rounding.
        let error = dimensions * WEIGHT_UNIT * (most - least) + 8.0 * HALF_UNIT * largest;
        Bounded { value, error }
    }
}

fn address(mode: AddressMode, index: i64, extent: i64) -> Option<usize> {
    let period = index.rem_euclid(2 * extent);
    let index = match mode {
        AddressMode::Clamp => index.max(0).min(extent - 1),
        AddressMode::Wrap => period % extent,
        AddressMode::Mirror if period >= extent => 2 * extent - 1 - period,
        AddressMode::Mirror => period,
        AddressMode::Border if index < 0 || index >= extent => return None,
        AddressMode::Border => index,
    };
    Some(index as usize)
}

/// All filters and modes that go with coordinates of both kinds.
fn all_options() -> Vec<TextureOptions> {
    let mut all = Vec::new();
    for filter in [TextureFilter::Point, TextureFilter::Linear] {
        for mode in MODES {
            for normalised in [false, true] {
                let repeats = matches!(mode, AddressMode::Wrap | AddressMode::Mirror);
                if normalised || !repeats {
                    all.push(
                        TextureOptions::default()
                            .with_filter(filter)
                            .with_address_mode(mode)
                            .with_normalised_coordinates(normalised),
                    );
                }
            }
        }
    }
    all
}

/// Places inside and up to one and a half textures outside. For point filtering they keep off
/// the edges between cells, where a product of a normalised coordinate may round to either side.
fn places(seed: u64, extent: usize, options: TextureOptions, count: usize) -> Vec<f32> {
    let steps = 4 * extent as u64 * 256;
    numbers(seed)
        .take(count)
        .map(|number| {
            let step = number % steps;
            let step = match options.filter {
                TextureFilter::Point => step / 256 * 256 + 16 + step % 224,
                TextureFilter::Linear => step,
            };
            // Odd places, too: not only multiples of the weights' unit.
            let fraction = ((number >> 32) % 64) as f64 / 64.0;
            let place = (step as f64 + fraction) / 256.0 - 1.5 * extent as f64;
            match options.normalised_coordinates {
                true => (place / extent as f64) as f32,
                false => place as f32,
            }
        })
        .collect()
}

fn check(device: &Device, what: &str, got: &[f32], expected: impl Iterator<Item = Bounded>) {
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        let difference = (f64::from(*got) - expected.value).abs();
        assert!(
            difference <= expected.error,
            "on {}: {what}, place {i}: {got}, and {expected:?} is right",
            device.name()
        );
    }
}

fn check_1d<T: Texel>(texels: &[T], value: impl Fn(T) -> f64) {
    let values: Vec<f64> = texels.iter().map(|texel| value(*texel)).collect();
    let extent = (texels.len(), 1);
    for device in machines() {
        for options in all_options() {
            let reference = Reference {
                texels: &values,
                extent,
                options,
            };
            let x = places(1, extent.0, options, 500);
            let texture = device.texture_1d(texels, options).unwrap();
            assert_eq!(texture.extent(), [texels.len()]);
            let mut out = output::<f32>(&device, x.len());
            let config = LaunchConfig::for_elements(x.len(), 128);
            let arguments = (&texture, &upload(&device, &x), &mut out);
            launch(&device, kernels::sample_1d, config, arguments);
            let expected = x.iter().map(|x| reference.at(*x, 0.0));
            check(
                &device,
                &format!("{options:?}"),
                &out.to_vec().unwrap(),
                expected,
            );
        }
    }
}

fn check_2d<T: Texel>((width, height): (usize, usize), texels: &[T], value: impl Fn(T) -> f64) {
    let values: Vec<f64> = texels.iter().map(|texel| value(*texel)).collect();
    let extent = (width, height);
    for device in machines() {
        for options in all_options() {
            let reference = Reference {
                texels: &values,
                extent,
                options,
            };
            let x = places(2, width, options, 500);
            let y = places(3, height, options, 500);
            let texture = device.texture_2d(width, height, texels, options).unwrap();
            assert_eq!(texture.extent(), [width, height]);
            let mut out = output::<f32>(&device, x.len());
            let config = LaunchConfig::for_elements(x.len(), 128);
            // Half of twice a number is the number.
            let doubled: Vec<f32> = y.iter().map(|y| 2.0 * y).collect();
            let (x_there, y_there) = (upload(&device, &x), upload(&device, &doubled));
            let arguments = (0.5_f32, &texture, &x_there, &y_there, &mut out);
            launch(&device, kernels::sample_2d, config, arguments);
            let expected = x.iter().zip(&y).map(|(x, y)| reference.at(*x, *y));
            check(
                &device,
                &format!("{options:?}"),
                &out.to_vec().unwrap(),
                expected,
            );
        }
    }
}

fn random_f32(count: usize) -> Vec<f32> {
    numbers(7)
        .take(count)
        .map(|number| (number % 20_001) as f32 / 100.0 - 100.0)
        .collect()
}

fn random_u8(count: usize) -> Vec<u8> {
    numbers(8).take(count).map(|number| number as u8).collect()
}

#[test]
fn one_dimension_of_f32() {
    check_1d(&random_f32(17), f64::from);
    check_1d(&random_f32(1), f64::from);
}

#[test]
fn one_dimension_of_integers_read_as_numbers_up_to_1() {
    check_1d(&random_u8(64), |texel| f64::from(texel) / 255.0);
}

#[test]
fn two_dimensions_of_f32() {
    check_2d((13, 6), &random_f32(13 * 6), f64::from);
}

#[test]
fn two_dimensions_of_integers_read_as_numbers_up_to_1() {
    check_2d((8, 31), &random_u8(8 * 31), |texel| {
        f64::from(texel) / 255.0
    });
}

/// Where every weight has at most 8 bits after the point, nothing is rounded: small integers come
/// out exactly.
#[test]
fn weights_of_eight_bits_are_exact() {
    let texels: Vec<f32> = (0..32).map(|i| ((i * 7) % 17) as f32 - 8.0).collect();
    let options = TextureOptions::default().with_filter(TextureFilter::Linear);
    let x: Vec<f32> = (128..31 * 256 + 128).map(|i| i as f32 / 256.0).collect();
    for device in machines() {
        let texture = device.texture_1d(&texels, options).unwrap();
        let mut out = output::<f32>(&device, x.len());
        let config = LaunchConfig::for_elements(x.len(), 128);
        let arguments = (&texture, &upload(&device, &x), &mut out);
        launch(&device, kernels::sample_1d, config, arguments);
        for (x, got) in x.iter().zip(out.to_vec().unwrap()) {
            let place = x - 0.5;
            let (first, rest) = (place.floor() as usize, place - place.floor());
            let exact = (1.0 - rest) * texels[first] + rest * texels[(first + 1).min(31)];
            assert_eq!(got, exact, "on {} at {x}", device.name());
        }
    }
}

#[test]
fn textures_that_there_are_not_are_refused() {
    for device in machines() {
        let wrap = TextureOptions::default().with_address_mode(AddressMode::Wrap);
        let error = device.texture_1d(&[1.0_f32; 4], wrap).unwrap_err();
        assert_kind!(error is ErrorKind::InvalidTexture { .. });
        assert_eq!(error.operation(), "texture_1d");
        let options = TextureOptions::default();
        let error = device.texture_2d::<u8>(0, 3, &[], options).unwrap_err();
        assert_kind!(error is ErrorKind::InvalidTexture { .. });
        assert_eq!(error.operation(), "texture_2d");
        let error = device.texture_2d(2, 3, &[1_u8; 5], options).unwrap_err();
        assert_kind!(error is ErrorKind::WrongLength { expected: 6, found: 5, .. });
        let error = device.texture_1d(&[0_u8; 131_073], options).unwrap_err();
        assert_kind!(error is ErrorKind::TooLarge { .. });
        assert_eq!(error.operation(), "texture_1d");
        let error = device
            .texture_2d(usize::MAX, 2, &[0_u8; 2], options)
            .unwrap_err();
        assert_kind!(error is ErrorKind::TooLarge { .. });
        assert_eq!(error.operation(), "texture_2d");
    }
}

#[test]
fn a_texture_belongs_to_its_device() {
    let (here, there) = (Device::simulator(), Device::simulator());
    let texture = there
        .texture_1d(&[1.0_f32], TextureOptions::default())
        .unwrap();
    let x = upload(&here, &[0.5_f32]);
    let mut out = output::<f32>(&here, 1);
    let config = LaunchConfig::new(1, 1);
    let error = crate::try_launch(&here, kernels::sample_1d, config, (&texture, &x, &mut out));
    assert!(
        matches!(
            error.as_ref().map_err(Error::kind),
            Err(ErrorKind::WrongDevice { .. })
        ),
        "{error:?}"
    );
}
