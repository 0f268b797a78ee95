//! Products of a warp, bit for bit as on the simulated device's tensor cores.
//!
//! The lanes synchronise, and the last to arrive computes for all.

use super::memory::{Space, announce};
use super::position::{lane_index, warp_width};
use crate::mma::{A, B, C, Element, MatrixRegisters, Multiply, Tf32};
use crate::warp::LaneValue;
use bytemuck::Pod;
use half::{bf16, f16};
use simt::tensor::{F64, FloatUnit, IntegerUnit, WarpUnits};
use simt::{AccessKind, DefectKind, Operation};

/// The warp width that tensor cores support.
const LANES: u32 = 32;

/// A lane's operands of a product.
struct LaneOperands<L, R, S> {
    a: L,
    b: R,
    c: S,
}

/// The matrices of a product as bits: A and C row-major, B column-major.
struct Matrices {
    k: usize,
    a: Vec<u64>,
    b: Vec<u64>,
    c: Vec<u64>,
}

/// The mask of all lanes. Reports warps of another width, which tensor cores do not support.
#[track_caller]
fn all_lanes(name: &str) -> u64 {
    let width = warp_width();
    if width != LANES {
        simt::fail(
            DefectKind::InvalidArgument,
            format!("{name} by a warp of {width} lanes: tensor cores support warps of {LANES}"),
        );
    }
    u64::from(u32::MAX)
}

/// Adds a product. `name` is unique to this product.
#[track_caller]
fn multiply<L, R, S, const M: usize, const N: usize, const K: usize>(
    name: &'static str,
    a: L::Registers,
    b: R::Registers,
    c: S::Registers,
    product: impl FnOnce(&mut Matrices),
) -> S::Registers
where
    L: Element<M, K>,
    R: Element<K, N>,
    S: Element<M, N>,
{
    let mask = all_lanes(name);
    let operation = Operation::TensorProduct {
        operations: (2 * M * N * K) as u32,
    };
    let mut own = LaneOperands { a, b, c };
    let combine = |lanes: &mut [&mut LaneOperands<L::Registers, R::Registers, S::Registers>]| {
        let mut matrices = Matrices {
            k: K,
            a: vec![0; M * K],
            b: vec![0; K * N],
            c: vec![0; M * N],
        };
        for (lane, factors) in lanes.iter().enumerate() {
            let fragment = A::<L, M, K> {
                registers: factors.a,
            };
            for index in 0..A::<L, M, K>::LEN {
                let (row, k) = A::<L, M, K>::place_in(lane, index);
                matrices.a[row * K + k] = fragment.get(index).to_lane_bits();
            }
            let fragment = B::<R, K, N> {
                registers: factors.b,
            };
            for index in 0..B::<R, K, N>::LEN {
                let (k, column) = B::<R, K, N>::place_in(lane, index);
                matrices.b[column * K + k] = fragment.get(index).to_lane_bits();
            }
            let fragment = C::<S, M, N> {
                registers: factors.c,
            };
            for index in 0..C::<S, M, N>::LEN {
                let (row, column) = C::<S, M, N>::place_in(lane, index);
                matrices.c[row * N + column] = fragment.get(index).to_lane_bits();
            }
        }
        product(&mut matrices);
        for (lane, factors) in lanes.iter_mut().enumerate() {
            factors.c = C::<S, M, N>::of_lane(lane, |row, column| {
                S::from_lane_bits(matrices.c[row * N + column])
            })
            .registers;
        }
    };
    // SAFETY: the closure only computes.
    unsafe { simt::warp_exchange(name, Some(operation), mask, &mut own, combine) };
    own.c
}

fn words(bits: &[u64]) -> Vec<u32> {
    bits.iter().map(|bits| *bits as u32).collect()
}

impl Matrices {
    fn multiply_floats(&mut self, unit: impl FnOnce(WarpUnits) -> FloatUnit) {
        let capability = simt::profile().datasheet().compute_capability;
        let (major, _) = capability.unwrap_or_default();
        let unit = unit(WarpUnits::of_compute_capability(major));
        let mut sums = words(&self.c);
        unit.multiply(self.k, &words(&self.a), &words(&self.b), &mut sums);
        self.c = sums.into_iter().map(u64::from).collect();
    }

    fn multiply_integers(&mut self, a_signed: bool, b_signed: bool) {
        let unit = IntegerUnit {
            a_signed,
            b_signed,
            ..simt::tensor::S8
        };
        let bytes = |bits: &[u64]| -> Vec<u8> { bits.iter().map(|bits| *bits as u8).collect() };
        let mut sums: Vec<i32> = self.c.iter().map(|bits| *bits as i32).collect();
        unit.multiply(self.k, &bytes(&self.a), &bytes(&self.b), &mut sums);
        self.c = sums.into_iter().map(LaneValue::to_lane_bits).collect();
    }

    fn multiply_doubles(&mut self) {
        F64.multiply(self.k, &self.a, &self.b, &mut self.c);
    }
}

macro_rules! products {
    ($($a:ty, $b:ty => $c:ty, $m:literal x $n:literal x $($k:literal)|*: $product:expr;)*) => {$($(
        impl Multiply<$b, $c, $m, $n, $k> for $a {
            #[track_caller]
            unsafe fn multiply(
                a: <Self as Element<$m, $k>>::Registers,
                b: <$b as Element<$k, $n>>::Registers,
                c: <$c as Element<$m, $n>>::Registers,
            ) -> <$c as Element<$m, $n>>::Registers {
                let name = concat!(
                    "mma of ", stringify!($a), " and ", stringify!($b), " to ", stringify!($c),
                    ", ", $m, " x ", $n, " x ", $k
                );
                multiply::<$a, $b, $c, $m, $n, $k>(name, a, b, c, $product)
            }
        }
    )*)*};
}
products! {
    f16, f16 => f32, 16 x 8 x 8 | 16: |matrices| matrices.multiply_floats(|units| units.f16);
    f16, f16 => f16, 16 x 8 x 8 | 16: |matrices| matrices.multiply_floats(|units| units.f16_to_f16);
    bf16, bf16 => f32, 16 x 8 x 8 | 16: |matrices| matrices.multiply_floats(|units| units.bf16);
    Tf32, Tf32 => f32, 16 x 8 x 4 | 8: |matrices| matrices.multiply_floats(|units| units.tf32);
    i8, i8 => i32, 8 x 8 x 16: |matrices| matrices.multiply_integers(true, true);
    i8, i8 => i32, 16 x 8 x 16 | 32: |matrices| matrices.multiply_integers(true, true);
    i8, u8 => i32, 8 x 8 x 16: |matrices| matrices.multiply_integers(true, false);
    i8, u8 => i32, 16 x 8 x 16 | 32: |matrices| matrices.multiply_integers(true, false);
    u8, i8 => i32, 8 x 8 x 16: |matrices| matrices.multiply_integers(false, true);
    u8, i8 => i32, 16 x 8 x 16 | 32: |matrices| matrices.multiply_integers(false, true);
    u8, u8 => i32, 8 x 8 x 16: |matrices| matrices.multiply_integers(false, false);
    u8, u8 => i32, 16 x 8 x 16 | 32: |matrices| matrices.multiply_integers(false, false);
    f64, f64 => f64, 8 x 8 x 4: Matrices::multiply_doubles;
    f64, f64 => f64, 16 x 8 x 4 | 8 | 16: Matrices::multiply_doubles;
}

/// The row or column of a matrix that a lane addresses, and the registers that it holds.
struct Line<R> {
    bytes: [u8; 16],
    registers: R,
}

/// Line and byte of each of the four bytes that a lane's register holds of a matrix. If `transposed`, elements have
/// 16 bits, and lines are columns.
fn part_of_line(lane: usize, transposed: bool) -> [(usize, usize); 4] {
    let (line, place) = (lane / 4, lane % 4);
    if transposed {
        let (first, second) = (2 * place, 2 * place + 1);
        [
            (first, 2 * line),
            (first, 2 * line + 1),
            (second, 2 * line),
            (second, 2 * line + 1),
        ]
    } else {
        core::array::from_fn(|byte| (line, 4 * place + byte))
    }
}

impl<const COUNT: usize> MatrixRegisters for [u32; COUNT]
where
    [u32; COUNT]: Matrix,
{
    const COUNT: usize = COUNT;

    #[track_caller]
    unsafe fn load<T: Pod, const TRANSPOSED: bool>(
        base: *const T,
        len: usize,
        index: usize,
    ) -> Self {
        let name = Self::NAMES[usize::from(TRANSPOSED)];
        let mask = all_lanes(name);
        let mut own = Line {
            bytes: [0; 16],
            registers: [0; COUNT],
        };
        if (lane_index() as usize) < 8 * COUNT {
            let count = 16 / size_of::<T>();
            // SAFETY: the elements are in shared memory.
            unsafe { announce(Space::Shared, AccessKind::Read, base, len, index, count) };
            // SAFETY: the range was checked above.
            own.bytes = unsafe { base.add(index).cast::<[u8; 16]>().read() };
        }
        let combine = |lanes: &mut [&mut Line<Self>]| {
            for lane in 0..lanes.len() {
                let part = part_of_line(lane, TRANSPOSED);
                for matrix in 0..COUNT {
                    let bytes = part.map(|(line, byte)| lanes[8 * matrix + line].bytes[byte]);
                    lanes[lane].registers[matrix] = u32::from_le_bytes(bytes);
                }
            }
        };
        // SAFETY: the closure only moves bytes.
        unsafe { simt::warp_exchange(name, None, mask, &mut own, combine) };
        own.registers
    }

    #[track_caller]
    unsafe fn store<T: Pod, const TRANSPOSED: bool>(self, base: *mut T, len: usize, index: usize) {
        let name = Self::NAMES[2 + usize::from(TRANSPOSED)];
        let mask = all_lanes(name);
        let mut own = Line {
            bytes: [0; 16],
            registers: self,
        };
        let combine = |lanes: &mut [&mut Line<Self>]| {
            for lane in 0..lanes.len() {
                let part = part_of_line(lane, TRANSPOSED);
                for matrix in 0..COUNT {
                    let bytes = lanes[lane].registers[matrix].to_le_bytes();
                    for ((line, place), byte) in part.into_iter().zip(bytes) {
                        lanes[8 * matrix + line].bytes[place] = byte;
                    }
                }
            }
        };
        // SAFETY: the closure only moves bytes.
        unsafe { simt::warp_exchange(name, None, mask, &mut own, combine) };
        if (lane_index() as usize) < 8 * COUNT {
            let count = 16 / size_of::<T>();
            // SAFETY: the elements are in shared memory.
            unsafe { announce(Space::Shared, AccessKind::Write, base, len, index, count) };
            // SAFETY: the range was checked above.
            unsafe { base.add(index).cast::<[u8; 16]>().write(own.bytes) };
        }
    }
}

/// The numbers of matrices that instructions move, with the names of loads and stores, plain and
/// transposed.
pub trait Matrix {
    const NAMES: [&'static str; 4];
}

impl Matrix for [u32; 1] {
    const NAMES: [&'static str; 4] = [
        "ldmatrix x1",
        "ldmatrix x1 trans",
        "stmatrix x1",
        "stmatrix x1 trans",
    ];
}

impl Matrix for [u32; 2] {
    const NAMES: [&'static str; 4] = [
        "ldmatrix x2",
        "ldmatrix x2 trans",
        "stmatrix x2",
        "stmatrix x2 trans",
    ];
}

impl Matrix for [u32; 4] {
    const NAMES: [&'static str; 4] = [
        "ldmatrix x4",
        "ldmatrix x4 trans",
        "stmatrix x4",
        "stmatrix x4 trans",
    ];
}
