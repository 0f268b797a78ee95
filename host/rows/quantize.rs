//! Matrices rounded to e4m3, with scales of blocks.

use super::launch::runs;
use super::operands::{apart, check_order};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result, check_shapes};
use crate::kernels::{OwnKernel, own_kernels};
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{read_elements, written_by_product};
use crate::matrix::{IntoMatrixView, Matrix, MatrixView, MatrixViewMut};
use crate::module::Module;
use cuda_std::fp8::F8E4M3;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::Kernel;
use half::{bf16, f16};
use tilewright_kernels::for_each_quantized_type;
use tilewright_kernels::quantize::{
    self, QUANTIZE_THREADS, QUANTIZED_BLOCK, QuantizeShape, quantized_by_block,
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

    /// An element type with kernels for rows and for square blocks, and those with the instruction that converts.
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
        type RowsCvt: for<'launch> OwnKernel<
            Params<'launch> = <Self::Rows as Kernel>::Params<'launch>,
        >;
        type BlocksCvt: for<'launch> OwnKernel<
            Params<'launch> = <Self::Rows as Kernel>::Params<'launch>,
        >;
    }
}

macro_rules! quantize_elements {
    ($($element:ident: $rows:ident, $blocks:ident, $rows_cvt:ident, $blocks_cvt:ident;)*) => {$(
        own_kernels!(quantize: $rows, $blocks, $rows_cvt, $blocks_cvt);

        impl sealed::QuantizeElement for $element {
            type Rows = quantize::$rows;
            type Blocks = quantize::$blocks;
            type RowsCvt = quantize::$rows_cvt;
            type BlocksCvt = quantize::$blocks_cvt;
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
        self.quantized::<T, T::Rows, T::RowsCvt>(matrix.into(), 1)
            .during("quantize_rows")
    }

    /// Writes [`quantize_rows`](Self::quantize_rows) of `matrix` to `quantized`, without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if the elements or the scales of `quantized` have
    /// another shape, and those of [`quantize_rows`](Self::quantize_rows).
    pub fn quantize_rows_into<'m, T: QuantizeElement>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        quantized: &mut Quantized,
    ) -> Result<()> {
        self.quantize_to::<T, T::Rows, T::RowsCvt>(matrix.into(), 1, quantized)
            .during("quantize_rows_into")
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
        self.quantized::<T, T::Blocks, T::BlocksCvt>(matrix.into(), QUANTIZED_BLOCK)
            .during("quantize_blocks")
    }

    /// Writes [`quantize_blocks`](Self::quantize_blocks) of `matrix` to `quantized`, without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if the elements or the scales of `quantized` have
    /// another shape, and those of [`quantize_blocks`](Self::quantize_blocks).
    pub fn quantize_blocks_into<'m, T: QuantizeElement>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        quantized: &mut Quantized,
    ) -> Result<()> {
        self.quantize_to::<T, T::Blocks, T::BlocksCvt>(matrix.into(), QUANTIZED_BLOCK, quantized)
            .during("quantize_blocks_into")
    }

    /// The matrix in blocks of `rows_of_block` rows, in new memory, by the kernels of [`quantize_to`](Self::quantize_to).
    fn quantized<T, K, C>(
        &self,
        matrix: MatrixView<'_, T>,
        rows_of_block: usize,
    ) -> Outcome<Quantized>
    where
        T: QuantizeElement,
        K: for<'launch> OwnKernel<Params<'launch> = <T::Rows as Kernel>::Params<'launch>>,
        C: for<'launch> OwnKernel<Params<'launch> = <T::Rows as Kernel>::Params<'launch>>,
    {
        self.check_operand(matrix)?;
        let mut quantized = Quantized {
            elements: Matrix::uninit(self, matrix.shape().into())?,
            scales: Matrix::uninit(self, blocks_of(matrix.shape(), rows_of_block).into())?,
        };
        self.quantize_to::<T, K, C>(matrix, rows_of_block, &mut quantized)?;
        Ok(quantized)
    }

    /// Writes the matrix in blocks of `rows_of_block` rows to `quantized`, by the kernel `C`, which converts by an
    /// instruction, or by `K` where it does not run.
    fn quantize_to<T, K, C>(
        &self,
        matrix: MatrixView<'_, T>,
        rows_of_block: usize,
        quantized: &mut Quantized,
    ) -> Outcome<()>
    where
        T: QuantizeElement,
        K: for<'launch> OwnKernel<Params<'launch> = <T::Rows as Kernel>::Params<'launch>>,
        C: for<'launch> OwnKernel<Params<'launch> = <T::Rows as Kernel>::Params<'launch>>,
    {
        self.check_operand(matrix)?;
        let (rows, columns) = matrix.shape();
        let blocks = blocks_of((rows, columns), rows_of_block);
        let Quantized { elements, scales } = quantized;
        let (elements, scales) = (elements.view_mut(), scales.view_mut());
        let names = ["the matrix", "the matrix of the elements"];
        self.check_results(&elements, names, (rows, columns))?;
        let names = ["the blocks of the matrix", "the matrix of the scales"];
        self.check_results(&scales, names, blocks)?;
        if rows == 0 || columns == 0 {
            return Ok(());
        }
        let apart = apart(matrix);
        let is_one_row =
            rows_of_block == 1 && columns.is_multiple_of(QUANTIZED_BLOCK) && apart == columns;
        let shape = match is_one_row {
            // The same blocks, whose places then take no division.
            true => QuantizeShape {
                rows: 1,
                columns: rows * columns,
                leading_dimension: rows * columns,
            },
            false => QuantizeShape {
                rows,
                columns,
                leading_dimension: apart,
            },
        };
        let blocks = blocks.0.saturating_mul(blocks.1);
        let grid = match rows_of_block {
            1 => blocks.div_ceil(quantized_by_block::<T>()),
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
                written_by_product(elements.into()),
                written_by_product(scales.into()),
                GridConstant::new(&shape),
            )
        };
        // SAFETY: the launch meets the kernel's requirements: the matrices have the shape, without gaps in the results,
        // the scales its blocks, and the grid covers them. All are borrowed until this returns.
        unsafe {
            match runs::<C>(self) {
                true => Module::launch_own::<C>(self, config, params),
                false => Module::launch_own::<K>(self, config, params),
            }
        }
    }

    /// Fails unless the device has kernels for the rows of `matrix`.
    fn check_operand<T: Element>(&self, matrix: MatrixView<'_, T>) -> Outcome<()> {
        self.check_reads(|| "the matrix".to_owned(), matrix.holder())?;
        check_order(self, matrix)?;
        check_warps(self, matrix.shape())
    }

    /// Fails unless `results`, which have no gaps, are of this device, row-major and of `shape`.
    fn check_results<T: Element>(
        &self,
        results: &MatrixViewMut<'_, T>,
        names: [&'static str; 2],
        shape: (usize, usize),
    ) -> Outcome<()> {
        self.check_writes(|| names[1].to_owned(), results.written())?;
        check_order(self, results.view())?;
        check_shapes(names, shape, results.shape())
    }
}

/// The shape of the scales of a matrix, in blocks of `rows_of_block` rows.
fn blocks_of((rows, columns): (usize, usize), rows_of_block: usize) -> (usize, usize) {
    (
        rows.div_ceil(rows_of_block),
        columns.div_ceil(QUANTIZED_BLOCK),
    )
}

/// Fails unless a warp of the device has 32 threads.
fn check_warps(device: &Device, (rows, columns): (usize, usize)) -> Outcome<()> {
    let threads = device.properties().warp_threads;
    match threads == 32 {
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
