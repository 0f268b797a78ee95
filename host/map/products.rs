//! Products with a map of their sums by functions of other crates.

use super::elements::{OPERAND, check_repeated, strides_of};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{no_operand, read_elements, written_by_product};
use crate::matmul::{LinesToRead, NO_MAP, Operands, StagedOperand, Staging, check_result};
use crate::matrix::{AsMatrixViewMut, IntoMatrixView, Matrix, MatrixView, MatrixViewMut, Order};
use crate::module::Module;
use crate::rows::{apart, check_order};
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::matmul::{
    MOST_OTHERS, MappedArguments, MappedDescriptor, MappedShape, ProductMap, ProductMapKernel,
};
use tilewright_kernels::tensor::{ClusterTile, TensorShape};

/// The type of a kernel's results.
type OutputOf<K, const OTHERS: usize> =
    <<K as ProductMapKernel<OTHERS>>::Operation as ProductMap<
        <K as ProductMapKernel<OTHERS>>::Other,
        OTHERS,
    >>::Output;

/// The type of the numbers that a launch chooses.
type ParametersOf<K, const OTHERS: usize> =
    <<K as ProductMapKernel<OTHERS>>::Operation as ProductMap<
        <K as ProductMapKernel<OTHERS>>::Other,
        OTHERS,
    >>::Parameters;

/// Threads of a warp of tensor cores.
const WARP: u32 = 32;

/// Rows or columns that maps of matrices can count, those past the end of a tile included.
const MOST_IN_MAPS: usize = i32::MAX as usize - 1024;

impl Module {
    /// The product A B, with your function applied to each sum, its row and column, and up to two other matrices.
    ///
    /// [`maps!`](tilewright_kernels::maps) generates `kernel` by a line such as `kernel: Operation of products of f32
    /// with [f32; 1] in Large;`. A is M x K and B K x N; they and the others are views of either order. Another matrix
    /// with one row, one column or one element is repeated. The call does not wait.
    ///
    /// The sums have the bits of the library's: of [`Arithmetic::Chain`](crate::Arithmetic::Chain) for f32, of tensor
    /// cores for f16 and bf16. An output depends on its row of A, its column of B and K alone.
    ///
    /// ```
    /// use tilewright::{Device, ModuleSource};
    /// use tilewright_kernels::matmul::ProductMap;
    ///
    /// /// The sum times another matrix, at most a limit.
    /// pub struct Limited;
    ///
    /// impl ProductMap<f32, 1> for Limited {
    ///     type Parameters = f32;
    ///     type Output = f32;
    ///
    ///     fn map(sum: f32, [gate]: [f32; 1], _place: [usize; 2], limit: &f32) -> f32 {
    ///         (sum * gate).min(*limit)
    ///     }
    /// }
    ///
    /// tilewright_kernels::maps! {
    ///     /// Limited products with a gate.
    ///     limited: Limited of products of f32 with [f32; 1] in Small;
    /// }
    /// // SAFETY: there are no images that could differ from the kernel.
    /// static KERNELS: ModuleSource = unsafe { ModuleSource::new("limited", &[]) };
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let module = device.load(&KERNELS)?;
    /// let a = device.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0])?;
    /// let of_columns = device.matrix((1, 2), &[1.0_f32, 2.0])?;
    /// let c = module.map_product(limited, (&a, &a), [of_columns.view()], &40.0)?;
    /// assert_eq!(c.to_vec()?, [7.0, 20.0, 15.0, 40.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - [`ErrorKind::ShapeMismatch`] if A's columns and B's rows differ in number, or if another matrix has neither
    ///   the rows of A nor one, or neither the columns of B nor one.
    /// - [`ErrorKind::NoKernel`] if the device is too old for a kernel of f16 or bf16, which needs compute capability
    ///   8.0, or 9.0 for the tiles of warpgroups; or if these read operands in other orders.
    /// - [`ErrorKind::WrongDevice`] if an operand is on another device; [`ErrorKind::TooLarge`] for more than 2^31 - 1
    ///   blocks, and those of [`launch`](Self::launch).
    #[doc(alias = "epilogue")]
    pub fn map_product<'a, K, const OTHERS: usize>(
        &self,
        kernel: K,
        (a, b): (
            impl IntoMatrixView<'a, K::Element>,
            impl IntoMatrixView<'a, K::Element>,
        ),
        others: [MatrixView<'_, K::Other>; OTHERS],
        parameters: &ParametersOf<K, OTHERS>,
    ) -> Result<Matrix<OutputOf<K, OTHERS>>>
    where
        K: ProductMapKernel<OTHERS, Element: Element, Other: Element>,
        OutputOf<K, OTHERS>: Element,
    {
        let operands = [a.into(), b.into()];
        let map = || {
            Operands::new(operands[0].into(), operands[1].into()).check_inner()?;
            let shape = (operands[0].rows(), operands[1].cols());
            let mut results = Matrix::uninit(self.device(), shape.into())?;
            self.product_mapped(kernel, operands, (others, parameters), results.view_mut())?;
            Ok(results)
        };
        map().during("map_product")
    }

    /// Writes [`map_product`](Self::map_product) to `results`, a matrix or a part of one with contiguous rows.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] if the results are not M x N; [`ErrorKind::NoKernel`] if their rows are not
    /// contiguous, and those of [`map_product`](Self::map_product).
    pub fn map_product_into<'a, K, const OTHERS: usize>(
        &self,
        kernel: K,
        (a, b): (
            impl IntoMatrixView<'a, K::Element>,
            impl IntoMatrixView<'a, K::Element>,
        ),
        others: [MatrixView<'_, K::Other>; OTHERS],
        parameters: &ParametersOf<K, OTHERS>,
        results: &mut impl AsMatrixViewMut<OutputOf<K, OTHERS>>,
    ) -> Result<()>
    where
        K: ProductMapKernel<OTHERS, Element: Element, Other: Element>,
        OutputOf<K, OTHERS>: Element,
    {
        let (operands, results) = ([a.into(), b.into()], results.as_matrix_view_mut());
        self.product_mapped(kernel, operands, (others, parameters), results)
            .during("map_product_into")
    }

    fn product_mapped<K, const OTHERS: usize>(
        &self,
        _kernel: K,
        operands: [MatrixView<'_, K::Element>; 2],
        (others, parameters): ([MatrixView<'_, K::Other>; OTHERS], &ParametersOf<K, OTHERS>),
        results: MatrixViewMut<'_, OutputOf<K, OTHERS>>,
    ) -> Outcome<()>
    where
        K: ProductMapKernel<OTHERS, Element: Element, Other: Element>,
        OutputOf<K, OTHERS>: Element,
    {
        let device = self.device();
        check(device, &operands, &others, &results)?;
        let (m, n) = results.shape();
        if m == 0 || n == 0 {
            return Ok(());
        }
        let descriptor = K::DESCRIPTOR;
        check_kernel::<K, OTHERS>(device, &operands)?;
        // Copies of the operands are made in the stream of the launch, which was ordered after what they read.
        let [a, b] = operands.map(|it| it.in_stream_of(device));
        let staged_a = staged(a, &descriptor, Order::RowMajor)?;
        let staged_b = staged(b, &descriptor, Order::ColumnMajor)?;
        // SAFETY: the kernel reads only the elements of the lines.
        let lines: [LinesToRead<'_, K::Element>; 2] = unsafe { [staged_a.read(), staged_b.read()] };
        let mut shape = MappedShape {
            m,
            n,
            k: a.cols(),
            apart: [lines[0].leading_dimension, lines[1].leading_dimension],
            is_column_major: [a, b].map(|it| usize::from(it.order() == Order::ColumnMajor)),
            ldc: apart(results.view()),
            strides: [[0; 2]; MOST_OTHERS],
        };
        for (strides, other) in shape.strides.iter_mut().zip(&others) {
            *strides = strides_of(other, (m, n));
        }
        let [a_map, b_map] = match descriptor.cluster {
            Some(tile) => [staged_a.map(tile.rows)?, staged_b.map(tile.part())?],
            None => [NO_MAP; 2],
        };
        let tensor = tensor_shape(&shape, &descriptor);
        // SAFETY: the kernel reads nothing but elements of the matrices.
        let others = others.map(|other| unsafe { read_elements(other.into()) });
        let other = |number: usize| others.get(number).copied().unwrap_or(no_operand());
        let params = K::params(MappedArguments {
            lines: lines.map(|it| it.elements),
            maps: (a_map.param(), b_map.param()),
            tensor: GridConstant::new(&tensor),
            // SAFETY: the kernel accesses nothing but the results.
            c: unsafe { written_by_product(results.into()) },
            others: [other(0), other(1)],
            shape: GridConstant::new(&shape),
            parameters: GridConstant::new(parameters),
        });
        let config = config(device, (m, n), &descriptor)?;
        // SAFETY: the kernel's requirements are those that it documents: `ProductMapKernel` guarantees it. Threads,
        // shared memory and blocks are the descriptor's. The operands have the elements of `shape`, or are maps of
        // them, in the kernel's orders, and their lines start where the kernel needs it: otherwise they were copied.
        // The others have theirs by their strides, and the mutably borrowed results have no element twice. Views of
        // live memory without conflicting work: all are borrowed until this returns, and a copy is freed by work that
        // comes later.
        unsafe { self.by_ref().launch_params::<K>(config, params) }
    }
}

/// Fails unless all matrices are on the device, and their shapes fit together.
fn check<T: Element, D: Element, O: Element>(
    device: &Device,
    operands: &[MatrixView<'_, T>; 2],
    others: &[MatrixView<'_, D>],
    results: &MatrixViewMut<'_, O>,
) -> Outcome<()> {
    let (a, b) = (operands[0], operands[1]);
    device.check_reads(|| "A".to_owned(), a.holder())?;
    device.check_reads(|| "B".to_owned(), b.holder())?;
    Operands::new(a.into(), b.into()).check_inner()?;
    device.check_writes(
        || "the matrix for the product".to_owned(),
        results.written(),
    )?;
    check_result((a.rows(), b.cols()), results.shape())?;
    check_order(device, results.view())?;
    others.iter().try_for_each(|other| {
        device.check_reads(|| OPERAND.to_owned(), other.holder())?;
        check_repeated(other, results.shape())
    })
}

/// Fails unless the device runs the kernel's architecture, with the warps of tensor cores, and a kernel of clusters reads
/// the operands.
fn check_kernel<K, const OTHERS: usize>(
    device: &Device,
    [a, b]: &[MatrixView<'_, K::Element>; 2],
) -> Outcome<()>
where
    K: ProductMapKernel<OTHERS, Element: Element>,
{
    let Some(architecture) = K::ARCH else {
        return Ok(());
    };
    let properties = device.properties();
    let runs = |capability| architecture.runs_on(capability);
    let has_architecture = properties.compute_capability.is_none_or(runs);
    let threads = properties.warp_threads;
    let is_read = K::DESCRIPTOR.cluster.is_none() || {
        let lies =
            |view: MatrixView<'_, K::Element>, order| view.is_empty() || view.order() == order;
        let counts = [a.rows(), a.cols(), b.cols()];
        lies(*a, Order::RowMajor)
            && lies(*b, Order::ColumnMajor)
            && counts.iter().all(|&it| it <= MOST_IN_MAPS)
    };
    let reason = if threads != WARP {
        format!(
            "{} is for warps of {WARP} threads, and this device has warps of {threads}; map a product of f32, or use \
             another device",
            K::NAME
        )
    } else if !has_architecture {
        format!(
            "{} is compiled for {architecture}; map a product in a tile for this device, or one of f32",
            K::NAME
        )
    } else if !is_read {
        format!(
            "{} reads a row-major A and a column-major B, whose sizes bulk copies can count; map the product in \
             another tile",
            K::NAME
        )
    } else {
        return Ok(());
    };
    let ((m, k), n) = (a.shape(), b.cols());
    Err(ErrorKind::NoKernel {
        problem: format!("the mapped product of {m}x{k} and {k}x{n} matrices"),
        device: device.label(),
        reason,
    })
}

/// The sizes for kernels of clusters; others do not read them.
fn tensor_shape(shape: &MappedShape, descriptor: &MappedDescriptor) -> TensorShape {
    let (m, n) = (shape.m, shape.n);
    let tiles = |tile: ClusterTile| tile.tiles((m, n), false);
    TensorShape {
        m: m as u32,
        n: n as u32,
        k: shape.k as u32,
        matrices: 1,
        tiles: descriptor.cluster.map_or(0, tiles) as u32,
        is_lower: 0,
        a_step: 0,
        b_step: 0,
        ldc: shape.ldc,
        c_stride: 0,
        c_columns_apart: 1,
        part: 0,
    }
}

/// The launch for an m x n result: a block for each tile, or clusters that stay on the device.
fn config(
    device: &Device,
    (m, n): (usize, usize),
    descriptor: &MappedDescriptor,
) -> Outcome<LaunchConfig> {
    let blocks = match descriptor.cluster {
        Some(tile) => {
            let resident = (device.properties().multiprocessors * tile.resident) as usize;
            let most = (resident / tile.blocks).max(1);
            Some(tile.tiles((m, n), false).min(most) * tile.blocks)
        }
        None => descriptor.tile.blocks(m, n).map(|blocks| blocks as usize),
    };
    let blocks = grid_x(blocks, || format!("a result of {m}x{n} elements"))?;
    let config = LaunchConfig::new(blocks, descriptor.tile.threads);
    Ok(config.with_dynamic_shared(descriptor.dynamic_shared_bytes as u32))
}

/// An operand as the kernel reads it: copied if its lines do not start where the kernel needs it.
fn staged<'a, T: Element>(
    matrix: MatrixView<'a, T>,
    descriptor: &MappedDescriptor,
    along_k: Order,
) -> Outcome<StagedOperand<'a, T>> {
    let is_aligned = || {
        let bytes = matrix.leading_dimension() * size_of::<T>();
        (matrix.device_address() as usize | bytes).is_multiple_of(descriptor.row_bytes)
    };
    let staging = match matrix.is_empty() {
        // Its lines may have any distance.
        true => Staging::Unread,
        false if is_aligned() => Staging::InPlace,
        false => Staging::Copied,
    };
    StagedOperand::new(matrix.into(), staging, along_k)
}
