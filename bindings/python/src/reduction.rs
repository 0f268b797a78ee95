//! Reductions of arrays, as a whole or along an axis.

use crate::element;
use crate::errors::{Class, exception};
use crate::operand::{Operand, Work};
use dlpark::ffi::DLDataType;
use half::{bf16, f16};
use pyo3::prelude::*;
use tilewright::interop::dlpack::{Tensor, TensorElement};
use tilewright::{Device, Reducible, ReducibleLines, ops};

/// What one reduction of the crate does with tensors.
struct Reduction {
    value: DLDataType,
    call: fn(&Device, &Tensor, &mut Tensor, Option<usize>) -> tilewright::Result<()>,
}

impl Reduction {
    fn of<R: Operation, T: TensorElement + ReducibleLines<R>>() -> Self
    where
        <T as Reducible<R>>::Output: TensorElement + Named,
    {
        Self {
            value: <T as Reducible<R>>::Output::TYPE,
            call: reduced::<R, T>,
        }
    }
}

/// An operation of the crate, which is a value of its own type.
trait Operation {
    const VALUE: Self;
}

/// The protocol's name of a value's type.
trait Named {
    const TYPE: DLDataType;
}

macro_rules! named {
    ($($value:ident: $name:ident;)*) => {$(
        impl Named for $value {
            const TYPE: DLDataType = DLDataType::$name;
        }
    )*};
}

named! {
    u8: U8;
    i32: I32;
    u32: U32;
    i64: I64;
    u64: U64;
    f16: F16;
    bf16: BF16;
    f32: F32;
    f64: F64;
}

/// Finds the reduction by an operation of elements of a type.
macro_rules! reductions {
    ($($elements:tt: $($name:literal => $operation:ident),*;)*) => {
        fn reduction(operation: &str, element: DLDataType) -> PyResult<Reduction> {
            match operation {
                $($($name => reductions! { @of $elements, ops::$operation, element },)*)*
                _ => return Err(unknown(operation)),
            }
            .ok_or_else(|| Class::Type.error(format!(
                "the reduction {operation:?} has no kernel for elements of type {}", element::name(element)
            )))
        }

        $($(impl Operation for ops::$operation {
            const VALUE: Self = Self;
        })*)*

        const NAMES: &[&str] = &[$($($name),*),*];
    };
    (@of numbers, $operation:ty, $element:ident) => {
        match $element {
            DLDataType::I32 => Some(Reduction::of::<$operation, i32>()),
            DLDataType::U32 => Some(Reduction::of::<$operation, u32>()),
            DLDataType::I64 => Some(Reduction::of::<$operation, i64>()),
            DLDataType::U64 => Some(Reduction::of::<$operation, u64>()),
            _ => reductions! { @of floats, $operation, $element },
        }
    };
    (@of floats, $operation:ty, $element:ident) => {
        match $element {
            DLDataType::F16 => Some(Reduction::of::<$operation, f16>()),
            DLDataType::BF16 => Some(Reduction::of::<$operation, bf16>()),
            DLDataType::F32 => Some(Reduction::of::<$operation, f32>()),
            DLDataType::F64 => Some(Reduction::of::<$operation, f64>()),
            _ => None,
        }
    };
    (@of masks, $operation:ty, $element:ident) => {
        match $element {
            DLDataType::U8 => Some(Reduction::of::<$operation, u8>()),
            _ => None,
        }
    };
}

reductions! {
    numbers: "sum" => Sum, "product" => Product, "mean" => Mean, "min" => Min, "max" => Max, "argmin" => ArgMin,
        "argmax" => ArgMax;
    floats: "sum_of_squares" => SumOfSquares, "norm1" => Norm1, "norm2" => Norm2, "norm_inf" => NormInf,
        "variance" => Variance;
    masks: "count" => Count, "any" => Any, "all" => All;
}

fn unknown(operation: &str) -> PyErr {
    let names = NAMES.join(", ");
    Class::Value.error(format!(
        "there is no reduction {operation:?}; there are {names}"
    ))
}

/// The numbers of elements before, along and after an axis.
struct Lines {
    before: usize,
    along: usize,
    after: usize,
}

impl Lines {
    fn of(shape: &[usize], axis: usize) -> Self {
        let product = |sizes: &[usize]| sizes.iter().product();
        Self {
            before: product(&shape[..axis]),
            along: shape[axis],
            after: product(&shape[axis + 1..]),
        }
    }
}

fn reduced<R: Operation, T: TensorElement + ReducibleLines<R>>(
    device: &Device,
    x: &Tensor,
    values: &mut Tensor,
    axis: Option<usize>,
) -> tilewright::Result<()>
where
    <T as Reducible<R>>::Output: TensorElement,
{
    let shape: Vec<usize> = x.shape().iter().map(|size| *size as usize).collect();
    let mut values = values.buffer_mut()?;
    match (axis, shape.len()) {
        (None, _) | (Some(_), 1) => device.reduce_into(x.buffer::<T>()?, R::VALUE, values),
        (Some(0), 2) => device.reduce_columns_into(x.matrix::<T>()?, R::VALUE, values),
        (Some(_), 2) => device.reduce_rows_into(x.matrix::<T>()?, R::VALUE, values),
        (Some(axis), _) => {
            let (
                x,
                Lines {
                    before,
                    along,
                    after,
                },
            ) = (x.buffer::<T>()?, Lines::of(&shape, axis));
            if after == 1 {
                return device.reduce_rows_into(x.as_matrix((before, along))?, R::VALUE, values);
            }
            // Without values, one block tells whether the call is right. There may be as many as a size counts.
            let blocks = if after == 0 { before.min(1) } else { before };
            (0..blocks).try_for_each(|block| {
                let elements = x.slice(block * along * after..(block + 1) * along * after)?;
                let values = values.slice_mut(block * after..(block + 1) * after)?;
                device.reduce_columns_into(elements.as_matrix((along, after))?, R::VALUE, values)
            })
        }
    }
}

/// The axis counted from 0, for one that may be counted from the end.
fn checked_axis(axis: Option<isize>, axes: usize) -> PyResult<Option<usize>> {
    let Some(axis) = axis else { return Ok(None) };
    let from_start = if axis < 0 { axis + axes as isize } else { axis };
    match usize::try_from(from_start).ok().filter(|axis| *axis < axes) {
        Some(axis) => Ok(Some(axis)),
        None => {
            Err(Class::Value.error(format!("an array of {axes} dimensions has no axis {axis}")))
        }
    }
}

/// The name of the type of a reduction's values.
#[pyfunction]
pub fn reduced_type(operation: &str, element: &str) -> PyResult<String> {
    let reduction = reduction(operation, element::named(element)?)?;
    Ok(element::name(reduction.value))
}

/// Writes the reduction of `x` to `out`, or to a new array. Returns where it is.
///
/// `stream` is the handle of the current stream of the array's library, 0 for its default stream, or None for a call
/// that works in a stream of its own and waits.
#[pyfunction]
#[pyo3(signature = (x, operation, axis, out, stream))]
pub fn reduce<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    operation: &str,
    axis: Option<isize>,
    out: Option<Bound<'py, PyAny>>,
    stream: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the package passes the handle of a live stream of the array's device.
    let (work, x) = unsafe { Work::on(x, stream) }?;
    let reduction = reduction(operation, x.tensor.data_type())?;
    let mut shape = x.shape();
    let axis = checked_axis(axis, shape.len())?;
    match axis {
        Some(axis) => drop(shape.remove(axis)),
        None => shape.clear(),
    }
    let out = match out {
        Some(out) => out,
        None => work
            .zeros(reduction.value, shape.clone())?
            .into_pyobject(py)?
            .into_any(),
    };
    let mut result = work.take(&out)?;
    result.check_result([&x])?;
    check_shape(&result, &shape)?;
    py.detach(|| {
        (reduction.call)(&work.device, &x.tensor, &mut result.tensor, axis)?;
        work.finish(vec![x], result)
    })
    .map_err(exception)?;
    Ok(out)
}

fn check_shape(out: &Operand, expected: &[usize]) -> PyResult<()> {
    match out.shape() == expected {
        true => Ok(()),
        false => Err(Class::Value.error(format!(
            "out has shape {:?}, and the result {expected:?}",
            out.shape()
        ))),
    }
}
