//! Batches of small products.

use super::bench::{Bench, Job, Multiply, Score};
use super::rivals::cublas::InF32;
use super::rivals::cublas_lt::LtElement;
use super::sets::{Number, Turns};
use super::squares::NEWEST;
use crate::common::Result;
use tilewright::{Arithmetic, Matmul, MatmulInto};
use tilewright_output::figures::Row;
use tilewright_test_support::random::Random;

/// Products per batch, and rows and columns of their matrices.
const BATCHES: [(usize, usize); 9] = [
    (1000, 16),
    (1000, 32),
    (1000, 64),
    (1000, 128),
    (1000, 192),
    (1000, 256),
    (500, 384),
    (250, 512),
    (64, 1024),
];

/// A row of a batch: the end of its name, the arithmetic, and the compute capability of its kernels.
pub type Way = (&'static str, Arithmetic, (u32, u32));

pub const WAYS_OF_F32: &[Way] = &[
    ("", Arithmetic::Auto, NEWEST),
    ("split", Arithmetic::Split, NEWEST),
    ("chain", Arithmetic::Chain, NEWEST),
];

pub const WAYS_OF_HALVES: &[Way] = &[
    ("", Arithmetic::Auto, NEWEST),
    ("mma.sync", Arithmetic::Auto, (8, 0)),
];

/// Rows and columns of the smallest f32 products with split operands. Shorter sums have no error
/// bound.
const LEAST_SPLIT: usize = 64;

/// Products per batch on the simulator, and their maximum rows.
const COUNT_ON_SIMULATOR: usize = 4;
const MOST_ON_SIMULATOR: usize = 256;

impl Bench {
    /// Batches of vertically stacked matrices, with several methods.
    pub fn run_batches<T: MatmulInto<T> + InF32 + LtElement<Product = T> + Number>(
        &self,
        element: &str,
        ways: &[Way],
        rows: &mut Vec<Row>,
    ) -> Result {
        let is_simulated = self.device.is_simulator();
        for (count, size) in BATCHES {
            if is_simulated && size > MOST_ON_SIMULATOR {
                continue;
            }
            let count = if is_simulated {
                COUNT_ON_SIMULATOR
            } else {
                count
            };
            let operations = 2.0 * (size as f64).powi(3) * count as f64;
            let shape = format!("{count} of {size}");
            let job = Job {
                size: Some(size),
                ..Job::of_operations("batch", element, shape, operations)
            };
            if !self.options.wants(&job.name()) {
                continue;
            }
            let mut random = Random::new(size as u64);
            let elements: Vec<T> = (0..count * size * size)
                .map(|_| T::of(random.signed_unit()))
                .collect();
            let shape = (count * size, size);
            let mut turns = Turns::new(&self.device, 3 * size_of_val(&*elements), || {
                Ok((
                    self.device.matrix(shape, &elements)?,
                    self.device.matrix(shape, &elements)?,
                    self.device.matrix_zeros(shape)?,
                ))
            })?;
            let mut rivals = Vec::from_iter(self.lt_score(&job, &mut turns, count)?);
            let mut score = |name, multiply: Multiply<'_, T>| {
                let seconds = self.seconds(|| {
                    let (a, b, c) = turns.next();
                    multiply(a, b, c)
                })?;
                Result::<Score>::Ok(Score::new(name, seconds))
            };
            if let Some(cublas) = &self.cublas {
                rivals.push(score("cuBLAS", &|a, b, c| {
                    cublas.multiply_batch((size, count), a, b, c)
                })?);
            }
            for &(way, arithmetic, (major, minor)) in ways {
                if arithmetic == Arithmetic::Split && size < LEAST_SPLIT
                    || self.options.as_selected && !way.is_empty()
                {
                    continue;
                }
                let ours = score("matmul", &|a, b, c| {
                    let (a, b) = (a.view().batch_rows(count)?, b.view().batch_rows(count)?);
                    let mut c = c.view_mut().into_batch_rows(count)?;
                    let product = Matmul::new(a, b).arithmetic(arithmetic);
                    Ok(product.compute_capability(major, minor).run_into(&mut c)?)
                })?;
                self.report(&job.by(way), &ours, &rivals, rows);
            }
        }
        Ok(())
    }
}
