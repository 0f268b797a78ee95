//! The criterion of netlib's tester of level 3 BLAS (dblat3, Dongarra, Du Croz, Duff and Hammarling 1990): the largest
//! error of an output, in units of the rounding error of the sum of its terms' magnitudes, stays below 16.

use crate::common::devices;
use tilewright::{Arithmetic, Matmul, Order};

/// The tester's threshold.
const THRESHOLD: f64 = 16.0;

/// The tester's sequence of elements, between -1/2 and 1/2.
struct Elements {
    state: i64,
    calls: i64,
}

impl Elements {
    fn new() -> Self {
        Self { state: 7, calls: 0 }
    }

    fn matrix(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.draw()).collect()
    }

    fn draw(&mut self) -> f64 {
        self.calls += 1;
        loop {
            self.state = self.state * 891 % 1000;
            if self.calls < 5 {
                return (self.state - 500) as f64 / 1001.0;
            }
            // Every fifth number is left out, so that the sequence is not periodic.
            self.calls = 0;
        }
    }
}

/// The largest ratio of the outputs of some rows of `found` = alpha A B + beta C.
fn ratio(
    [a, b, c, found]: [&[f64]; 4],
    (n, k): (usize, usize),
    [alpha, beta]: [f64; 2],
    rows: impl Iterator<Item = usize>,
) -> f64 {
    let of_output = |row: usize, column: usize| {
        let terms = (0..k).map(|l| a[row * k + l] * b[l * n + column]);
        let (mut sum, mut magnitude) = (0.0, 0.0);
        for term in terms {
            sum += term;
            magnitude += term.abs();
        }
        let c = c[row * n + column];
        let expected = alpha * sum + beta * c;
        let size = alpha.abs() * magnitude + beta.abs() * c.abs();
        let error = (found[row * n + column] - expected).abs() / f64::EPSILON;
        if size == 0.0 { error } else { error / size }
    };
    let of_row = |row| (0..n).map(move |column| of_output(row, column));
    rows.flat_map(of_row).fold(0.0, f64::max)
}

#[test]
fn products_pass_the_criterion() {
    let orders = [Order::RowMajor, Order::ColumnMajor];
    for device in devices() {
        let mut elements = Elements::new();
        for (number, size) in [1, 2, 3, 5, 9, 31, 66].into_iter().enumerate() {
            let (m, n, k) = (size, size + 1, size + number);
            let [a, b, c] = [m * k, k * n, m * n].map(|len| elements.matrix(len));
            for (alpha, beta) in [(0.0, 1.3), (1.0, 0.0), (0.7, 1.3), (0.7, 1.0)] {
                for arithmetic in [Arithmetic::Auto, Arithmetic::Chain, Arithmetic::Exact] {
                    let matrix = |elements: &[f64], (rows, columns), bit: usize| {
                        let at = |place: usize| match number >> bit & 1 {
                            0 => elements[place],
                            _ => elements[place % rows * columns + place / rows],
                        };
                        let elements: Vec<f64> = (0..rows * columns).map(at).collect();
                        let shape = (rows, columns, orders[number >> bit & 1]);
                        device.matrix(shape, &elements).expect("a matrix")
                    };
                    let (x, y) = (matrix(&a, (m, k), 0), matrix(&b, (k, n), 1));
                    let mut result = matrix(&c, (m, n), 2);
                    let product = Matmul::new(&x, &y).alpha(alpha).beta(beta);
                    product
                        .arithmetic(arithmetic)
                        .run_into(&mut result)
                        .expect("a product");
                    let found = result.to_vec().expect("the elements");
                    let ratio = ratio([&a, &b, &c, &found], (n, k), [alpha, beta], 0..m);
                    assert!(ratio < THRESHOLD, "{arithmetic:?} of {m}x{n}x{k}: {ratio}");
                }
            }
        }
    }
}

/// Large products are by residues, on the GPU alone: a simulator takes minutes for one.
#[test]
fn large_products_pass_the_criterion_on_a_gpu() {
    const SIZE: usize = 3072;
    for device in devices().into_iter().filter(|it| !it.is_simulator()) {
        let mut elements = Elements::new();
        let [a, b] = [(); 2].map(|()| elements.matrix(SIZE * SIZE));
        let (x, y) = (
            device.matrix((SIZE, SIZE), &a),
            device.matrix((SIZE, SIZE), &b),
        );
        let (x, y) = (x.expect("a matrix"), y.expect("a matrix"));
        let c = vec![0.0; SIZE * SIZE];
        for arithmetic in [Arithmetic::Auto, Arithmetic::Exact] {
            let product = Matmul::new(&x, &y).arithmetic(arithmetic);
            let found = product.run().and_then(|it| it.to_vec()).expect("a product");
            let rows = (0..SIZE).step_by(397);
            let ratio = ratio([&a, &b, &c, &found], (SIZE, SIZE), [1.0, 0.0], rows);
            assert!(ratio < THRESHOLD, "{arithmetic:?}: {ratio}");
        }
    }
}
