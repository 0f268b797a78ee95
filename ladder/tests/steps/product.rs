//! The steps of the ladder of the product.

use crate::common::machines;
use crate::common::random::Random;
use tilewright::testing::{seeds, under_seeds};
use tilewright::{Device, ErrorKind, Matrix, Operation, Order};
use tilewright_ladder::product::{self, CoarseFactor, Step};

/// Rows of A, columns of B, columns of A.
type Shape = (usize, usize, usize);

/// Two matrices to multiply, row after row.
struct Operands {
    shape: Shape,
    a: Vec<f32>,
    b: Vec<f32>,
}

impl Operands {
    fn new(shape: Shape) -> Self {
        let (m, n, k) = shape;
        let mut random = Random::new((m + 7 * n + 49 * k) as u64);
        let mut elements = |count| (0..count).map(|_| random.wide() as f32).collect();
        Self {
            shape,
            a: elements(m * k),
            b: elements(k * n),
        }
    }

    /// The naive product, whose bits every step gives.
    fn naive(&self) -> Vec<u32> {
        let (m, n, k) = self.shape;
        (0..m * n)
            .map(|output| {
                let (row, column) = (output / n, output % n);
                let sum = (0..k).fold(0.0, |sum, i| {
                    self.a[row * k + i].mul_add(self.b[i * n + column], sum)
                });
                f32::to_bits(sum)
            })
            .collect()
    }

    fn upload(&self, device: &Device, order_of_b: Order) -> (Matrix<f32>, Matrix<f32>) {
        let (m, n, k) = self.shape;
        let b = match order_of_b {
            Order::RowMajor => device.matrix((k, n), &self.b),
            Order::ColumnMajor => {
                let columns = (0..n).flat_map(|j| (0..k).map(move |i| self.b[i * n + j]));
                device.matrix((k, n, Order::ColumnMajor), &columns.collect::<Vec<_>>())
            }
        };
        (device.matrix((m, k), &self.a).unwrap(), b.unwrap())
    }

    /// The product by `step` in a matrix of NaN.
    fn multiply(&self, device: &Device, step: Step) -> Matrix<f32> {
        let (m, n, _) = self.shape;
        let (a, b) = self.upload(device, step.order_of_b());
        let mut c = device.matrix((m, n), &vec![f32::NAN; m * n]).unwrap();
        product::launch(device, step, &a, &b, &mut c).unwrap();
        c
    }

    #[track_caller]
    fn check(&self, device: &Device, step: Step) {
        let product = self.multiply(device, step).to_vec().unwrap();
        let bits: Vec<u32> = product.into_iter().map(f32::to_bits).collect();
        assert!(
            bits == self.naive(),
            "{step:?}, {:?} on {device:?}",
            self.shape
        );
    }
}

/// Nothing, one, primes, whole tiles and one element more or less.
const SHAPES: [Shape; 14] = [
    (0, 5, 3),
    (5, 0, 3),
    (5, 3, 0),
    (1, 1, 1),
    (1, 37, 5),
    (37, 1, 11),
    (31, 33, 32),
    (32, 32, 32),
    (33, 31, 33),
    (67, 71, 13),
    (128, 128, 8),
    (129, 127, 9),
    (131, 132, 12),
    (3, 521, 17),
];

#[test]
fn every_step_multiplies_every_shape() {
    let device = Device::simulator();
    for shape in SHAPES {
        let operands = Operands::new(shape);
        for step in Step::ALL {
            operands.check(&device, step);
        }
    }
}

#[test]
fn every_step_gives_the_same_bits_on_every_machine() {
    let operands = Operands::new((70, 134, 43));
    for machine in machines() {
        for step in Step::ALL {
            operands.check(&machine, step);
        }
    }
}

#[test]
fn every_step_is_right_under_every_schedule() {
    let operands = Operands::new((33, 65, 35));
    under_seeds(seeds(8), |device| {
        for step in Step::ALL {
            operands.check(device, step);
        }
    });
}

/// Sectors of 32 bytes of the loads of global memory for each request.
fn sectors_for_each_load(step: Step) -> f64 {
    let device = Device::simulator();
    let operands = Operands::new((128, 128, 128));
    let ((), report) = device
        .with_report(|| {
            operands.multiply(&device, step);
            Ok(())
        })
        .unwrap();
    let loads = report.launches[0].counts.of(Operation::GlobalLoad);
    loads.global.sectors as f64 / loads.requests as f64
}

/// The access patterns, exactly: of one uncoalesced operand 32 sectors for
/// each request, of a coalesced one 4, of a broadcast 1.
#[test]
fn the_access_patterns_request_the_predicted_sectors() {
    assert_eq!(sectors_for_each_load(Step::Naive), (32.0 + 1.0) / 2.0);
    assert_eq!(sectors_for_each_load(Step::Uncoalesced), (1.0 + 32.0) / 2.0);
    assert_eq!(sectors_for_each_load(Step::Coalesced), (1.0 + 4.0) / 2.0);
    assert_eq!(sectors_for_each_load(Step::Tiled), 4.0);
    assert_eq!(
        sectors_for_each_load(Step::TiledUncoalesced),
        (4.0 + 32.0) / 2.0
    );
    assert_eq!(sectors_for_each_load(Step::CornerTurned), 4.0);
}

/// Loads of global memory fall from 2 to 1 + 1 / factor for each tile of C and of K.
#[test]
fn a_coarser_thread_loads_less_of_a() {
    let device = Device::simulator();
    let operands = Operands::new((64, 512, 64));
    for factor in CoarseFactor::ALL {
        let ((), report) = device
            .with_report(|| {
                operands.multiply(&device, Step::Coarsened(factor));
                Ok(())
            })
            .unwrap();
        let loads = report.launches[0].counts.of(Operation::GlobalLoad).requests;
        // 2 x 16 tiles of C, each with 2 tiles of K; a tile is 32 requests.
        let of_b = 2 * 16 * 2 * 32;
        assert_eq!(loads, of_b + of_b / factor.get() as u64, "{factor:?}");
    }
}

/// A vector addition has no loads to save.
#[test]
fn a_coarser_addition_loads_the_same() {
    let device = Device::simulator();
    let x: Vec<f32> = (0..9000_u16).map(f32::from).collect();
    let y = vec![0.5_f32; x.len()];
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    let (x, y) = (device.upload(&x).unwrap(), device.upload(&y).unwrap());
    let mut sectors = Vec::new();
    for factor in CoarseFactor::ALL {
        let mut z = device.upload(&vec![f32::NAN; expected.len()]).unwrap();
        let ((), report) = device
            .with_report(|| product::launch_addition(&device, factor, &x, &y, &mut z))
            .unwrap();
        assert_eq!(z.to_vec().unwrap(), expected, "{factor:?}");
        sectors.push(
            report.launches[0]
                .counts
                .of(Operation::GlobalLoad)
                .global
                .sectors,
        );
    }
    assert_eq!(sectors, [2 * 9000 * 4 / 32; 5]);
}

#[test]
fn additions_of_every_length_are_right_on_every_machine() {
    for device in machines() {
        for length in [0, 1, 255, 256, 257, 4097] {
            let x: Vec<f32> = (0..length as u16).map(f32::from).collect();
            let left = device.upload(&x).unwrap();
            let expected: Vec<f32> = x.iter().map(|x| x + x).collect();
            for factor in CoarseFactor::ALL {
                let mut z = device.upload(&vec![f32::NAN; length]).unwrap();
                product::launch_addition(&device, factor, &left, &left, &mut z).unwrap();
                assert_eq!(z.to_vec().unwrap(), expected, "{factor:?}, {length}");
            }
        }
    }
}

#[test]
fn matrices_in_another_order_are_refused() {
    let device = Device::simulator();
    for step in Step::ALL {
        let operands = Operands::new((4, 5, 6));
        let (a, b) = operands.upload(&device, step.order_of_b().transposed());
        let mut c = device.matrix_zeros((4, 5)).unwrap();
        let error = product::launch(&device, step, &a, &b, &mut c).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::LaunchConfig { .. }),
            "{step:?}: {error}"
        );
        operands.check(&device, step);
    }
}

#[test]
fn matrices_that_do_not_fit_are_refused() {
    let device = Device::simulator();
    for step in Step::ALL {
        let (a, b) = Operands::new((4, 5, 6)).upload(&device, step.order_of_b());
        let mut c = device.matrix_zeros((5, 4)).unwrap();
        let error = product::launch(&device, step, &a, &b, &mut c).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::ShapeMismatch { .. }),
            "{step:?}: {error}"
        );
        let error = product::launch(&device, step, &b, &a, &mut c).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::ShapeMismatch { .. }),
            "{step:?}: {error}"
        );
    }
}
