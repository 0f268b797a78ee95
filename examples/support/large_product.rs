//! Products of matrices in files that need not fit in memory, panel by panel.

use crate::npy::stream::NumberFile;
use crate::npy::{self, ElementType};
use crate::product_shape::ProductShape;
use crate::support::Outcome;
use crate::support::output::Failure;
use std::path::Path;
use std::time::{Duration, Instant};
use tilewright::{Device, MatmulElement, MatmulInto, MatrixShape, Order};

/// A type in which numbers are multiplied.
pub trait Factor: MatmulElement + MatmulInto<Self> {
    /// Reads numbers of a file, from index `start` on.
    fn read(file: &mut NumberFile, start: usize, numbers: &mut [Self]) -> Outcome;
}

impl Factor for f32 {
    fn read(file: &mut NumberFile, start: usize, numbers: &mut [Self]) -> Outcome {
        file.read_f32(start, numbers)
    }
}

impl Factor for f64 {
    fn read(file: &mut NumberFile, start: usize, numbers: &mut [Self]) -> Outcome {
        file.read_f64(start, numbers)
    }
}

/// Two matrices in files, and the device memory for panels of them and of their product.
pub struct LargeProduct<'a> {
    pub device: &'a Device,
    pub memory: u64,
    pub factors: [NumberFile; 2],
    pub shape: &'a ProductShape,
}

impl LargeProduct<'_> {
    /// Whether the matrices and their product, in numbers of `bytes`, need more than the memory.
    pub fn is_large(&self, bytes: usize) -> bool {
        let (m, k, n) = (self.shape.rows, self.shape.inner, self.shape.columns);
        let elements =
            [(m, k), (k, n), (m, n)].map(|(rows, columns)| rows as u128 * columns as u128);
        elements.iter().sum::<u128>() * bytes as u128 > u128::from(self.memory)
    }

    /// The greatest magnitude in each file.
    pub fn greatest(&mut self) -> Outcome<[f64; 2]> {
        let [a, b] = &mut self.factors;
        Ok([a.greatest()?, b.greatest()?])
    }

    /// Writes the product to a file of elements of type `element`, which `stored` converts outputs to; `None` from
    /// it is the error `beyond`. Returns the time that reading, multiplying and writing took.
    pub fn write<T: Factor>(
        self,
        path: &Path,
        element: ElementType,
        stored: impl Fn(&[T], ElementType) -> Option<Vec<u8>>,
        beyond: impl Fn() -> String,
    ) -> Outcome<Duration> {
        let Self {
            device,
            memory,
            factors: [mut a, mut b],
            shape,
        } = self;
        let mut multiplier = device.host_multiplier::<T, T>(memory)?;
        let [of_a, of_b] = [
            shape_of(&a, (shape.rows, shape.inner)),
            shape_of(&b, (shape.inner, shape.columns)),
        ];
        let start = Instant::now();
        npy::write_parts(path, element, &shape.result, |place| {
            multiplier.multiply_from::<Failure>(
                (of_a, |start, numbers: &mut [T]| {
                    T::read(&mut a, start, numbers)
                }),
                (of_b, |start, numbers: &mut [T]| {
                    T::read(&mut b, start, numbers)
                }),
                |start, outputs| place.write(start, &stored(outputs, element).ok_or_else(&beyond)?),
            )
        })?;
        Ok(start.elapsed())
    }
}

/// The shape of a file's array as a matrix.
fn shape_of(file: &NumberFile, (rows, columns): (usize, usize)) -> MatrixShape {
    let order = match file.is_column_major() {
        true => Order::ColumnMajor,
        false => Order::RowMajor,
    };
    (rows, columns, order).into()
}
