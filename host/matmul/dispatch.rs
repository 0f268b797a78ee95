//! Launches the selected kernel, for each type of elements and of outputs.

use super::arithmetic::Arithmetic;
use super::element::sealed::{OutputOf, TensorOutput};
use super::kernel::{ElementType, GemmKernel, Method};
use super::launch::{bytes, chain, grouped, mma, parts, split, tensor, vector, words};
use super::matrices::Matrices;
use super::select::{Request, Selection};
use super::types::sealed::{self, Computes};
use super::types::{Accumulate, Accumulator, MatmulInto};
use crate::device::Device;
use crate::error::Outcome;
use cuda_std::fp8::{F8E4M3, F8E5M2};
use half::{bf16, f16};

macro_rules! products {
    ($($element:ident $name:ident => $output:ident $output_name:ident in $finish:ident, all by $multiply_all:path,
        $(with a vector by $multiply_vector:path,)?
        |$device:ident, $selection:ident, $matrices:ident| $multiply:expr;)*) => {$(
        impl MatmulInto<$output, $finish> for $element {}

        impl sealed::Computes<$output, $finish> for $element {
            const TYPES: (ElementType, ElementType) =
                (ElementType::$name, ElementType::$output_name);

            // A program compiles only the kernels of the types that it multiplies.
            #[inline]
            fn multiply(
                $device: &Device,
                $selection: Selection,
                $matrices: Matrices<'_, Self, $output, $finish>,
            ) -> Outcome<()> {
                $(
                    if let Method::Vector(_) = $selection.kernel.method {
                        return $multiply_vector($selection.kernel, $matrices);
                    }
                )?
                $multiply
            }

            #[inline]
            fn multiply_all(
                device: &Device,
                arithmetic: Arithmetic,
                products: Vec<Matrices<'_, Self, $output, $finish>>,
            ) -> Outcome<()> {
                $multiply_all(device, arithmetic, products)
            }
        }
    )*};
}
products! {
    f16 F16 => f16 F16 in f32, all by grouped::multiply, with a vector by vector::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, on_tensor_cores);
    f16 F16 => f32 F32 in f32, all by grouped::multiply_each, with a vector by vector::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, on_tensor_cores);
    bf16 Bf16 => bf16 Bf16 in f32, all by grouped::multiply, with a vector by vector::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, on_tensor_cores);
    bf16 Bf16 => f32 F32 in f32, all by grouped::multiply_each, with a vector by vector::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, on_tensor_cores);
    f32 F32 => f32 F32 in f32, all by grouped::multiply, with a vector by vector::multiply,
        |device, selection, matrices| match selection.division {
            Some(division) => parts::multiply_chains(device, division, matrices),
            None => by_singles(device, selection.kernel, matrices),
        };
    f64 F64 => f64 F64 in f64, all by grouped::multiply, with a vector by vector::multiply,
        |device, selection, matrices| match selection.division {
            Some(division) => parts::multiply_chains(device, division, matrices),
            None => by_doubles(device, selection.kernel, matrices),
        };
    F8E4M3 F8E4M3 => bf16 Bf16 in f32, all by grouped::multiply_each, with a vector by bytes::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, tensor::multiply);
    F8E4M3 F8E4M3 => f32 F32 in f32, all by grouped::multiply_each, with a vector by bytes::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, tensor::multiply);
    F8E5M2 F8E5M2 => bf16 Bf16 in f32, all by grouped::multiply_each, with a vector by bytes::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, tensor::multiply);
    F8E5M2 F8E5M2 => f32 F32 in f32, all by grouped::multiply_each, with a vector by bytes::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, tensor::multiply);
    i8 I8 => i32 I32 in i32, all by grouped::multiply_each, with a vector by bytes::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, by_bytes);
    i8 I8 => f32 F32 in f32, all by grouped::multiply_each, with a vector by bytes::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, on_tensor_cores);
    i8 I8 => bf16 Bf16 in f32, all by grouped::multiply_each, with a vector by bytes::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, on_tensor_cores);
    i8 I8 => f16 F16 in f32, all by grouped::multiply_each, with a vector by bytes::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, on_tensor_cores);
}

/// Launches the selected kernel: `whole` for one product, or the products of parts of K.
fn multiply_narrow<'a, T, O>(
    device: &Device,
    selection: Selection,
    matrices: Matrices<'a, T, O, O::Sum>,
    whole: impl FnOnce(&'static GemmKernel, Matrices<'a, T, O, O::Sum>) -> Outcome<()>,
) -> Outcome<()>
where
    T: Accumulate + Computes<<T as Accumulate>::Accumulator>,
    O: OutputOf<T::Accumulator>,
{
    match selection.division {
        Some(division) => parts::multiply(device, division, matrices),
        None => whole(selection.kernel, matrices),
    }
}

/// Launches the selected kernel for i8 in i32.
#[inline]
fn by_bytes(kernel: &'static GemmKernel, matrices: Matrices<'_, i8, i32, i32>) -> Outcome<()> {
    match kernel.method {
        Method::Coarsened(_) => words::multiply(kernel, matrices),
        _ => on_tensor_cores(kernel, matrices),
    }
}

/// Launches the selected tensor-core kernel, of warps or of warpgroups.
fn on_tensor_cores<T, O, S>(
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()>
where
    T: Computes<O, S>,
    O: TensorOutput<Sum = S>,
    S: Accumulator,
{
    match kernel.method {
        Method::Mma(_) => mma::multiply(kernel, matrices),
        _ => tensor::multiply(kernel, matrices),
    }
}

/// Launches the selected kernel for f32.
#[inline]
fn by_singles(
    device: &Device,
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    match kernel.method {
        Method::Split(_) | Method::SplitMma(_) => {
            let problem = matrices.problem(ElementType::F32, ElementType::F32);
            let request = Request::LeftOutBy(kernel.method);
            let wide = device.select_kernel(request, &problem)?.kernel;
            split::multiply(kernel, wide, matrices)
        }
        _ => chain::multiply(device, kernel, matrices),
    }
}

/// Launches the selected kernel for f64.
#[inline]
fn by_doubles(
    device: &Device,
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, f64, f64, f64>,
) -> Outcome<()> {
    let copies_pay = || {
        let problem = matrices.problem(ElementType::F64, ElementType::F64);
        problem.aligned_copies_pay()
    };
    match kernel.method {
        Method::Mma(_) if copies_pay() => mma::multiply_doubles(kernel, matrices),
        _ => chain::multiply(device, kernel, matrices),
    }
}
