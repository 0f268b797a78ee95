//! Products of sizes that no tile divides, in all orders, with gaps between lines; and of a matrix with its
//! transpose.

use super::bench::{Bench, Score, Unit};
use super::rivals::cublas::InSums;
use super::sets::{Number, Turns};
use crate::common::Result;
use tilewright::{Matmul, MatmulInto, MatrixView, MatrixViewMut, Order};
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

/// Elements between the lines of matrices with gaps, which no vector divides.
const GAP: usize = 3;

/// Rows and columns of matrices that are multiplied by their transposes.
const GRAMS: [(usize, usize); 5] = [
    (1024, 1024),
    (4096, 4096),
    (8192, 8192),
    (16_384, 1024),
    (1 << 20, 128),
];

/// In place of either on the simulator.
const ON_SIMULATOR: usize = 61;

/// A product that is timed.
struct Case {
    name: String,
    /// M, N and K.
    shape: (usize, usize, usize),
    orders: [Order; 2],
    gap: usize,
}

/// A matrix of `rows` x `columns`, whose lines have `gap` elements more.
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

impl Bench {
    /// 40 products: each size in each pair of orders, every other one with gaps.
    pub fn run_ragged<T: MatmulInto<T> + InSums + Number>(
        &self,
        element: &str,
        records: &mut Vec<serde_json::Value>,
    ) -> Result {
        self.run_any_layout(element, self.by_views::<T>().as_deref(), records)
    }

    /// The same without a rival: cuBLAS and cuBLASLt have no products of 8 bits in these orders with these
    /// leading dimensions.
    pub fn run_ragged_alone<T: MatmulInto<O> + Number, O: Number>(
        &self,
        element: &str,
        records: &mut Vec<serde_json::Value>,
    ) -> Result {
        self.run_any_layout::<T, O>(element, None, records)
    }

    fn run_any_layout<T: MatmulInto<O> + Number, O: Number>(
        &self,
        element: &str,
        rival: Option<OfViews<'_, T, O>>,
        records: &mut Vec<serde_json::Value>,
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
            let case = Case {
                name: format!("{element} ragged {m}x{n}x{k} {of_a}{of_b} +{gap}"),
                shape: (m, n, k),
                orders,
                gap,
            };
            if self.options.wants(&case.name) {
                let ours: OfViews<'_, T, O> =
                    &|a, b, mut c| Ok(Matmul::<T>::new(a, b).run_into(&mut c)?);
                ratios.extend(self.run_views(&case, ours, rival, records)?);
            }
        }
        self.print_mean(&format!("{element} ragged"), &ratios);
        Ok(())
    }

    /// A^T A, as if all multiply-adds were done, against cuBLAS's product of both matrices.
    pub fn run_grams<T: MatmulInto<T> + InSums + Number>(
        &self,
        element: &str,
        records: &mut Vec<serde_json::Value>,
    ) -> Result {
        let sizes = match self.device.is_simulator() {
            true => &[(ON_SIMULATOR, ON_SIMULATOR)][..],
            false => &GRAMS,
        };
        for &(k, n) in sizes {
            let case = Case {
                name: format!("{element} gram of {k}x{n}"),
                shape: (n, n, k),
                orders: [Order::ColumnMajor, Order::RowMajor],
                gap: 0,
            };
            if self.options.wants(&case.name) {
                let ours: OfViews<'_, T> =
                    &|_, b, mut c| Ok(Matmul::<T>::gram(b).run_into(&mut c)?);
                self.run_views(&case, ours, self.by_views::<T>().as_deref(), records)?;
            }
        }
        Ok(())
    }

    /// cuBLAS's product, if it is there.
    fn by_views<T: InSums>(&self) -> Option<Box<Multiply<'_, T, T>>> {
        let cublas = self.cublas.as_ref()?;
        Some(Box::new(|a, b, c| cublas.multiply_views(a, b, c)))
    }

    /// The ratio to the rival, if there is one.
    fn run_views<T: Number, O: Number>(
        &self,
        case: &Case,
        ours: OfViews<'_, T, O>,
        rival: Option<OfViews<'_, T, O>>,
        records: &mut Vec<serde_json::Value>,
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
        let mut turns = Turns::new(&self.device, bytes, || {
            Ok((
                self.device.matrix(shapes[0], &elements[0])?,
                self.device.matrix(shapes[1], &elements[1])?,
                self.device.matrix_zeros(shapes[2])?,
            ))
        })?;
        let mut score = |multiply: OfViews<'_, T, O>| {
            let seconds = self.seconds(|| {
                let (a, b, c) = turns.next();
                let (a, b) = (a.slice(..m, ..k)?, b.slice(..k, ..n)?);
                multiply(a, b, c.slice_mut(..m, ..n)?)
            })?;
            Result::<Score>::Ok(Score::new(
                2.0 * m as f64 * n as f64 * k as f64 / seconds,
                Unit::Operations,
            ))
        };
        let rival = rival.map(&mut score).transpose()?;
        let ours = score(ours)?;
        self.report(&case.name, &ours, rival.as_ref(), records);
        Ok(rival.map(|rival| ours.speed / rival.speed))
    }
}
