//! Products by the fastest kernel that keeps the promise of the type.

use super::arithmetic::Arithmetic;
use super::element::sealed::{MmaInto, TensorOutput};
use super::entry::Entry;
use super::kernel::{ElementType, GemmKernel, Method, VectorLines};
use super::matrices::Matrices;
use super::request::Matmul;
use super::select::{Request, Selection};
use super::vector::{self, vector_launch};
use super::{group, mma, parts, split, tensor, words};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result};
use crate::matrix::{AsMatrixViewMut, Matrix, MatrixView};
use cuda_std::fp8::{F8E4M3, F8E5M2};
use half::{bf16, f16};
use tilewright_kernels::epilogue::EpilogueElement;

/// A type whose matrices [`Device::matmul`] multiplies.
///
/// | elements | product | arithmetic |
/// |---|---|---|
/// | f32 | f32 | as accurate as a chain of f32 operations, or more: see [`Arithmetic`](crate::Arithmetic) |
/// | f64 | f64 | a fused multiply-add for each product, in order of k; in parts of K where the result is small |
/// | f16, bf16 | the same, or f32 | exact products, f32 sums on tensor cores, rounded once |
/// | [`F8E4M3`], [`F8E5M2`] | bf16, or f32 | exact products, sums of 128 on tensor cores, which keep 13 bits, and their totals in f32 |
/// | i8 | i32 | exact; a sum beyond i32 wraps around, as [`i32::wrapping_add`] does |
/// | a matrix and a vector, M or N = 1, of f32, f64, f16, bf16 | as above | a fused multiply-add for each product, f64 in f64, all others in f32, in a tree that depends on K and the type alone |
///
/// Matrices of f16 and bf16 need compute capability 8.0 or the simulator, those of 8-bit floats 9.0 or the
/// simulator. A small result with a large K is the sum of products of parts of K
/// ([`SelectionReason::InParts`](crate::SelectionReason::InParts)). Sums of f16 and bf16 have the bits of the device's tensor cores, which differ between 8.x and 9.0.
#[diagnostic::on_unimplemented(
    message = "matrices of `{Self}` cannot be multiplied",
    note = "products are for f32, f64, f16, bf16, i8, F8E4M3 and F8E5M2"
)]
pub trait MatmulElement: Accumulate + sealed::Computes<<Self as Accumulate>::Product> {}

/// A type of elements whose products are added in another type, or the same.
pub trait Accumulate: Element {
    /// The type of sums, of alpha and beta, of scales and biases: f64 for f64, i32 for i8, f32 for all
    /// others.
    type Accumulator: Accumulator;

    /// The type of a product's elements, if no other is requested: i32 for i8, bf16 for 8-bit floats, the same
    /// for all others.
    type Product: Element;
}

/// A type of sums: f32, f64 or i32.
pub trait Accumulator: Element + EpilogueElement {}

impl Accumulator for f32 {}
impl Accumulator for f64 {}
impl Accumulator for i32 {}

/// A type whose products can be written as elements of type `O`: its [`Product`](Accumulate::Product), and
/// f16, bf16 and 8-bit floats as f32.
#[diagnostic::on_unimplemented(
    message = "products of `{Self}` are not written as `{O}`",
    note = "a product is of the type of its operands, of i8 of i32, of 8-bit floats of bf16; those of f16, bf16 and 8-bit floats can be of f32, too"
)]
pub trait MatmulInto<O: Element>: MatmulElement + sealed::Computes<O> {}

use sealed::Computes;

pub mod sealed {
    use super::*;

    /// How a type is multiplied, for products of type `O`.
    pub trait Computes<O: Element>: Accumulate {
        /// The types of the operands and of the product.
        const TYPES: (ElementType, ElementType);

        /// Launches the kernel that was selected.
        fn multiply(
            device: &Device,
            selection: Selection,
            matrices: Matrices<'_, Self, O, Self::Accumulator>,
        ) -> Outcome<()>;

        /// Launches the kernels of products of unequal shapes.
        fn multiply_all(
            device: &Device,
            arithmetic: Arithmetic,
            products: Vec<Matrices<'_, Self, O, Self::Accumulator>>,
        ) -> Outcome<()> {
            group::multiply_each(device, arithmetic, products)
        }
    }
}

macro_rules! matmul_elements {
    ($($element:ident in $accumulator:ident => $product:ident;)*) => {$(
        impl MatmulElement for $element {}

        impl Accumulate for $element {
            type Accumulator = $accumulator;
            type Product = $product;
        }
    )*};
}
matmul_elements! {
    f16 in f32 => f16;
    bf16 in f32 => bf16;
    f32 in f32 => f32;
    f64 in f64 => f64;
    i8 in i32 => i32;
    F8E4M3 in f32 => bf16;
    F8E5M2 in f32 => bf16;
}

macro_rules! products {
    ($($element:ident $name:ident => $output:ident $output_name:ident, $($along:ident $across:ident,)?
        $(all by $multiply_all:path,)?
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
                    if let Method::Vector(lines) = $selection.kernel.method {
                        let launch = vector_launch!(lines, $along, $across);
                        return vector::multiply($selection.kernel, launch, $matrices);
                    }
                )?
                $multiply
            }

            $(
                fn multiply_all(
                    device: &Device,
                    arithmetic: Arithmetic,
                    products: Vec<Matrices<'_, Self, $output, Self::Accumulator>>,
                ) -> Outcome<()> {
                    $multiply_all(device, arithmetic, products)
                }
            )?
        }
    )*};
}
products! {
    f16 F16 => f16 F16, matvec_along_f16 matvec_across_f16,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, by_halves);
    f16 F16 => f32 F32, matvec_along_f16_f32 matvec_across_f16_f32,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, by_halves);
    bf16 Bf16 => bf16 Bf16, matvec_along_bf16 matvec_across_bf16,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, by_halves);
    bf16 Bf16 => f32 F32, matvec_along_bf16_f32 matvec_across_bf16_f32,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, by_halves);
    f32 F32 => f32 F32, matvec_along_f32 matvec_across_f32, all by group::multiply,
        |device, selection, matrices| match selection.division {
            Some(division) => {
                let launch = vector_launch!(VectorLines::Across, matvec_along_f32, matvec_across_f32);
                parts::multiply_chains(device, division, launch, matrices)
            }
            None => device.multiply_f32(selection.kernel, matrices),
        };
    f64 F64 => f64 F64, matvec_along_f64 matvec_across_f64, all by group::multiply,
        |device, selection, matrices| match selection.division {
            Some(division) => {
                let launch = vector_launch!(VectorLines::Across, matvec_along_f64, matvec_across_f64);
                parts::multiply_chains(device, division, launch, matrices)
            }
            None => device.launch_chain(selection.kernel, matrices),
        };
    F8E4M3 F8E4M3 => bf16 Bf16,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, tensor::multiply);
    F8E4M3 F8E4M3 => f32 F32,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, tensor::multiply);
    F8E5M2 F8E5M2 => bf16 Bf16,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, tensor::multiply);
    F8E5M2 F8E5M2 => f32 F32,
        |device, selection, matrices| multiply_narrow(device, selection, matrices, tensor::multiply);
    i8 I8 => i32 I32,
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

impl Device {
    /// The product A B of an M x K and a K x N matrix, M x N, by the fastest kernel that keeps the
    /// promise of the type ([`MatmulElement`]).
    ///
    /// An operand is `&matrix`, its transpose `matrix.t()` or a part of it ([`Matrix::slice`]), in
    /// either [`Order`](crate::Order); the product is row-major.
    ///
    /// Element by element |C' - C| <= gamma_K |A||B| for f32 and f64, whatever the elements (Higham,
    /// Accuracy and Stability of Numerical Algorithms, 3.5), as long as nothing underflows.
    ///
    /// The device, the type and M, N and K select the kernel ([`Matmul::plan`]), and so the bits of an
    /// f32 product: the same in every run, and from operands in either order, wherever they lie.
    /// [`Matmul::arithmetic`] with [`Arithmetic::Chain`](crate::Arithmetic::Chain) gives the bits of
    /// [`Device::matmul_tiled`] on every device. A product of a matrix and a vector adds in another order
    /// than those, the same on every device: see [`Device::matvec`]. So does one with a small result and a
    /// large K, which is divided into parts, a number that depends on M, N, K and the type alone. f32 on tensor
    /// cores takes (M + N) K words of memory for the halves of the elements, until the product is done.
    ///
    /// ```
    /// use half::bf16;
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let a = device.matrix((1, 3), &[1.0, 2.0, 3.0].map(bf16::from_f32))?;
    /// let c = device.matmul(&a, a.t())?;
    /// assert_eq!(c.to_vec()?, [bf16::from_f32(14.0)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Matmul::run`].
    #[doc(alias = "gemm")]
    #[doc(alias = "dot")]
    #[doc(alias = "mul")]
    pub fn matmul<'a, 'b, T: MatmulElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
    ) -> Result<Matrix<T::Product>> {
        let (a, b) = (a.into(), b.into());
        Matmul::new(a, b).product(self).during("matmul")
    }

    /// [`Device::matmul`] into an M x N matrix of either [`Order`](crate::Order) that is there, or into a
    /// part of one ([`MatrixViewMut`](crate::MatrixViewMut)), whose elements it overwrites.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if C is not M x N, and those of
    /// [`Matmul::run`].
    pub fn matmul_into<'a, 'b, T: MatmulInto<O>, O: Element>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
        c: &mut impl AsMatrixViewMut<O>,
    ) -> Result<()> {
        let (a, b) = (a.into(), b.into());
        Matmul::new(a, b)
            .multiply(self, c.as_matrix_view_mut().into())
            .during("matmul")
    }

    /// Launches a kernel of f32, which was selected for the matrices.
    fn multiply_f32(
        &self,
        kernel: &'static GemmKernel,
        matrices: Matrices<'_, f32, f32, f32>,
    ) -> Outcome<()> {
        match kernel.entry {
            Entry::Split => {
                let problem = matrices.problem(ElementType::F32, ElementType::F32);
                let wide = self.select_kernel(Request::Wide, &problem)?.kernel;
                split::multiply(kernel, wide, matrices)
            }
            _ => self.launch_chain(kernel, matrices),
        }
    }
}
