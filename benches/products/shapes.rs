//! Products with extreme shapes: matrix times vector, bound by reading the matrix, and small results with a large K.

use super::bench::{Bench, Job, Multiply, Score};
use super::rivals::cublas::{CuBlas, Gemm, InF32};
use super::rivals::cublas_lt::LtElement;
use super::sets::{Number, Turns};
use crate::common::Result;
use tilewright::{Arithmetic, Matmul, MatmulInto, Matrix};
use tilewright_output::figures::{Row, Unit};
use tilewright_test_support::random::Random;

/// Rows and columns of the matrices multiplied by a vector.
const MATRICES: [(usize, usize); 5] = [
    (1024, 1024),
    (4096, 4096),
    (16_384, 16_384),
    (1 << 20, 64),
    (64, 1 << 20),
];

/// M, N and K of small results.
const SMALL_RESULTS: [(usize, usize, usize); 5] = [
    (16, 16, 1 << 20),
    (128, 128, 1 << 20),
    (256, 256, 256),
    (512, 512, 512),
    (512, 512, 1 << 16),
];

/// The size of either on the simulator.
const ON_SIMULATOR: usize = 256;

/// A rival's product.
type Rival<T> = fn(&CuBlas, &Matrix<T>, &Matrix<T>, &mut Matrix<T>) -> Result;

/// cuBLAS's product of f32 or f64 with a vector.
pub fn by_gemv<T: Gemm>(
    cublas: &CuBlas,
    a: &Matrix<T>,
    b: &Matrix<T>,
    c: &mut Matrix<T>,
) -> Result {
    cublas.multiply_vector(a, b, c)
}

/// cuBLAS's product of f16 or bf16 with a vector, by its matrix product.
pub fn by_gemm<T: InF32>(
    cublas: &CuBlas,
    a: &Matrix<T>,
    b: &Matrix<T>,
    c: &mut Matrix<T>,
) -> Result {
    cublas.multiply_halves(a, b, c)
}

impl Bench {
    /// Products of row-major matrices with a vector on the right (rows are summed) and on the left (columns are
    /// summed).
    pub fn run_vectors<T: MatmulInto<T> + LtElement<Product = T> + Number>(
        &self,
        element: &str,
        rival: Rival<T>,
        rows: &mut Vec<Row>,
    ) -> Result {
        let matrices = match self.device.is_simulator() {
            true => &[(ON_SIMULATOR, ON_SIMULATOR)][..],
            false => &MATRICES,
        };
        for &(matrix_rows, columns) in matrices {
            let ways = [
                ("rows", (matrix_rows, 1, columns)),
                ("columns", (1, columns, matrix_rows)),
            ];
            for (lines, shape) in ways {
                let bytes = (matrix_rows * columns * size_of::<T>()) as f64;
                let label = format!("{matrix_rows}x{columns}");
                let job = Job {
                    detail: lines.to_owned(),
                    unit: Unit::Gigabytes,
                    ..Job::of_operations("matvec", element, label, bytes)
                };
                let ours: Multiply<'_, T> = &|a, b, c| Ok(Matmul::new(a, b).run_into(c)?);
                self.run_case((&job, shape), rival, &[("", ours)], rows)?;
            }
        }
        Ok(())
    }

    /// Products with split K, and in order of k.
    pub fn run_small_results<T: MatmulInto<T> + LtElement<Product = T> + Number + Gemm>(
        &self,
        element: &str,
        rows: &mut Vec<Row>,
    ) -> Result {
        let shapes = match self.device.is_simulator() {
            true => &[(16, 16, ON_SIMULATOR)][..],
            false => &SMALL_RESULTS,
        };
        for &(m, n, k) in shapes {
            let operations = 2.0 * m as f64 * n as f64 * k as f64;
            let job = Job::of_operations("product", element, format!("{m}x{n}x{k}"), operations);
            let ours: Multiply<'_, T> = &|a, b, c| Ok(Matmul::new(a, b).run_into(c)?);
            let chain: Multiply<'_, T> = &|a, b, c| {
                let product = Matmul::new(a, b).arithmetic(Arithmetic::Chain);
                Ok(product.run_into(c)?)
            };
            let rival: Rival<T> = |cublas, a, b, c| cublas.multiply(a, b, c, 1);
            self.run_case(
                (&job, (m, n, k)),
                rival,
                &[("", ours), ("chain", chain)],
                rows,
            )?;
        }
        Ok(())
    }

    fn run_case<T: MatmulInto<T> + LtElement<Product = T> + Number>(
        &self,
        (job, (m, n, k)): (&Job, (usize, usize, usize)),
        rival: Rival<T>,
        ways: &[(&str, Multiply<'_, T>)],
        rows: &mut Vec<Row>,
    ) -> Result {
        if !self.options.wants(&job.name()) {
            return Ok(());
        }
        let mut random = Random::new((m + n) as u64);
        let mut draw =
            |len: usize| -> Vec<T> { (0..len).map(|_| T::of(random.signed_unit())).collect() };
        let (a, b) = (draw(m * k), draw(k * n));
        let bytes = (a.len() + b.len()) * size_of::<T>();
        let mut turns = Turns::new(&self.device, bytes, || {
            Ok((
                self.device.matrix((m, k), &a)?,
                self.device.matrix((k, n), &b)?,
                self.device.matrix_zeros((m, n))?,
            ))
        })?;
        let mut rivals = Vec::from_iter(self.lt_score(job, &mut turns, 1)?);
        let mut score = |name, multiply: Multiply<'_, T>| {
            let seconds = self.seconds(|| {
                let (a, b, c) = turns.next();
                multiply(a, b, c)
            })?;
            Result::<Score>::Ok(Score::new(name, seconds))
        };
        if let Some(cublas) = &self.cublas {
            rivals.push(score("cuBLAS", &|a, b, c| rival(cublas, a, b, c))?);
        }
        let count = if self.options.as_selected {
            1
        } else {
            ways.len()
        };
        for (way, multiply) in &ways[..count] {
            let ours = score("matmul", multiply)?;
            self.report(&job.by(way), &ours, &rivals, rows);
        }
        Ok(())
    }
}
