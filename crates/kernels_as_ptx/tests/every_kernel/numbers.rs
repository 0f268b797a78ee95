//! Numbers of each element type, so that sums of floats are rounded and those of integers wrap or not as they do.

use half::{bf16, f16};
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::{Device, Element, Matrix, Order, Result};

/// An element made of a small number.
pub trait Number: Element {
    fn of(value: f32) -> Self;
}

macro_rules! numbers {
    ($($element:ty: $of:expr;)*) => {$(
        impl Number for $element {
            fn of(value: f32) -> Self {
                $of(value)
            }
        }
    )*};
}
numbers! {
    f32: |it| it;
    f64: f64::from;
    f16: f16::from_f32;
    bf16: bf16::from_f32;
    F8E4M3: F8E4M3::from_f32;
    F8E5M2: F8E5M2::from_f32;
    i8: |it| (3.0 * it) as i8;
    i16: |it| (3.0 * it) as i16;
    i32: |it| (3.0 * it) as i32;
    i64: |it| (3.0 * it) as i64;
    u8: |it: f32| (3.0 * it).abs() as u8;
    u16: |it: f32| (3.0 * it).abs() as u16;
    u32: |it: f32| (3.0 * it).abs() as u32;
    u64: |it: f32| (3.0 * it).abs() as u64;
}

/// Thirds from -5 to 5.
pub fn numbers<T: Number>(count: usize) -> Vec<T> {
    let number = |index: usize| ((index * 7 % 31) as f32 - 15.0) / 3.0;
    (0..count).map(|index| T::of(number(index))).collect()
}

/// A matrix of such numbers in an order.
pub fn matrix<T: Number>(
    device: &Device,
    shape: (usize, usize),
    order: Order,
) -> Result<Matrix<T>> {
    let (rows, columns) = shape;
    let elements = numbers(rows * columns);
    let line = match order {
        Order::RowMajor => columns,
        Order::ColumnMajor => rows,
    };
    let mut matrix = device.matrix_uninit((rows, columns, order))?;
    matrix.view_mut().copy_from_strided(&elements, line)?;
    Ok(matrix)
}
