//! Matrices rounded to e4m3, with scales of blocks.

use super::operands::{apart, check_order};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::kernels::{OwnKernel, own_kernels};
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{read_elements, written_by_product};
use crate::matrix::{IntoMatrixView, Matrix, MatrixView};
use crate::module::Module;
use cuda_std::fp8::F8E4M3;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::Kernel;
use half::{bf16, f16};
use tilewright_kernels::for_each_quantized_type;
use tilewright_kernels::quantize::{
    self, QUANTIZE_THREADS, QUANTIZE_WARPS, QUANTIZED_BLOCK, QuantizeShape,
};

/// A matrix rounded to e4m3, and the scales of its blocks: an element is about its code times its block's scale.
///
/// [`Matmul::block_scales`](crate::Matmul::block_scales) multiplies such matrices.
#[derive(Debug)]
#[non_exhaustive]
pub struct Quantized {
    /// The rounded elements, row-major, in the shape of the matrix.
    pub elements: Matrix<F8E4M3>,
    /// The scales, row-major: one for each block.
    pub scales: Matrix<f32>,
}

/// An element type of [`Device::quantize_rows`]: f32, f16 or bf16.
#[diagnostic::on_unimplemented(
    message = "there is no kernel that quantises `{Self}`",
    note = "matrices of f32, f16 and bf16 are quantised"
)]
pub trait QuantizeElement: sealed::QuantizeElement {}

mod sealed {
    use super::{
        Element, F8E4M3, Global, GlobalMut, GridConstant, Kernel, OwnKernel, QuantizeShape,
    };

    /// An element type with kernels for rows and for square blocks.
    pub trait QuantizeElement: Element {
        type Rows: for<'launch> OwnKernel<
            Params<'launch> = (
                Global<'launch, Self>,
                GlobalMut<'launch, F8E4M3>,
                GlobalMut<'launch, f32>,
                GridConstant<'launch, QuantizeShape>,
            ),
        >;
        type Blocks: for<'launch> OwnKernel<
            Params<'launch> = <Self::Rows as Kernel>::Params<'launch>,
        >;
    }
}

macro_rules! quantize_elements {
    ($($element:ident: $rows:ident, $blocks:ident;)*) => {$(
        own_kernels!(quantize: $rows, $blocks);

        impl sealed::QuantizeElement for $element {
            type Rows = quantize::$rows;
            type Blocks = quantize::$blocks;
        }

        impl QuantizeElement for $element {}
    )*};
}
for_each_quantized_type!(quantize_elements);

impl Device {
    /// Rounds a matrix to e4m3, with a scale for each 128 neighbours in a row: activations, for
    /// [`Matmul::block_scales`](crate::Matmul::block_scales).
    ///
    /// `matrix` is `&matrix` or a view with contiguous rows. The scales of an M x K matrix are M x b, where b blocks cover
    /// K. The last block of a row may be shorter.
    ///
    /// A scale is the largest magnitude of its block's finite elements divided by 448, the largest number of e4m3, or
    /// 2^-126 if that is more: also for a block of zeros. An element x becomes x times 1 / scale, where both operations
    /// round, rounded to the nearest number of e4m3, ties to even. So |scale q - x| <= 0.0626 |x| + scale 2^-10. NaN
    /// and infinities become NaN, and do not affect the other elements of their block. The bits are the same on every
    /// device.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let tokens = device.matrix((2, 3), &[448.0_f32, -3.3, 0.0, 0.875, 0.0, 0.0])?;
    /// let quantized = device.quantize_rows(&tokens)?;
    /// assert_eq!(quantized.scales.to_vec()?, [1.0, 0.875 / 448.0]);
    /// let codes: Vec<f32> = quantized.elements.to_vec()?.into_iter().map(Into::into).collect();
    /// assert_eq!(codes, [448.0, -3.25, 0.0, 448.0, 0.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel) if the rows are not contiguous, or the device's warps do not
    /// have 32 threads;
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if `matrix` is on another device;
    /// [`ErrorKind::NoModule`](crate::ErrorKind::NoModule), and those of [`Device::zeros`].
    #[doc(alias = "fp8")]
    pub fn quantize_rows<'m, T: QuantizeElement>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
    ) -> Result<Quantized> {
        self.quantized::<T, T::Rows>(matrix.into(), 1)
            .during("quantize_rows")
    }

    /// Rounds a matrix to e4m3, with a scale for each block of 128 x 128 elements: weights, for
    /// [`Matmul::block_scales`](crate::Matmul::block_scales).
    ///
    /// The rounding is that of [`quantize_rows`](Self::quantize_rows). There is one scale for each block: those that
    /// cover N, by those that cover K. Blocks at the ends of rows and columns may be smaller.
    ///
    /// ```
    /// use tilewright::{Device, Matmul};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let tokens = device.quantize_rows(&device.matrix((1, 2), &[3.0_f32, 7.0])?)?;
    /// let weights = device.quantize_blocks(&device.matrix((1, 2), &[2.0_f32, 0.5])?)?;
    /// let product = Matmul::new(&tokens.elements, weights.elements.t())
    ///     .block_scales(&tokens.scales, weights.scales.t());
    /// assert!((product.run_as::<f32>()?.to_vec()?[0] - 9.5).abs() < 0.5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) for more than 2^31 - 1 blocks, and those of
    /// [`quantize_rows`](Self::quantize_rows).
    #[doc(alias = "fp8")]
    pub fn quantize_blocks<'m, T: QuantizeElement>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
    ) -> Result<Quantized> {
        self.quantized::<T, T::Blocks>(matrix.into(), QUANTIZED_BLOCK)
            .during("quantize_blocks")
    }

    /// The matrix in blocks of `rows` rows, by the kernel `K` of `source`.
    fn quantized<T, K>(&self, matrix: MatrixView<'_, T>, rows_of_block: usize) -> Outcome<Quantized>
    where
        T: QuantizeElement,
        K: for<'launch> OwnKernel<Params<'launch> = <T::Rows as Kernel>::Params<'launch>>,
    {
        self.check_reads(|| "the matrix".to_owned(), matrix.holder())?;
        check_order(self, matrix)?;
        let (rows, columns) = matrix.shape();
        check_warps(self, (rows, columns))?;
        let shape = QuantizeShape {
            rows,
            columns,
            leading_dimension: apart(matrix),
        };
        let blocks = (rows.div_ceil(rows_of_block), shape.blocks_of_row());
        let mut elements = Matrix::uninit(self, (rows, columns).into())?;
        let mut scales = Matrix::uninit(self, blocks.into())?;
        if rows > 0 && columns > 0 {
            let blocks = blocks.0.saturating_mul(blocks.1);
            let grid = match rows_of_block {
                // Blocks of threads take several blocks of elements, if there are more.
                1 => blocks.div_ceil(QUANTIZE_WARPS).min(i32::MAX as usize),
                _ => blocks,
            };
            let grid = grid_x(Some(grid), || {
                format!("a matrix of {rows}x{columns} elements")
            })?;
            let config = LaunchConfig::new(grid, QUANTIZE_THREADS as u32);
            // SAFETY: the launch accesses elements of the matrices alone, as the kernels document.
            let params = unsafe {
                (
                    read_elements(matrix.into()),
                    written_by_product(elements.view_mut().into()),
                    written_by_product(scales.view_mut().into()),
                    GridConstant::new(&shape),
                )
            };
            // SAFETY: the launch meets the kernel's requirements: the matrices have the shape, the scales its blocks,
            // and the grid covers them. The matrix is borrowed until this returns, and the others belong to this call.
            unsafe { Module::launch_own::<K>(self, config, params) }?;
        }
        Ok(Quantized { elements, scales })
    }
}

/// Fails unless a warp of the device has a block's 128 elements of a row, four in each lane.
fn check_warps(device: &Device, (rows, columns): (usize, usize)) -> Outcome<()> {
    let threads = device.properties().warp_threads;
    match threads as usize == QUANTIZE_THREADS / QUANTIZE_WARPS {
        true => Ok(()),
        false => Err(ErrorKind::NoKernel {
            problem: format!("the blocks of a matrix of {rows}x{columns}"),
            device: device.label(),
            reason: format!(
                "its kernels are for warps of 32 threads, and this device has warps of {threads}; use another device"
            ),
        }),
    }
}
