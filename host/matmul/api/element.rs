//! The types whose matrices can be multiplied.

use super::preparation::Prepare;
use crate::element::Element;
use crate::matmul::execute::Computes;
use crate::matmul::types::EpilogueScalar;
use cuda_std::fp8::{F8E4M3, F8E5M2};
use half::{bf16, f16};

/// A type whose matrices [`Device::matmul`](crate::Device::matmul) multiplies.
///
/// | elements | product | arithmetic |
/// |---|---|---|
/// | f32 | f32 | at least as accurate as a chain of f32 operations: see [`Arithmetic`](crate::Arithmetic) |
/// | f64 | f64 | one fused multiply-add for each k, in order; K is split if the result is small and K large; large products within gamma_K \|A\|\|B\| by residues |
/// | f16, bf16 | the type of the operands, or f32 | exact products, f32 sums on tensor cores, rounded once |
/// | [`F8E4M3`], [`F8E5M2`] | bf16, or f32 | exact products; tensor cores add 128 at a time and keep 13 bits; these sums are added in f32 |
/// | i8 | i32 | exact; a sum beyond i32 wraps around, as with [`i32::wrapping_add`] |
/// | i8, by [`Matmul::dequantized`](crate::Matmul::dequantized) | f32, f16, or bf16 | the same sums, each rounded to f32; the epilogue is in f32 |
/// | a matrix and a vector, M or N = 1 | as above | i8 as above; others: one fused multiply-add for each product, in f64 for f64 and in f32 for the rest, in a tree that depends on K and the type alone |
///
/// | operands | lowest compute capability (the simulator has all) |
/// |---|---|
/// | f16, bf16; i8 with outputs of f32, f16 or bf16 | 8.0 |
/// | 8-bit floats | 9.0 |
/// | 8-bit floats, one operand a vector | 8.0 |
///
/// If the result is small and K large, K is split into parts and the products of the parts are added
/// ([`SelectionReason::InParts`](crate::tuning::SelectionReason::InParts)). Tensor cores of compute capability 8.x and
/// 9.0 round f16 and bf16 sums differently, so the bits differ.
#[diagnostic::on_unimplemented(
    message = "matrices of `{Self}` cannot be multiplied",
    note = "matrices of f32, f64, f16, bf16, i8, F8E4M3 and F8E5M2 can be multiplied"
)]
pub trait MatmulElement:
    Computes<<Self as MatmulElement>::Product, <Self as MatmulElement>::Accumulator>
{
    /// The type of the sums, of alpha and beta, and of scales and biases.
    ///
    /// It is f64 for f64, i32 for i8, and f32 for all others.
    type Accumulator: EpilogueScalar;

    /// The default type of a product's elements.
    ///
    /// It is i32 for i8, bf16 for 8-bit floats, and the operands' type for all others.
    type Product: Element;
}

/// A type whose matrices [`Device::matmul_tiled`](crate::Device::matmul_tiled) and
/// [`Device::matmul_coarsened`](crate::Device::matmul_coarsened) multiply: f32 or f64.
///
/// Operands, sums and products have this type.
#[diagnostic::on_unimplemented(
    message = "`matmul_tiled` and `matmul_coarsened` do not multiply matrices of `{Self}`",
    note = "they multiply matrices of f32 and f64; `matmul` also multiplies f16, bf16, i8, F8E4M3 and F8E5M2"
)]
pub trait ChainElement:
    MatmulInto<Self> + MatmulElement<Accumulator = Self, Product = Self> + Prepare
{
}

impl ChainElement for f32 {}
impl ChainElement for f64 {}

/// A type whose products can be written as elements of type `O`.
///
/// `O` is its [`Product`](MatmulElement::Product), or f32 for f16, bf16 and 8-bit floats. `S` is the type of alpha
/// and beta, scales and biases: the type of the sums, or f32 if i8 products become f32, f16 or bf16.
#[diagnostic::on_unimplemented(
    message = "products of `{Self}` with an epilogue in `{S}` cannot be written as `{O}`",
    note = "outputs have the operands' type for f32, f64, f16 and bf16, i32 for i8, and bf16 for 8-bit floats; those of f16, bf16 and 8-bit floats can also be f32",
    note = "outputs of `Matmul::dequantized` are f32, f16 or bf16: name the type with `run_as::<f32>()` or `plan_as::<f32>()`"
)]
pub trait MatmulInto<O: Element, S: Element = <Self as MatmulElement>::Accumulator>:
    MatmulElement + Computes<O, S>
{
}

macro_rules! matmul_elements {
    ($($element:ty => $product:ty $(, $other:ty)*, in $scalar:ty;)*) => {$(
        impl MatmulElement for $element {
            type Accumulator = $scalar;
            type Product = $product;
        }

        impl MatmulInto<$product, $scalar> for $element {}
        $(impl MatmulInto<$other, $scalar> for $element {})*
    )*};
}
matmul_elements! {
    f16 => f16, f32, in f32;
    bf16 => bf16, f32, in f32;
    f32 => f32, in f32;
    f64 => f64, in f64;
    i8 => i32, in i32;
    F8E4M3 => bf16, f32, in f32;
    F8E5M2 => bf16, f32, in f32;
}

// For `Matmul::dequantized`.
impl MatmulInto<f32, f32> for i8 {}
impl MatmulInto<bf16, f32> for i8 {}
impl MatmulInto<f16, f32> for i8 {}
