//! Textures: arrays that are read at real-valued coordinates, with interpolation between elements.
//!
//! The arithmetic is that of the CUDA C++ Programming Guide, appendix "Texture Fetching": with
//! linear filtering a place `x` lies between the centres of the texels `i = floor(x - 0.5)` and
//! `i + 1`, and the weight of the second is the rest, rounded to 8 bits after the point.

use crate::memory::OutOfMemory;

/// Filter between elements; CUDA has no others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TextureFilter {
    /// The element whose cell holds the coordinate.
    #[default]
    Point,
    /// Linear interpolation between the centres of the nearest elements (2, or 4 in two dimensions), with weights of 8
    /// fraction bits.
    Linear,
}

/// Values outside the elements; CUDA has no other modes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AddressMode {
    /// The nearest element.
    #[default]
    Clamp,
    /// The elements repeat. For normalised coordinates only.
    Wrap,
    /// The elements repeat, every other time backwards. For normalised coordinates only.
    Mirror,
    /// Zero.
    Border,
}

/// Options of a texture: filter, address mode, coordinates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct TextureOptions {
    /// Filter between elements; by default [`Point`](TextureFilter::Point).
    pub filter: TextureFilter,
    /// Values outside, in every dimension; by default the nearest element.
    pub address_mode: AddressMode,
    /// Whether a coordinate goes from 0 to 1 over all elements; by default it goes from 0 to
    /// their number.
    pub normalised_coordinates: bool,
}

impl TextureOptions {
    /// Sets the filter.
    #[must_use]
    pub fn with_filter(mut self, filter: TextureFilter) -> Self {
        self.filter = filter;
        self
    }

    /// Sets the address mode.
    #[must_use]
    pub fn with_address_mode(mut self, address_mode: AddressMode) -> Self {
        self.address_mode = address_mode;
        self
    }

    /// Sets whether coordinates go from 0 to 1.
    #[must_use]
    pub fn with_normalised_coordinates(mut self, normalised_coordinates: bool) -> Self {
        self.normalised_coordinates = normalised_coordinates;
        self
    }
}

/// A texture's elements, row by row.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Texels<'a> {
    /// Values, read unchanged.
    F32(&'a [f32]),
    /// Integers, read as numbers from 0 to 1: 255 is 1.
    Unorm8(&'a [u8]),
}

impl Texels<'_> {
    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F32(texels) => texels.len(),
            Self::Unorm8(texels) => texels.len(),
        }
    }

    /// The size of the elements, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::F32(texels) => size_of_val(*texels),
            Self::Unorm8(texels) => size_of_val(*texels),
        }
    }

    /// Whether the texture has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A texture of one or two dimensions.
#[derive(Debug)]
pub struct Texture {
    texels: Vec<f32>,
    width: usize,
    height: usize,
    options: TextureOptions,
}

/// The two nearest elements in one dimension (none for a border), and the weight of the second.
struct Neighbours {
    indices: [Option<usize>; 2],
    weight: f64,
}

impl Texture {
    /// Makes a texture of `height` rows of `width` elements; a one-dimensional one has one row.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for the elements.
    ///
    /// # Panics
    ///
    /// If the number of elements is not `width * height`, or is 0.
    pub fn new(
        width: usize,
        height: usize,
        texels: Texels<'_>,
        options: TextureOptions,
    ) -> Result<Self, OutOfMemory> {
        assert_eq!(Some(texels.len()), width.checked_mul(height));
        assert!(!texels.is_empty(), "a texture has elements");
        let mut values = Vec::new();
        values
            .try_reserve_exact(texels.len())
            .map_err(|_| OutOfMemory)?;
        match texels {
            Texels::F32(texels) => values.extend_from_slice(texels),
            Texels::Unorm8(texels) => {
                values.extend(texels.iter().map(|&it| f32::from(it) / 255.0));
            }
        }
        Ok(Self {
            texels: values,
            width,
            height,
            options,
        })
    }

    /// The number of elements.
    #[must_use]
    pub fn texels(&self) -> usize {
        self.texels.len()
    }

    /// The value of a one-dimensional texture at `x`.
    #[must_use]
    pub fn sample_1d(&self, x: f32) -> f32 {
        let columns = self.neighbours(x, self.width);
        self.between(&columns, |column| self.texel(column, Some(0))) as f32
    }

    /// The value of a two-dimensional texture at (`x`, `y`); `x` runs along a row.
    #[must_use]
    pub fn sample_2d(&self, x: f32, y: f32) -> f32 {
        let columns = self.neighbours(x, self.width);
        let rows = self.neighbours(y, self.height);
        self.between(&rows, |row| {
            self.between(&columns, |column| self.texel(column, row))
        }) as f32
    }

    /// The weighted mean of `value` for two neighbours. A neighbour without weight is left out, and so is its NaN or
    /// infinity.
    fn between(&self, neighbours: &Neighbours, value: impl Fn(Option<usize>) -> f64) -> f64 {
        let [first, second] = neighbours.indices;
        match neighbours.weight {
            0.0 => value(first),
            1.0 => value(second),
            weight => (1.0 - weight) * value(first) + weight * value(second),
        }
    }

    fn texel(&self, column: Option<usize>, row: Option<usize>) -> f64 {
        match (column, row) {
            (Some(column), Some(row)) => f64::from(self.texels[row * self.width + column]),
            _ => 0.0,
        }
    }

    fn neighbours(&self, coordinate: f32, extent: usize) -> Neighbours {
        let place = match self.options.normalised_coordinates {
            true => f64::from(coordinate) * extent as f64,
            false => f64::from(coordinate),
        };
        let (place, rest) = match self.options.filter {
            TextureFilter::Point => (place.floor(), 0.0),
            TextureFilter::Linear => {
                let place = place - 0.5;
                (place.floor(), place - place.floor())
            }
        };
        let weight = (rest * 256.0).round() / 256.0;
        // A cast to an integer saturates; NaN becomes 0.
        let first = place as i64;
        Neighbours {
            indices: [first, first.saturating_add(1)].map(|index| self.address(index, extent)),
            weight: if weight.is_finite() { weight } else { 0.0 },
        }
    }

    /// The element that stands for element `index`; none for a border.
    fn address(&self, index: i64, extent: usize) -> Option<usize> {
        let extent = extent as i64;
        let index = match self.options.address_mode {
            AddressMode::Clamp => index.clamp(0, extent - 1),
            AddressMode::Wrap => index.rem_euclid(extent),
            AddressMode::Mirror => {
                let index = index.rem_euclid(2 * extent);
                index.min(2 * extent - 1 - index)
            }
            AddressMode::Border => index,
        };
        (0..extent).contains(&index).then_some(index as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(address_mode: AddressMode) -> Texture {
        let options = TextureOptions::default()
            .with_address_mode(address_mode)
            .with_normalised_coordinates(true);
        Texture::new(4, 1, Texels::F32(&[10.0, 20.0, 30.0, 40.0]), options).unwrap()
    }

    #[test]
    fn outside_is_as_the_mode_says() {
        let read = |mode| [-5, -1, 0, 3, 4, 9].map(|i| row(mode).sample_1d((i as f32 + 0.5) / 4.0));
        assert_eq!(
            read(AddressMode::Clamp),
            [10.0, 10.0, 10.0, 40.0, 40.0, 40.0]
        );
        assert_eq!(
            read(AddressMode::Wrap),
            [40.0, 40.0, 10.0, 40.0, 10.0, 20.0]
        );
        assert_eq!(
            read(AddressMode::Mirror),
            [40.0, 10.0, 10.0, 40.0, 40.0, 20.0]
        );
        assert_eq!(read(AddressMode::Border), [0.0, 0.0, 10.0, 40.0, 0.0, 0.0]);
    }

    #[test]
    fn weights_have_eight_bits() {
        let options = TextureOptions::default().with_filter(TextureFilter::Linear);
        let texture = Texture::new(2, 2, Texels::Unorm8(&[0, 255, 255, 0]), options).unwrap();
        assert_eq!(texture.sample_2d(0.5, 0.5), 0.0);
        assert_eq!(texture.sample_2d(1.0, 0.5), 0.5);
        assert_eq!(texture.sample_2d(1.0, 1.0), 0.5);
        let third = texture.sample_2d(0.5 + 1.0 / 3.0, 0.5);
        assert_eq!(third, 85.0 / 256.0);
    }

    #[test]
    fn places_that_are_no_numbers_are_defined() {
        let texture = row(AddressMode::Clamp);
        assert_eq!(texture.sample_1d(f32::NAN), 10.0);
        assert_eq!(texture.sample_1d(f32::INFINITY), 40.0);
        assert_eq!(texture.sample_1d(f32::NEG_INFINITY), 10.0);
    }
}
