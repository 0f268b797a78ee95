//! Products with functions of their sums: every tile, order and kind of other matrix, against the library's products.

use crate::simulators;
use half::{bf16, f16};
use tilewright::cuda_std::math;
use tilewright::{Arithmetic, Device, ErrorKind, Matmul, Matrix, MatrixView, ModuleSource};
use tilewright::{MatmulElement, MatmulInto, Order, Profile, SimulatorOptions};
use tilewright_kernels::matmul::ProductMap;

/// SwiGLU: the sum times the sigmoid of itself, times another matrix.
pub struct Gate;

macro_rules! gates {
    ($($element:ident $narrow:expr, $widen:expr;)*) => {$(
        impl ProductMap<$element, 1> for Gate {
            type Parameters = u32;
            type Output = $element;

            fn map(sum: f32, [up]: [$element; 1], _place: [usize; 2], _none: &u32) -> $element {
                $narrow(math::silu(sum) * $widen(up))
            }
        }
    )*};
}
gates! {
    f32 |x| x, |x| x;
    f16 f16::from_f32, f16::to_f32;
    bf16 bf16::from_f32, bf16::to_f32;
}

/// The sum plus biases of its column and row, clamped to bounds, in f64.
pub struct Clamp;

impl ProductMap<f32, 2> for Clamp {
    type Parameters = [f32; 2];
    type Output = f64;

    fn map(sum: f32, [column, row]: [f32; 2], _place: [usize; 2], &[low, high]: &[f32; 2]) -> f64 {
        f64::from((sum + column + row).clamp(low, high))
    }
}

/// The sum, or 0 if a hash of seed, row and column says so, with its place.
pub struct Dropout;

/// A hash of the bits of three numbers.
fn hash(seed: u64, [row, column]: [usize; 2]) -> u64 {
    let mixed = (seed ^ row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ column as u64;
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ mixed >> 29
}

impl ProductMap<u8, 0> for Dropout {
    type Parameters = u64;
    type Output = [f32; 3];

    fn map(sum: f32, []: [u8; 0], place: [usize; 2], &seed: &u64) -> [f32; 3] {
        let is_kept = hash(seed, place) % 4 != 0;
        let [row, column] = place.map(|it| it as f32);
        [if is_kept { sum } else { 0.0 }, row, column]
    }
}

tilewright_kernels::maps! {
    /// Gated products.
    gate_large: Gate of products of f32 with [f32; 1] in Large;
    /// Gated products.
    gate_medium: Gate of products of f32 with [f32; 1] in Medium;
    /// Gated products.
    gate_small: Gate of products of f32 with [f32; 1] in Small;
    /// Gated products.
    gate_f16: Gate of products of f16 with [f16; 1] in Small;
    /// Gated products.
    gate_bf16: Gate of products of bf16 with [bf16; 1] in Large;
    /// Gated products by warpgroups.
    gate_f16_warpgroup_large: Gate of products of f16 with [f16; 1] in WarpgroupLarge;
    /// Gated products by warpgroups.
    gate_f16_warpgroup_medium: Gate of products of f16 with [f16; 1] in WarpgroupMedium;
    /// Gated products by warpgroups.
    gate_bf16_warpgroup_small: Gate of products of bf16 with [bf16; 1] in WarpgroupSmall;
    /// Clamped products by warpgroups.
    clamp_bf16_warpgroup: Clamp of products of bf16 with [f32; 2] in WarpgroupSmall;
    /// Clamped products.
    clamp: Clamp of products of f32 with [f32; 2] in Small;
    /// Clamped products.
    clamp_bf16: Clamp of products of bf16 with [f32; 2] in Small;
    /// Products with zeros.
    dropout: Dropout of products of f32 with [u8; 0] in Medium;
    /// Products with zeros.
    dropout_f16: Dropout of products of f16 with [u8; 0] in Large;
}

// SAFETY: (1) there are no images.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("mapped_products", &[]) };

/// M, N and K: whole tiles and tails, one row, one column, and nothing to add.
const SHAPES: [(usize, usize, usize); 6] = [
    (64, 128, 32),
    (1, 130, 17),
    (67, 1, 40),
    (129, 131, 33),
    (5, 7, 0),
    (3, 9, 1),
];

trait Number: MatmulInto<f32> + MatmulElement<Accumulator = f32> {
    fn of(value: f32) -> Self;
}
impl Number for f32 {
    fn of(value: f32) -> Self {
        value
    }
}
impl Number for f16 {
    fn of(value: f32) -> Self {
        Self::from_f32(value)
    }
}
impl Number for bf16 {
    fn of(value: f32) -> Self {
        Self::from_f32(value)
    }
}

fn values(count: usize, seed: usize) -> impl Iterator<Item = f32> {
    (0..count).map(move |i| ((i + seed) * 7919 % 1021) as f32 / 510.0 - 1.0)
}

/// A matrix in this order. With a gap, its lines start at no multiple of 16 bytes.
fn matrix<T: Number>(device: &Device, (rows, cols): (usize, usize), order: Order) -> Matrix<T> {
    let elements: Vec<T> = values(rows * cols, rows + 3 * cols).map(T::of).collect();
    device.matrix((rows, cols, order), &elements).unwrap()
}

/// The sums in f32, as the library computes them.
fn sums<T: Number>(a: &Matrix<T>, b: &Matrix<T>) -> Vec<f32> {
    let product = Matmul::new(a, b).arithmetic(Arithmetic::BatchInvariant);
    product.run_as::<f32>().unwrap().to_vec().unwrap()
}

/// More tiles of warpgroups than one in each direction.
const LARGE: (usize, usize, usize) = (390, 270, 70);

/// Calls `check` for operands of each shape, in one pair of orders for each seed and shape.
fn for_each_product<T: Number>(check: impl Fn(&Device, &Matrix<T>, &Matrix<T>)) {
    for (seed, device) in simulators().enumerate() {
        for (number, (m, n, k)) in SHAPES.into_iter().enumerate() {
            let orders = [Order::RowMajor, Order::ColumnMajor];
            let [of_a, of_b] = [seed + number, (seed + number) / 2].map(|it| orders[it % 2]);
            let a = matrix::<T>(&device, (m, k), of_a);
            let b = matrix::<T>(&device, (k, n), of_b);
            check(&device, &a, &b);
        }
    }
}

/// The same for a row-major A and a column-major B.
fn for_each_product_along_k<T: Number>(check: impl Fn(&Device, &Matrix<T>, &Matrix<T>)) {
    for device in simulators() {
        for (m, n, k) in SHAPES.into_iter().chain([LARGE]) {
            let a = matrix::<T>(&device, (m, k), Order::RowMajor);
            let b = matrix::<T>(&device, (k, n), Order::ColumnMajor);
            check(&device, &a, &b);
        }
    }
}

/// The same bits, one NaN for all.
#[track_caller]
fn assert_equal<T: PartialEq + std::fmt::Debug>(
    found: &[T],
    expected: &[T],
    shape: &dyn std::fmt::Debug,
) {
    assert_eq!(found.len(), expected.len());
    let different = found.iter().zip(expected).position(|(x, y)| x != y);
    assert_eq!(different, None, "{shape:?}");
}

macro_rules! gate_tests {
    ($($test:ident of $element:ident by $each:ident: $($kernel:ident)*;)*) => {$(
        #[test]
        fn $test() {
            $each::<$element>(|device, a, b| {
                let module = device.load(&KERNELS).unwrap();
                let (m, n) = (a.rows(), b.cols());
                let up = matrix::<$element>(device, (m, n), Order::ColumnMajor);
                let elements = up.t().to_matrix().unwrap();
                let of = elements.to_vec().unwrap();
                let expected: Vec<$element> = sums(a, b)
                    .iter()
                    .enumerate()
                    .map(|(i, &sum)| {
                        let other = of[i % n * m + i / n];
                        <Gate as ProductMap<$element, 1>>::map(sum, [other], [0; 2], &0)
                    })
                    .collect();
                $(
                    let found = module.map_product($kernel, (a, b), [up.view()], &0).unwrap();
                    assert_equal(&found.to_vec().unwrap(), &expected, &(a.shape(), b.shape()));
                )*
            });
        }
    )*};
}
gate_tests! {
    a_gate_multiplies_by_another_matrix_in_f32 of f32 by for_each_product:
        gate_large gate_medium gate_small;
    a_gate_multiplies_by_another_matrix_in_f16 of f16 by for_each_product: gate_f16;
    a_gate_multiplies_by_another_matrix_in_bf16 of bf16 by for_each_product: gate_bf16;
    warpgroups_gate_f16 of f16 by for_each_product_along_k:
        gate_f16_warpgroup_large gate_f16_warpgroup_medium;
    warpgroups_gate_bf16 of bf16 by for_each_product_along_k: gate_bf16_warpgroup_small;
}

/// Calls a check for operands of each shape.
type ForEach<T> = fn(&dyn Fn(&Device, &Matrix<T>, &Matrix<T>));

fn assert_clamped<T: Number>(
    for_each: ForEach<T>,
    map: impl Fn(&tilewright::Module, [&Matrix<T>; 2], [MatrixView<'_, f32>; 2]) -> Vec<f64>,
) {
    for_each(&|device, a, b| {
        let module = device.load(&KERNELS).unwrap();
        let (m, n) = (a.rows(), b.cols());
        let (columns, rows): (Vec<f32>, Vec<f32>) =
            (values(n, 3).collect(), values(m, 8).collect());
        let of_columns = device.matrix((1, n), &columns).unwrap();
        let of_rows = device.matrix((m, 1), &rows).unwrap();
        let expected: Vec<f64> = sums(a, b)
            .iter()
            .enumerate()
            .map(|(i, sum)| f64::from((sum + columns[i % n] + rows[i / n]).clamp(-0.5, 2.0)))
            .collect();
        let found = map(&module, [a, b], [of_columns.view(), of_rows.view()]);
        assert_equal(&found, &expected, &(a.shape(), b.shape()));
    });
}

#[test]
fn vectors_are_repeated_and_parameters_are_bounds() {
    assert_clamped::<f32>(
        |check| for_each_product(check),
        |module, [a, b], others| {
            let found = module.map_product(clamp, (a, b), others, &[-0.5, 2.0]);
            found.unwrap().to_vec().unwrap()
        },
    );
    assert_clamped::<bf16>(
        |check| for_each_product(check),
        |module, [a, b], others| {
            let found = module.map_product(clamp_bf16, (a, b), others, &[-0.5, 2.0]);
            found.unwrap().to_vec().unwrap()
        },
    );
    assert_clamped::<bf16>(
        |check| for_each_product_along_k(check),
        |module, [a, b], others| {
            let found = module.map_product(clamp_bf16_warpgroup, (a, b), others, &[-0.5, 2.0]);
            found.unwrap().to_vec().unwrap()
        },
    );
}

fn assert_dropped<T: Number>(
    map: impl Fn(&tilewright::Module, [&Matrix<T>; 2], u64) -> Vec<[f32; 3]>,
) {
    for_each_product::<T>(|device, a, b| {
        let module = device.load(&KERNELS).unwrap();
        let n = b.cols();
        let sums = sums(a, b);
        for seed in [1, 99] {
            let expected: Vec<[f32; 3]> = sums
                .iter()
                .enumerate()
                .map(|(i, &sum)| {
                    let is_kept = hash(seed, [i / n, i % n]) % 4 != 0;
                    [
                        if is_kept { sum } else { 0.0 },
                        (i / n) as f32,
                        (i % n) as f32,
                    ]
                })
                .collect();
            assert_equal(
                &map(&module, [a, b], seed),
                &expected,
                &(a.shape(), b.shape(), seed),
            );
        }
    });
}

#[test]
fn a_mask_depends_on_seed_row_and_column() {
    assert_dropped::<f32>(|module, [a, b], seed| {
        let found = module.map_product(dropout, (a, b), [], &seed);
        found.unwrap().to_vec().unwrap()
    });
    assert_dropped::<f16>(|module, [a, b], seed| {
        let found = module.map_product(dropout_f16, (a, b), [], &seed);
        found.unwrap().to_vec().unwrap()
    });
}

#[test]
fn results_and_operands_can_be_parts_of_matrices() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        let a = matrix::<f16>(&device, (20, 50), Order::RowMajor);
        let b = matrix::<f16>(&device, (50, 30), Order::ColumnMajor);
        // Rows that start at no multiple of 16 bytes.
        let (of_a, of_b) = (
            a.slice(1..18, 3..44).unwrap(),
            b.slice(3..44, 2..27).unwrap(),
        );
        let up = matrix::<f16>(&device, (17, 25), Order::RowMajor);
        let mut whole = device.matrix_zeros::<f16>((19, 40)).unwrap();
        let mut part = whole.slice_mut(1..18, 5..30).unwrap();
        module
            .map_product_into(gate_f16, (of_a, of_b), [up.view()], &0, &mut part)
            .unwrap();
        let packed = module
            .map_product(gate_f16, (of_a, of_b), [up.view()], &0)
            .unwrap();
        let (packed, whole) = (packed.to_vec().unwrap(), whole.to_vec().unwrap());
        for (i, &found) in whole.iter().enumerate() {
            let (row, column) = (i / 40, i % 40);
            let is_inside = (1..18).contains(&row) && (5..30).contains(&column);
            let expected = match is_inside {
                true => packed[(row - 1) * 25 + column - 5],
                false => f16::ZERO,
            };
            assert_eq!(found, expected, "at ({row}, {column})");
        }
        assert!(packed.iter().any(|&it| it != f16::ZERO));
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let device = Device::simulator();
    let module = device.load(&KERNELS).unwrap();
    let a = matrix::<f32>(&device, (4, 6), Order::RowMajor);
    let other = matrix::<f32>(&device, (4, 4), Order::RowMajor);
    let error = module
        .map_product(gate_small, (&a, &a), [other.view()], &0)
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::ShapeMismatch { .. }),
        "{error}"
    );
    let error = module
        .map_product(gate_small, (&a, a.t()), [a.view()], &0)
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::ShapeMismatch { .. }),
        "{error}"
    );
    let mut across = device
        .matrix_zeros::<f32>((4, 4, Order::ColumnMajor))
        .unwrap();
    let error = module
        .map_product_into(gate_small, (&a, a.t()), [other.view()], &0, &mut across)
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NoKernel { .. }),
        "{error}"
    );
    let elsewhere = matrix::<f32>(&Device::simulator(), (4, 4), Order::RowMajor);
    let error = module
        .map_product(gate_small, (&a, a.t()), [elsewhere.view()], &0)
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::WrongDevice { .. }),
        "{error}"
    );
    // A result without elements takes no launch.
    let nothing = device.matrix_zeros::<f32>((0, 6)).unwrap();
    let up = device.matrix_zeros::<f32>((0, 4)).unwrap();
    let found = module
        .map_product(gate_small, (&nothing, a.t()), [up.view()], &0)
        .unwrap();
    assert_eq!(found.shape(), (0, 4));
}

#[test]
fn warpgroups_read_operands_along_k() {
    let device = Device::simulator();
    let module = device.load(&KERNELS).unwrap();
    let a = matrix::<f16>(&device, (8, 8), Order::RowMajor);
    let error = module
        .map_product(gate_f16_warpgroup_large, (&a, &a), [a.view()], &0)
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NoKernel { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("column-major B"), "{error}");
    let old = Device::simulator_with(SimulatorOptions::default().with_profile(Profile::A100));
    let module = old.load(&KERNELS).unwrap();
    let a = matrix::<f16>(&old, (8, 8), Order::RowMajor);
    let error = module
        .map_product(gate_f16_warpgroup_large, (&a, a.t()), [a.view()], &0)
        .unwrap_err();
    assert!(error.to_string().contains("sm_90a"), "{error}");
    module
        .map_product(gate_f16, (&a, a.t()), [a.view()], &0)
        .unwrap();
}

#[test]
fn tensor_cores_need_warps_of_32_threads() {
    let options = SimulatorOptions::default().with_warp_width(64);
    let device = Device::simulator_with(options);
    let module = device.load(&KERNELS).unwrap();
    let a = matrix::<f16>(&device, (4, 4), Order::RowMajor);
    let error = module
        .map_product(gate_f16, (&a, &a), [a.view()], &0)
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NoKernel { .. }),
        "{error}"
    );
    // Those of f32 run anywhere.
    let a = matrix::<f32>(&device, (4, 4), Order::RowMajor);
    module
        .map_product(gate_small, (&a, &a), [a.view()], &0)
        .unwrap();
}
