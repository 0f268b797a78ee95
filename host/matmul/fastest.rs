//! Products by the fastest kernel that keeps the promise of the type.

use super::kernels::{ElementType, Entry, GemmKernel};
use super::matrices::Matrices;
use super::select::{Arithmetic, Request};
use super::{MatmulPlan, halves, split};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result};
use crate::matrix::{AsMatrixViewMut, Matrix, MatrixView};
use half::{bf16, f16};

/// A type whose matrices [`Device::matmul`] multiplies.
///
/// | elements | product | arithmetic |
/// |---|---|---|
/// | f32 | f32 | as accurate as a chain of f32 operations, or more: see [`Arithmetic`] |
/// | f64 | f64 | a fused multiply-add for each product, in order of k |
/// | f16, bf16 | the same | exact products, f32 sums on tensor cores, rounded once |
///
/// f16 and bf16 need compute capability 9.0 or the simulator.
#[diagnostic::on_unimplemented(
    message = "matrices of `{Self}` cannot be multiplied",
    note = "products are for f32, f64, f16 and bf16"
)]
pub trait MatmulElement: Element + sealed::MatmulElement {}

pub mod sealed {
    use super::*;

    /// How a type is multiplied.
    pub trait MatmulElement: Element {
        const TYPE: ElementType;

        /// Launches the kernel that was selected.
        fn multiply(
            device: &Device,
            kernel: &'static GemmKernel,
            matrices: Matrices<'_, Self>,
        ) -> Outcome<()>;
    }
}

macro_rules! matmul_elements {
    ($($element:ident: $name:ident, |$device:ident, $kernel:ident, $matrices:ident|
        $multiply:expr;)*) => {$(
        impl MatmulElement for $element {}

        impl sealed::MatmulElement for $element {
            const TYPE: ElementType = ElementType::$name;

            fn multiply(
                $device: &Device,
                $kernel: &'static GemmKernel,
                $matrices: Matrices<'_, Self>,
            ) -> Outcome<()> {
                $multiply
            }
        }
    )*};
}
matmul_elements! {
    f16: F16, |_device, kernel, matrices| halves::multiply(kernel, matrices);
    bf16: Bf16, |_device, kernel, matrices| halves::multiply(kernel, matrices);
    f32: F32, |device, kernel, matrices| device.multiply_f32(kernel, matrices);
    f64: F64, |device, kernel, matrices| device.launch_chain(kernel, matrices);
}

/// What `matmul` requests.
const FASTEST: Request = Request::Fastest(Arithmetic::Auto);

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
    /// [`Matmul::arithmetic`] with [`Arithmetic::Chain`] gives the bits of
    /// [`Device::matmul_tiled`] on every device. f32 on tensor cores takes (M + N) K words of memory
    /// for the halves of the elements, until the product is done.
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
    pub fn matmul<'a, 'b, T: MatmulElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
    ) -> Result<Matrix<T>> {
        self.product(FASTEST, a.into(), b.into()).during("matmul")
    }

    /// [`Device::matmul`] into an M x N matrix of either [`Order`](crate::Order) that is there, or into a
    /// part of one ([`MatrixViewMut`](crate::MatrixViewMut)), whose elements it overwrites.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if C is not M x N, and those of
    /// [`Matmul::run`].
    pub fn matmul_into<'a, 'b, T: MatmulElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
        c: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let c = c.as_matrix_view_mut();
        self.multiply(FASTEST, a.into(), b.into(), c)
            .during("matmul")
    }

    /// Launches a kernel of f32, which was selected for the matrices.
    fn multiply_f32(
        &self,
        kernel: &'static GemmKernel,
        matrices: Matrices<'_, f32>,
    ) -> Outcome<()> {
        match kernel.entry {
            Entry::Split => {
                let problem = matrices.problem(ElementType::F32);
                let wide = self.select_kernel(Request::Wide, &problem)?.kernel;
                split::multiply(kernel, wide, matrices)
            }
            _ => self.launch_chain(kernel, matrices),
        }
    }
}

/// A product with choices.
///
/// ```
/// use tilewright::{Arithmetic, Device, Matmul};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let a = device.matrix((1, 3), &[1.0_f32, 2.0, 3.0])?;
/// let product = Matmul::new(&a, a.t()).arithmetic(Arithmetic::Chain);
/// println!("{}", product.plan()?);
/// assert_eq!(product.run()?.to_vec()?, [14.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Matmul<'a, T: MatmulElement> {
    a: MatrixView<'a, T>,
    b: MatrixView<'a, T>,
    arithmetic: Arithmetic,
}

impl<'a, T: MatmulElement> Matmul<'a, T> {
    /// The product A B of an M x K and a K x N matrix, on their device.
    #[must_use]
    pub fn new(a: impl Into<MatrixView<'a, T>>, b: impl Into<MatrixView<'a, T>>) -> Self {
        Self {
            a: a.into(),
            b: b.into(),
            arithmetic: Arithmetic::Auto,
        }
    }

    /// How it is computed.
    #[must_use]
    pub fn arithmetic(mut self, arithmetic: Arithmetic) -> Self {
        self.arithmetic = arithmetic;
        self
    }

    /// The product as a new row-major matrix.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if A's columns are not B's rows;
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if the operands are of different devices;
    /// [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel) if the device has no kernel for the type or the
    /// arithmetic; [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if the result cannot be counted;
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory),
    /// [`ErrorKind::NoModule`](crate::ErrorKind::NoModule),
    /// [`ErrorKind::DeviceLost`](crate::ErrorKind::DeviceLost) or
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda).
    pub fn run(&self) -> Result<Matrix<T>> {
        let device = self.a.device();
        device
            .product(self.request(), self.a, self.b)
            .during("matmul")
    }

    /// The product into an M x N matrix of either [`Order`](crate::Order) that is there, or into a part
    /// of one, whose elements it overwrites.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if C is not M x N, and those of
    /// [`run`](Self::run).
    pub fn run_into(&self, c: &mut impl AsMatrixViewMut<T>) -> Result<()> {
        let (device, c) = (self.a.device(), c.as_matrix_view_mut());
        device
            .multiply(self.request(), self.a, self.b, c)
            .during("matmul")
    }

    /// The kernel that [`run`](Self::run) selects, and why.
    ///
    /// With [`Arithmetic::Split`] the outputs of lines whose elements are too far apart, or infinite, or
    /// NaN, are computed by another kernel, in order of k: the device finds them.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) or
    /// [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel), as for [`run`](Self::run).
    pub fn plan(&self) -> Result<MatmulPlan> {
        let device = self.a.device();
        device.plan(self.request(), self.a, self.b).during("matmul")
    }

    fn request(&self) -> Request {
        Request::Fastest(self.arithmetic)
    }
}
