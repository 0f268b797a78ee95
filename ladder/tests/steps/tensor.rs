//! The steps of the ladder of the product on tensor cores.

use crate::common::random::Random;
use crate::common::{devices, machines};
use half::bf16;
use tilewright::testing::{seeds, under_seeds};
use tilewright::{Device, ErrorKind, Matrix, Order, TensorMapRule};
use tilewright_ladder::tensor::{self, Step};

/// Rows of A, columns of B, columns of A.
type Shape = (usize, usize, usize);

/// Two matrices to multiply, row after row and column after column.
struct Operands {
    shape: Shape,
    a: Vec<bf16>,
    b: Vec<bf16>,
}

impl Operands {
    /// Elements that are drawn by `element`.
    fn new((m, n, k): Shape, mut element: impl FnMut(&mut Random) -> f64) -> Self {
        let mut random = Random::new((m + 7 * n + 49 * k) as u64);
        let mut elements = |count| -> Vec<bf16> {
            let element = || bf16::from_f64(element(&mut random));
            std::iter::repeat_with(element).take(count).collect()
        };
        Self {
            shape: (m, n, k),
            a: elements(m * k),
            b: elements(k * n),
        }
    }

    /// Integers from -8 to 8: sums of their products are exact in f32.
    fn integers(shape: Shape) -> Self {
        Self::new(shape, |random| random.integer(-8..=8) as f64)
    }

    /// The exact product of integers, rounded once.
    fn rounded(&self) -> Vec<bf16> {
        let (m, n, k) = self.shape;
        let output = |i: usize| {
            let (row, column) = (&self.a[i / n * k..][..k], &self.b[i % n * k..][..k]);
            let products = row.iter().zip(column).map(|(a, b)| a.to_f32() * b.to_f32());
            bf16::from_f32(products.sum())
        };
        (0..m * n).map(output).collect()
    }

    /// The product by `step` in a matrix of NaN.
    fn multiply(&self, device: &Device, step: Step) -> Vec<u16> {
        let (m, n, k) = self.shape;
        let a = device.matrix((m, k), &self.a).unwrap();
        let b = match step.order_of_b() {
            Order::ColumnMajor => device.matrix((k, n, Order::ColumnMajor), &self.b),
            Order::RowMajor => {
                let rows = (0..k).flat_map(|i| (0..n).map(move |j| self.b[j * k + i]));
                device.matrix((k, n), &rows.collect::<Vec<_>>())
            }
        };
        let mut c = device.matrix((m, n), &vec![bf16::NAN; m * n]).unwrap();
        tensor::launch(device, step, &a, &b.unwrap(), &mut c).unwrap();
        c.to_vec().unwrap().into_iter().map(bf16::to_bits).collect()
    }
}

fn bits(elements: Vec<bf16>) -> Vec<u16> {
    elements.into_iter().map(bf16::to_bits).collect()
}

/// Those of the machines that run code for compute capability 9.0, which has warps of 32 threads.
fn hoppers(machines: Vec<Device>) -> impl Iterator<Item = Device> {
    let has_warps_of_32 = |device: &Device| device.properties().warp_threads == 32;
    let machines = machines.into_iter().filter(has_warps_of_32);
    machines.filter(|device| {
        let is_hopper = matches!(device.properties().compute_capability, None | Some((9, 0)));
        if !is_hopper {
            println!(
                "skipped: {} is not of compute capability 9.0",
                device.name()
            );
        }
        is_hopper
    })
}

/// One output, parts of tiles, whole tiles, and one more than that.
const SHAPES: [Shape; 6] = [
    (1, 8, 8),
    (63, 72, 24),
    (128, 256, 64),
    (129, 264, 72),
    (257, 136, 200),
    (300, 520, 328),
];

#[test]
fn every_step_multiplies_every_shape() {
    for device in hoppers(devices()) {
        for shape in SHAPES {
            let operands = Operands::integers(shape);
            let expected = bits(operands.rounded());
            for step in Step::ALL {
                let product = operands.multiply(&device, step);
                assert!(product == expected, "{step:?}, {shape:?} on {device:?}");
            }
        }
    }
}

#[test]
fn every_step_gives_the_same_bits_on_every_machine() {
    let operands = Operands::new((130, 264, 456), Random::wide);
    let expected = operands.multiply(&Device::simulator(), Step::Warpgroup);
    for device in hoppers(machines()) {
        for step in Step::ALL {
            let product = operands.multiply(&device, step);
            assert!(product == expected, "{step:?} on {device:?}");
        }
    }
}

#[test]
fn every_step_is_right_under_every_schedule() {
    let operands = Operands::integers((136, 264, 136));
    let expected = bits(operands.rounded());
    under_seeds(seeds(4), |device| {
        for step in Step::ALL {
            assert!(operands.multiply(device, step) == expected, "{step:?}");
        }
    });
}

#[test]
fn the_compiler_has_nothing_to_remark() {
    for device in hoppers(devices()) {
        assert_eq!(tensor::compiler_warnings(&device).unwrap(), [""; 0]);
    }
}

#[test]
fn fragments_are_loaded_without_bank_conflicts() {
    let device = Device::simulator();
    let operands = Operands::integers((128, 128, 256));
    for step in [Step::Warps, Step::WarpsRows] {
        let (_, report) = device
            .with_report(|| Ok(operands.multiply(&device, step)))
            .unwrap();
        let [launch] = &report.launches[..] else {
            panic!("{step:?} is one launch");
        };
        let shared = launch.counts.total().shared;
        assert_eq!(shared.conflict_ways(), Some(1.0), "{step:?}");
    }
}

/// Each step takes 16 bytes of a row at a time.
#[test]
fn rows_that_no_copy_reads_are_refused() {
    let device = Device::simulator();
    let zeros = |rows, columns, order| -> Matrix<bf16> {
        let matrix = device.matrix_zeros((rows, columns)).unwrap();
        match order {
            Order::RowMajor => matrix,
            Order::ColumnMajor => device
                .matrix_zeros::<bf16>((columns, rows))
                .unwrap()
                .into_transposed(),
        }
    };
    for step in Step::ALL {
        // Rows of A, of C.
        for (k, n) in [(12, 8), (8, 12)] {
            let a = zeros(8, k, Order::RowMajor);
            let b = zeros(k, n, step.order_of_b());
            let mut c = zeros(8, n, Order::RowMajor);
            let error = tensor::launch(&device, step, &a, &b, &mut c).unwrap_err();
            assert!(
                matches!(
                    error.kind(),
                    ErrorKind::TensorMap {
                        rule: TensorMapRule::RowStride { bytes: 24, .. }
                    }
                ),
                "{step:?}, {k}, {n}: {error}"
            );
        }
    }
}
