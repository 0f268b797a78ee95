//! Element-wise maps by functions that other crates define.

use crate::buffer::{Buffer, BufferView, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result, check_length};
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{global, global_mut, no_operand, read_elements, written_by_product};
use crate::matrix::{AsMatrixViewMut, Matrix, MatrixView, MatrixViewMut, Order};
use crate::module::Module;
use crate::rows::{apart, check_order};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::map::{MAP_THREADS, MOST_OPERANDS, Map, MapKernel, MapShape, slots_of};

/// The type of a kernel's results.
type OutputOf<K, const OPERANDS: usize> = <<K as MapKernel<OPERANDS>>::Operation as Map<
    <K as MapKernel<OPERANDS>>::Element,
    OPERANDS,
>>::Output;

/// Bytes of a vector.
const VECTOR_BYTES: usize = 16;

/// The names of operands for messages, and the rule for their shapes.
pub(super) const OPERAND: &str = "a matrix to map";
const RESULTS: &str = "the matrix of the results";
const REPEATED: &str = "rows and columns must be as many as those of the others, or one";

impl Module {
    /// Maps the elements of one to four matrices to a matrix.
    ///
    /// [`maps!`](tilewright_kernels::maps) generates `kernel` by a line such as `kernel: Operation of [f32; 2];`. The
    /// matrices are views of either order. A matrix of one row, one column or one element is repeated. The call does
    /// not wait.
    ///
    /// ```
    /// use tilewright::{Device, ModuleSource};
    /// use tilewright_kernels::map::Map;
    ///
    /// /// a x + b.
    /// pub struct Affine;
    ///
    /// impl Map<f32, 3> for Affine {
    ///     type Output = f32;
    ///
    ///     fn map([x, a, b]: [f32; 3], _index: usize) -> f32 {
    ///         a * x + b
    ///     }
    /// }
    ///
    /// tilewright_kernels::maps! {
    ///     /// a x + b of each element.
    ///     affine: Affine of [f32; 3];
    /// }
    /// // SAFETY: there are no images that could differ from the kernel.
    /// static KERNELS: ModuleSource = unsafe { ModuleSource::new("affine", &[]) };
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let module = device.load(&KERNELS)?;
    /// let x = device.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0])?;
    /// let of_columns = device.matrix((1, 2), &[10.0_f32, 100.0])?;
    /// let of_rows = device.matrix((2, 1), &[0.0_f32, 0.5])?;
    /// let y = module.map(affine, [x.view(), of_columns.view(), of_rows.view()])?;
    /// assert_eq!(y.to_vec()?, [10.0, 200.0, 30.5, 400.5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] if the shapes differ, except where one has a single row or column;
    /// [`ErrorKind::WrongDevice`] if an operand is on another device; [`ErrorKind::TooLarge`] for more than 2^31 - 1
    /// blocks, and those of [`launch`](Self::launch).
    pub fn map<K, const OPERANDS: usize>(
        &self,
        kernel: K,
        operands: [MatrixView<'_, K::Element>; OPERANDS],
    ) -> Result<Matrix<OutputOf<K, OPERANDS>>>
    where
        K: MapKernel<OPERANDS, Element: Element>,
        OutputOf<K, OPERANDS>: Element,
    {
        let map = || {
            let mut results = Matrix::uninit(self.device(), shape_of(&operands)?.into())?;
            self.matrices_mapped(kernel, operands, results.view_mut())?;
            Ok(results)
        };
        map().during("map")
    }

    /// Writes [`map`](Self::map) to `results`, a matrix or a part of one with contiguous rows.
    ///
    /// Operands can also be repeated to the shape of the results.
    ///
    /// # Errors
    /// [`ErrorKind::NoKernel`] if the rows of the results are not contiguous, and those of [`map`](Self::map).
    pub fn map_into<K, const OPERANDS: usize>(
        &self,
        kernel: K,
        operands: [MatrixView<'_, K::Element>; OPERANDS],
        results: &mut impl AsMatrixViewMut<OutputOf<K, OPERANDS>>,
    ) -> Result<()>
    where
        K: MapKernel<OPERANDS, Element: Element>,
        OutputOf<K, OPERANDS>: Element,
    {
        self.matrices_mapped(kernel, operands, results.as_matrix_view_mut())
            .during("map_into")
    }

    /// Maps the elements of one to four buffers or slices to a buffer: [`map`](Self::map) for buffers.
    ///
    /// A buffer of one element is repeated.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`] if the lengths differ, and those of [`map`](Self::map).
    pub fn map_buffers<K, const OPERANDS: usize>(
        &self,
        kernel: K,
        operands: [BufferView<'_, K::Element>; OPERANDS],
    ) -> Result<Buffer<OutputOf<K, OPERANDS>>>
    where
        K: MapKernel<OPERANDS, Element: Element>,
        OutputOf<K, OPERANDS>: Element,
    {
        let map = || {
            let other = operands.iter().map(BufferView::len).find(|&len| len != 1);
            let mut results = Buffer::uninit(self.device(), other.unwrap_or(1))?;
            self.buffers_mapped(kernel, operands, results.view_mut())?;
            Ok(results)
        };
        map().during("map_buffers")
    }

    /// Writes [`map_buffers`](Self::map_buffers) to `results`, a buffer or a slice of one.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`] if an operand has neither one element nor as many as the results, and those of
    /// [`map`](Self::map).
    pub fn map_buffers_into<'r, K, const OPERANDS: usize>(
        &self,
        kernel: K,
        operands: [BufferView<'_, K::Element>; OPERANDS],
        results: impl Into<BufferViewMut<'r, OutputOf<K, OPERANDS>>>,
    ) -> Result<()>
    where
        K: MapKernel<OPERANDS, Element: Element>,
        OutputOf<K, OPERANDS>: Element,
    {
        self.buffers_mapped(kernel, operands, results.into())
            .during("map_buffers_into")
    }

    fn buffers_mapped<K, const OPERANDS: usize>(
        &self,
        kernel: K,
        operands: [BufferView<'_, K::Element>; OPERANDS],
        results: BufferViewMut<'_, OutputOf<K, OPERANDS>>,
    ) -> Outcome<()>
    where
        K: MapKernel<OPERANDS, Element: Element>,
        OutputOf<K, OPERANDS>: Element,
    {
        let (device, len) = (self.device(), results.len());
        device.check_writes(|| "the buffer of the results".to_owned(), results.written())?;
        for operand in &operands {
            device.check_reads(|| "a buffer to map".to_owned(), operand.holder())?;
            if operand.len() != 1 {
                let rule = "one, or as many as the results";
                check_length("a buffer to map", operand.len(), len, rule)?;
            }
        }
        let mut shape = MapShape {
            rows: 1,
            cols: len,
            apart: len,
            strides: [[0; 2]; MOST_OPERANDS],
            has_vectors: 0,
        };
        for (strides, operand) in shape.strides.iter_mut().zip(&operands) {
            strides[1] = usize::from(operand.len() == len);
        }
        let operands = operands.map(global);
        self.launch_map(kernel, operands, global_mut(results), shape)
    }

    fn matrices_mapped<K, const OPERANDS: usize>(
        &self,
        kernel: K,
        operands: [MatrixView<'_, K::Element>; OPERANDS],
        results: MatrixViewMut<'_, OutputOf<K, OPERANDS>>,
    ) -> Outcome<()>
    where
        K: MapKernel<OPERANDS, Element: Element>,
        OutputOf<K, OPERANDS>: Element,
    {
        let shape = map_shape(self.device(), &operands, &results)?;
        // SAFETY: the kernel reads nothing but elements of the operands.
        let operands = operands.map(|operand| unsafe { read_elements(operand.into()) });
        // SAFETY: the kernel writes nothing but the results.
        let results = unsafe { written_by_product(results.into()) };
        self.launch_map(kernel, operands, results, shape)
    }

    /// Launches the map of operands and results that were checked, and have `shape`.
    fn launch_map<K, const OPERANDS: usize>(
        &self,
        _kernel: K,
        operands: [Global<'_, K::Element>; OPERANDS],
        results: GlobalMut<'_, OutputOf<K, OPERANDS>>,
        mut shape: MapShape,
    ) -> Outcome<()>
    where
        K: MapKernel<OPERANDS, Element: Element>,
        OutputOf<K, OPERANDS>: Element,
    {
        let MapShape { rows, cols, .. } = shape;
        if rows == 0 || cols == 0 {
            return Ok(());
        }
        shape.has_vectors = usize::from(has_vectors(&operands, &results, &shape));
        let lanes = VECTOR_BYTES / size_of::<K::Element>();
        let vectors = rows.saturating_mul(cols.div_ceil(lanes));
        let blocks = vectors.div_ceil(slots_of(OPERANDS) * MAP_THREADS as usize);
        let blocks = grid_x(blocks, || format!("a grid to map {rows}x{cols} elements"))?;
        let operand = |number: usize| operands.get(number).copied().unwrap_or(no_operand());
        let (a, b, c, d) = (operand(0), operand(1), operand(2), operand(3));
        let params = (a, b, c, d, results, GridConstant::new(&shape));
        let config = LaunchConfig::new(blocks, MAP_THREADS);
        // SAFETY: the kernel's requirements are those that it documents: `MapKernel` guarantees it. There are blocks
        // for all vectors. Operands and results have the elements of `shape`, and the mutably borrowed results have no
        // element twice. Views of live memory without conflicting work: all are borrowed until this returns.
        unsafe { self.by_ref().launch_params::<K>(config, params) }
    }
}

/// The rows and columns of the results: those of the operands whose number is not one.
fn shape_of<T: Element, const OPERANDS: usize>(
    operands: &[MatrixView<'_, T>; OPERANDS],
) -> Outcome<(usize, usize)> {
    let others =
        |counts: [usize; OPERANDS]| counts.into_iter().find(|&count| count != 1).unwrap_or(1);
    let shape = (
        others(operands.map(|it| it.rows())),
        others(operands.map(|it| it.cols())),
    );
    operands
        .iter()
        .try_for_each(|it| check_repeated(it, shape))?;
    Ok(shape)
}

/// Fails unless `operand` has `shape`, or one row or column instead.
pub(super) fn check_repeated<T: Element>(
    operand: &MatrixView<'_, T>,
    shape: (usize, usize),
) -> Outcome<()> {
    let fits = |own: usize, of_results: usize| own == of_results || own == 1;
    match fits(operand.rows(), shape.0) && fits(operand.cols(), shape.1) {
        true => Ok(()),
        false => Err(ErrorKind::ShapeMismatch {
            operands: [OPERAND, RESULTS],
            left: operand.shape(),
            right: shape,
            rule: REPEATED,
        }),
    }
}

/// The kernels' parameter, except for vectors; an error if operands or results do not fit.
fn map_shape<T: Element, O: Element, const OPERANDS: usize>(
    device: &Device,
    operands: &[MatrixView<'_, T>; OPERANDS],
    results: &MatrixViewMut<'_, O>,
) -> Outcome<MapShape> {
    device.check_writes(|| RESULTS.to_owned(), results.written())?;
    check_order(device, results.view())?;
    let (rows, cols) = results.shape();
    let mut shape = MapShape {
        rows,
        cols,
        apart: apart(results.view()),
        strides: [[0; 2]; MOST_OPERANDS],
        has_vectors: 0,
    };
    for (strides, operand) in shape.strides.iter_mut().zip(operands) {
        device.check_reads(|| OPERAND.to_owned(), operand.holder())?;
        check_repeated(operand, (rows, cols))?;
        *strides = strides_of(operand, (rows, cols));
    }
    let is_dense = |strides: [usize; 2]| strides == [cols, 1] || strides == [0; 2];
    if shape.apart == cols && shape.strides[..OPERANDS].iter().all(|&it| is_dense(it)) {
        // One row, which takes no division.
        shape.apart = rows * cols;
        (shape.rows, shape.cols) = (1, rows * cols);
    }
    Ok(shape)
}

/// Elements from one row of `operand` to the next, and from one column to the next: 0 where it is repeated.
pub(super) fn strides_of<T: Element>(
    operand: &MatrixView<'_, T>,
    (rows, cols): (usize, usize),
) -> [usize; 2] {
    let apart = operand.leading_dimension();
    let strides = match operand.order() {
        Order::RowMajor => [apart, 1],
        Order::ColumnMajor => [1, apart],
    };
    let has = [
        operand.rows() == rows && rows > 1,
        operand.cols() == cols && cols > 1,
    ];
    [0, 1].map(|axis| if has[axis] { strides[axis] } else { 0 })
}

/// Whether rows consist of whole vectors at multiples of 16 bytes, in the results and in the operands that are not
/// repeated along columns.
fn has_vectors<T: Element, O: Element, const OPERANDS: usize>(
    operands: &[Global<'_, T>; OPERANDS],
    results: &GlobalMut<'_, O>,
    shape: &MapShape,
) -> bool {
    let of_rows = |apart: usize| if shape.rows > 1 { apart } else { 0 };
    let is_aligned = |address: usize, apart: usize, bytes: usize| {
        (address | (of_rows(apart) * bytes)).is_multiple_of(VECTOR_BYTES)
    };
    let has_vectors = |(operand, strides): (&Global<'_, T>, &[usize; 2])| match strides[1] {
        0 => true,
        1 => is_aligned(operand.as_ptr().addr(), strides[0], size_of::<T>()),
        _ => false,
    };
    shape.cols.is_multiple_of(VECTOR_BYTES / size_of::<T>())
        && is_aligned(results.as_mut_ptr().addr(), shape.apart, size_of::<O>())
        && operands.iter().zip(&shape.strides).all(has_vectors)
}
