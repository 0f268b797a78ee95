//! Products of a warp, by the device library's simulated machine.

use crate::operations::Product;
use crate::words::{MatrixLayout, MatrixShape, Type};
use cuda_std::mma::{A, B, C, Tf32};
use cuda_std::warp::LaneValue;
use half::{bf16, f16};

/// A lane's registers of the first and the second operand, and of the sums, which it replaces.
pub(crate) type WarpProduct = fn(&[u64], &[u64], &mut [u64]);

/// A lane's registers of A, B and the sums.
pub(crate) fn registers_of(it: &Product) -> Option<[u32; 3]> {
    let [rows, columns, depth] = match it.shape {
        MatrixShape::M8n8k4 => [8, 8, 4],
        MatrixShape::M8n8k16 => [8, 8, 16],
        MatrixShape::M16n8k4 => [16, 8, 4],
        MatrixShape::M16n8k8 => [16, 8, 8],
        MatrixShape::M16n8k16 => [16, 8, 16],
        MatrixShape::M16n8k32 => [16, 8, 32],
        _ => return None,
    };
    let registers = |elements: u32, of: Type| {
        let bits = of.bits()?;
        Some(elements / 32 / (32 / bits).max(1))
    };
    Some([
        registers(rows * depth, it.a)?,
        registers(depth * columns, it.b)?,
        registers(rows * columns, it.d)?,
    ])
}

/// The function of one product.
macro_rules! product {
    ($a:ty, $b:ty, $c:ty, $m:literal x $n:literal x $k:literal) => {
        |a, b, sums| {
            let a = A::<$a, $m, $k>::from_fn(elements(a));
            let b = B::<$b, $k, $n>::from_fn(elements(b));
            let c = C::<$c, $m, $n>::from_fn(elements(sums));
            // SAFETY: the simulator reports lanes that do not make the call together.
            let c = unsafe { c.add_product(a, b) };
            put(sums, |index| c.get(index));
        }
    };
}

/// The product of an instruction, without the clamping of [`is_clamped`].
pub(crate) fn warp_product(it: &Product) -> Option<WarpProduct> {
    let is_plain =
        it.a_layout == MatrixLayout::Row && it.b_layout == MatrixLayout::Column && it.c == it.d;
    if !is_plain {
        return None;
    }
    use MatrixShape::{M8n8k4, M8n8k16, M16n8k4, M16n8k8, M16n8k16, M16n8k32};
    use Type::{Bf16, F16, F32, F64, S8, S32, Tf32 as T32, U8};
    Some(match (it.shape, it.a, it.b, it.d) {
        (M16n8k8, F16, F16, F32) => product!(f16, f16, f32, 16 x 8 x 8),
        (M16n8k16, F16, F16, F32) => product!(f16, f16, f32, 16 x 8 x 16),
        (M16n8k8, F16, F16, F16) => product!(f16, f16, f16, 16 x 8 x 8),
        (M16n8k16, F16, F16, F16) => product!(f16, f16, f16, 16 x 8 x 16),
        (M16n8k8, Bf16, Bf16, F32) => product!(bf16, bf16, f32, 16 x 8 x 8),
        (M16n8k16, Bf16, Bf16, F32) => product!(bf16, bf16, f32, 16 x 8 x 16),
        (M16n8k4, T32, T32, F32) => product!(Tf32, Tf32, f32, 16 x 8 x 4),
        (M16n8k8, T32, T32, F32) => product!(Tf32, Tf32, f32, 16 x 8 x 8),
        (M8n8k4, F64, F64, F64) => product!(f64, f64, f64, 8 x 8 x 4),
        (M16n8k4, F64, F64, F64) => product!(f64, f64, f64, 16 x 8 x 4),
        (M16n8k8, F64, F64, F64) => product!(f64, f64, f64, 16 x 8 x 8),
        (M16n8k16, F64, F64, F64) => product!(f64, f64, f64, 16 x 8 x 16),
        (M8n8k16, S8, S8, S32) => product!(i8, i8, i32, 8 x 8 x 16),
        (M8n8k16, S8, U8, S32) => product!(i8, u8, i32, 8 x 8 x 16),
        (M8n8k16, U8, S8, S32) => product!(u8, i8, i32, 8 x 8 x 16),
        (M8n8k16, U8, U8, S32) => product!(u8, u8, i32, 8 x 8 x 16),
        (M16n8k16, S8, S8, S32) => product!(i8, i8, i32, 16 x 8 x 16),
        (M16n8k16, S8, U8, S32) => product!(i8, u8, i32, 16 x 8 x 16),
        (M16n8k16, U8, S8, S32) => product!(u8, i8, i32, 16 x 8 x 16),
        (M16n8k16, U8, U8, S32) => product!(u8, u8, i32, 16 x 8 x 16),
        (M16n8k32, S8, S8, S32) => product!(i8, i8, i32, 16 x 8 x 32),
        (M16n8k32, S8, U8, S32) => product!(i8, u8, i32, 16 x 8 x 32),
        (M16n8k32, U8, S8, S32) => product!(u8, i8, i32, 16 x 8 x 32),
        (M16n8k32, U8, U8, S32) => product!(u8, u8, i32, 16 x 8 x 32),
        _ => return None,
    })
}

/// Whether sums are clamped to their type.
pub(crate) fn is_clamped(it: &Product) -> bool {
    it.d == Type::S32 && it.satfinite.is_some()
}

/// A product of integers whose sums are clamped. The products alone do not overflow.
pub(crate) fn clamped(product: WarpProduct, a: &[u64], b: &[u64], sums: &mut [u64]) {
    let mut products = vec![0; sums.len()];
    product(a, b, &mut products);
    for (sum, product) in sums.iter_mut().zip(products) {
        *sum = u64::from((*sum as i32).saturating_add(product as i32) as u32);
    }
}

/// Elements of type `T` in a lane's registers, in order.
fn elements<T: LaneValue>(registers: &[u64]) -> impl FnMut(usize, usize) -> T {
    let mut next = 0;
    let in_register = in_register::<T>();
    move |_, _| {
        let shift = next % in_register * size_of::<T>() * 8;
        let bits = registers[next / in_register] >> shift;
        next += 1;
        T::from_lane_bits(bits)
    }
}

/// How many elements a register holds: registers have 4 bytes, or those of an f64.
fn in_register<T>() -> usize {
    (4 / size_of::<T>()).max(1)
}

/// Puts the elements of a lane into its registers.
fn put<T: LaneValue>(registers: &mut [u64], element: impl Fn(usize) -> T) {
    let in_register = in_register::<T>();
    for (place, register) in registers.iter_mut().enumerate() {
        let bits = |within: usize| {
            let bits = element(place * in_register + within).to_lane_bits();
            bits << (within * size_of::<T>() * 8)
        };
        *register = (0..in_register).map(bits).fold(0, |all, bits| all | bits);
    }
}
