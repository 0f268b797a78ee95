//! Products of sizes that no tile divides, in all orders, with gaps between rows or columns; and of a matrix with its
//! transpose.

use super::bench::{Bench, Job, Score};
use super::rivals::cublas::InSums;
use super::rivals::cublas_lt::LtElement;
use super::sets::{Number, Turns};
use crate::common::Result;
use tilewright::{Matmul, MatmulInto, MatrixView, MatrixViewMut, Order};
use tilewright_output::figures::Row;
use tilewright_test_support::random::Random;

/// M, N and K: primes, one more and one less than powers of two, long and thin ones.
const SIZES: [(usize, usize, usize); 10] = [
    (1009, 1013, 1019),
    (2039, 2029, 2027),
    (4099, 4093, 4091),
    (1025, 1025, 1025),
    (2047, 2049, 2051),
    (127, 8191, 509),
    (8191, 127, 509),
    (513, 4097, 257),
    (3001, 999, 5003),
    (67, 71, 30_011),
];

/// Elements between the rows or columns of matrices with gaps, which no vector divides.
const GAP: usize = 3;

/// Rows and columns of matrices multiplied by their transposes.
const GRAMS: [(usize, usize); 5] = [
    (1024, 1024),
    (4096, 4096),
    (8192, 8192),
    (16_384, 1024),
    (1 << 20, 128),
];

/// The size of either on the simulator.
const ON_SIMULATOR: usize = 61;

/// A product that is timed.
struct Case {
    job: Job,
    /// M, N and K.
    shape: (usize, usize, usize),
    orders: [Order; 2],
    gap: usize,
}

/// A matrix of `rows` x `columns`, with `gap` further elements in each contiguous row or column.
fn with_gap(rows: usize, columns: usize, order: Order, gap: usize) -> (usize, usize, Order) {
    match order {
        Order::RowMajor => (rows, columns + gap, order),
        Order::ColumnMajor => (rows + gap, columns, order),
    }
}

/// A contender: C = A B.
type Multiply<'a, T, O> =
    dyn Fn(MatrixView<'_, T>, MatrixView<'_, T>, MatrixViewMut<'_, O>) -> Result + 'a;
type OfViews<'a, T, O = T> = &'a Multiply<'a, T, O>;

/// The rivals of a product of these operands.
type Rivals<'a, T, O> = &'a dyn Fn(&Job, &mut Turns<T, O>) -> Result<Vec<Score>>;

impl Bench {
    /// 40 products: each size in each pair of orders, every other one with gaps.
    pub fn run_ragged<T: MatmulInto<T> + InSums + LtElement<Product = T> + Number>(
        &self,
        element: &str,
        rows: &mut Vec<Row>,
    ) -> Result {
        let rivals: Rivals<'_, T, T> = &|job, turns| self.rivals_of_views(job, turns);
        self.run_any_layout(element, rivals, rows)
    }

    /// [`run_ragged`](Self::run_ragged) for 8-bit elements. cuBLASLt supports few orders and leading dimensions for
    /// these, cuBLAS none.
    pub fn run_ragged_bytes<T: MatmulInto<O> + LtElement<Product = O> + Number, O: Number>(
        &self,
        element: &str,
        rows: &mut Vec<Row>,
    ) -> Result {
        let rivals: Rivals<'_, T, O> =
            &|job, turns| Ok(Vec::from_iter(self.lt_score(job, turns, 1)?));
        self.run_any_layout(element, rivals, rows)
    }

    fn run_any_layout<T: MatmulInto<O> + Number, O: Number>(
        &self,
        element: &str,
        rivals: Rivals<'_, T, O>,
        rows: &mut Vec<Row>,
    ) -> Result {
        let orders = [Order::RowMajor, Order::ColumnMajor];
        let pairs = orders.into_iter().flat_map(|a| orders.map(|b| [a, b]));
        let sizes = match self.device.is_simulator() {
            true => &[(ON_SIMULATOR, ON_SIMULATOR, ON_SIMULATOR)][..],
            false => &SIZES,
        };
        let cases = pairs.flat_map(|orders| sizes.iter().map(move |&shape| (orders, shape)));
        let mut ratios = Vec::new();
        for (number, (orders, (m, n, k))) in cases.enumerate() {
            let gap = number % 2 * GAP;
            let letter = |order| match order {
                Order::RowMajor => 'n',
                Order::ColumnMajor => 't',
            };
            let [of_a, of_b] = orders.map(letter);
            let job = product("ragged", element, (m, n, k)).by(&format!("{of_a}{of_b}"));
            let case = Case {
                job: match gap {
                    0 => job,
                    _ => job.by(&format!("gap {gap}")),
                },
                shape: (m, n, k),
                orders,
                gap,
            };
            if self.options.wants(&case.job.name()) {
                let ours: OfViews<'_, T, O> =
                    &|a, b, mut c| Ok(Matmul::<T>::new(a, b).run_into(&mut c)?);
                ratios.extend(self.run_views(&case, ("matmul", ours), rivals, rows)?);
            }
        }
        self.print_mean(&format!("{element} ragged"), &ratios);
        Ok(())
    }

    /// A^T A, counted as if all multiply-adds were done, against the rivals' product of both
    /// matrices.
    pub fn run_grams<T: MatmulInto<T> + InSums + LtElement<Product = T> + Number>(
        &self,
        element: &str,
        rows: &mut Vec<Row>,
    ) -> Result {
        let sizes = match self.device.is_simulator() {
            true => &[(ON_SIMULATOR, ON_SIMULATOR)][..],
            false => &GRAMS,
        };
        for &(k, n) in sizes {
            let case = Case {
                job: Job {
                    shape: format!("{k}x{n}"),
                    ..product("gram", element, (n, n, k))
                },
                shape: (n, n, k),
                orders: [Order::ColumnMajor, Order::RowMajor],
                gap: 0,
            };
            if self.options.wants(&case.job.name()) {
                let ours: OfViews<'_, T> =
                    &|_, b, mut c| Ok(Matmul::<T>::gram(b).run_into(&mut c)?);
                let rivals: Rivals<'_, T, T> = &|job, turns| self.rivals_of_views(job, turns);
                self.run_views(&case, ("gram", ours), rivals, rows)?;
            }
        }
        Ok(())
    }

    /// cuBLAS's call and cuBLASLt's best algorithm, if available.
    fn rivals_of_views<T: InSums + LtElement<Product = T>>(
        &self,
        job: &Job,
        turns: &mut Turns<T, T>,
    ) -> Result<Vec<Score>> {
        let mut scores = Vec::from_iter(self.lt_score(job, turns, 1)?);
        if let Some(cublas) = &self.cublas {
            let seconds = self.seconds(|| {
                let (a, b, c) = turns.next_parts()?;
                cublas.multiply_views(a, b, c)
            })?;
            scores.push(Score::new("cuBLAS", seconds));
        }
        Ok(scores)
    }

    /// The ratio to the fastest rival, if there is one.
    fn run_views<T: Number, O: Number>(
        &self,
        case: &Case,
        (name, ours): (&'static str, OfViews<'_, T, O>),
        rivals: Rivals<'_, T, O>,
        rows: &mut Vec<Row>,
    ) -> Result<Option<f64>> {
        let ((m, n, k), [of_a, of_b]) = (case.shape, case.orders);
        let shapes = [
            with_gap(m, k, of_a, case.gap),
            with_gap(k, n, of_b, case.gap),
            with_gap(m, n, Order::RowMajor, case.gap),
        ];
        let mut random = Random::new((m + n + k) as u64);
        let elements: [Vec<T>; 2] = [shapes[0], shapes[1]].map(|(rows, columns, _)| {
            (0..rows * columns)
                .map(|_| T::of(random.signed_unit()))
                .collect()
        });
        let bytes: usize = elements.iter().map(|it| size_of_val(&**it)).sum();
        let turns = Turns::new(&self.device, bytes, || {
            Ok((
                self.device.matrix(shapes[0], &elements[0])?,
                self.device.matrix(shapes[1], &elements[1])?,
                self.device.matrix_zeros(shapes[2])?,
            ))
        })?;
        let mut turns = turns.with_gap(case.gap);
        let rivals = rivals(&case.job, &mut turns)?;
        let seconds = self.seconds(|| {
            let (a, b, c) = turns.next_parts()?;
            ours(a, b, c)
        })?;
        Ok(self.report(&case.job, &Score::new(name, seconds), &rivals, rows))
    }
}

/// A product of M, N and K.
fn product(work: &'static str, element: &str, (m, n, k): (usize, usize, usize)) -> Job {
    let operations = 2.0 * m as f64 * n as f64 * k as f64;
    Job::of_operations(work, element, format!("{m}x{n}x{k}"), operations)
}
