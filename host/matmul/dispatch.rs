//! Which launch computes what was selected, for each type of elements and of outputs.

use super::arithmetic::Arithmetic;
use super::element::sealed::{MmaInto, TensorOutput};
use super::entry::Entry;
use super::kernel::{ElementType, GemmKernel, Method};
use super::launch::{chain, grouped, mma, parts, split, tensor, vector, words};
use super::matrices::Matrices;
use super::select::{Request, Selection};
use super::types::sealed::{self, Computes};
use super::types::{Accumulate, MatmulInto};
use crate::device::Device;
use crate::error::Outcome;
use cuda_std::fp8::{F8E4M3, F8E5M2};
use half::{bf16, f16};

macro_rules! products {
    ($($element:ident $name:ident => $output:ident $output_name:ident, all by $multiply_all:path,
        $(with a vector by $multiply_vector:path,)?
        |$device:ident, $selection:ident, $matrices:ident| $multiply:expr;)*) => {$(
        impl MatmulInto<$output> for $element {}

        impl sealed::Computes<$output> for $element {
            const TYPES: (ElementType, ElementType) =
                (ElementType::$name, ElementType::$output_name);

            fn multiply(
                $device: &Device,
                $selection: Selection,
                $matrices: Matrices<'_, Self, $output, Self::Accumulator>,
            ) -> Outcome<()> {
                $(
                    if let Method::Vector(_) = $selection.kernel.method {
                        return $multiply_vector($selection.kernel, $matrices);
                    }
                )?
                $multiply
            }

            fn multiply_all(
                device: &Device,
                arithmetic: Arithmetic,
                products: Vec<Matrices<'_, Self, $output, Self::Accumulator>>,
            ) -> Outcome<()> {
                $multiply_all(device, arithmetic, products)
            }
        }
    )*};
}
products! {
    f16 F16 => f16 F16, all by grouped::multiply_each, with a vector by vector::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, by_halves);
    f16 F16 => f32 F32, all by grouped::multiply_each, with a vector by vector::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, by_halves);
    bf16 Bf16 => bf16 Bf16, all by grouped::multiply_each, with a vector by vector::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, by_halves);
    bf16 Bf16 => f32 F32, all by grouped::multiply_each, with a vector by vector::multiply,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, by_halves);
    f32 F32 => f32 F32, all by grouped::multiply, with a vector by vector::multiply,
        |device, selection, matrices| match selection.division {
            Some(division) => parts::multiply_chains(device, division, matrices),
            None => by_singles(device, selection.kernel, matrices),
        };
    f64 F64 => f64 F64, all by grouped::multiply, with a vector by vector::multiply,
        |device, selection, matrices| match selection.division {
            Some(division) => parts::multiply_chains(device, division, matrices),
            None => chain::multiply(device, selection.kernel, matrices),
        };
    F8E4M3 F8E4M3 => bf16 Bf16, all by grouped::multiply_each,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, tensor::multiply);
    F8E4M3 F8E4M3 => f32 F32, all by grouped::multiply_each,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, tensor::multiply);
    F8E5M2 F8E5M2 => bf16 Bf16, all by grouped::multiply_each,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, tensor::multiply);
    F8E5M2 F8E5M2 => f32 F32, all by grouped::multiply_each,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, tensor::multiply);
    i8 I8 => i32 I32, all by grouped::multiply_each,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, by_bytes);
}

/// Launches what was selected for the matrices: `whole` for one product, or the products of parts of K.
fn multiply_narrow<'a, T, O>(
    device: &Device,
    selection: Selection,
    matrices: Matrices<'a, T, O, O::Sum>,
    whole: impl FnOnce(&'static GemmKernel, Matrices<'a, T, O, O::Sum>) -> Outcome<()>,
) -> Outcome<()>
where
    T: Computes<O::Sum, Accumulator = O::Sum>,
    O: TensorOutput,
{
    match selection.division {
        Some(division) => parts::multiply(device, division, matrices),
        None => whole(selection.kernel, matrices),
    }
}

/// Launches a kernel for i8, which was selected for the matrices.
fn by_bytes(kernel: &'static GemmKernel, matrices: Matrices<'_, i8, i32, i32>) -> Outcome<()> {
    match kernel.method {
        Method::Wgmma(_) => tensor::multiply(kernel, matrices),
        Method::Mma(_) => mma::multiply(kernel, matrices),
        _ => words::multiply(kernel, matrices),
    }
}

/// Launches a kernel for halves, which was selected for the matrices.
fn by_halves<T, O>(kernel: &'static GemmKernel, matrices: Matrices<'_, T, O, f32>) -> Outcome<()>
where
    T: MmaInto<O> + Accumulate<Accumulator = f32>,
    O: TensorOutput<Sum = f32>,
{
    match kernel.method {
        Method::Mma(_) => mma::multiply(kernel, matrices),
        _ => tensor::multiply(kernel, matrices),
    }
}

/// Launches a kernel of f32, which was selected for the matrices.
fn by_singles(
    device: &Device,
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, f32, f32, f32>,
) -> Outcome<()> {
    match kernel.entry {
        Entry::Split => {
            let problem = matrices.problem(ElementType::F32, ElementType::F32);
            let wide = device.select_kernel(Request::Wide, &problem)?.kernel;
            split::multiply(kernel, wide, matrices)
        }
        _ => chain::multiply(device, kernel, matrices),
    }
}
