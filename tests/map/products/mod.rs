//! Products with functions of their sums: every tile, order and kind of other matrix, against the library's products.

mod functions;
mod limits;

use crate::simulators;
use half::{bf16, f16};
use tilewright::cuda_std::math;
use tilewright::{
    Arithmetic, Device, Matmul, MatmulElement, MatmulInto, Matrix, ModuleSource, Order,
};
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
        let is_kept = !hash(seed, place).is_multiple_of(4);
        let [row, column] = place.map(|it| it as f32);
        [if is_kept { sum } else { 0.0 }, row, column]
    }
}

/// Results of no size.
pub struct Nothing;

impl ProductMap<u8, 0> for Nothing {
    type Parameters = u8;
    type Output = [u8; 0];

    fn map(_sum: f32, []: [u8; 0], _place: [usize; 2], _none: &u8) -> [u8; 0] {
        []
    }
}

tilewright_kernels::maps! {
    /// Results of no size.
    nothing: Nothing of products of f16 with [u8; 0] in Small;
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
