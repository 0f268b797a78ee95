//! Maps of rows by operations of other crates that see a value of the row.

use crate::buffer::BufferViewMut;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result, check_length};
use crate::launch_args::{global_mut, no_elements};
use crate::matrix::{AsMatrixViewMut, IntoMatrixView, Matrix};
use crate::module::Module;
use crate::rows::{RowLaunch, RowMatrices};
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::map::RowMapKernel;
use tilewright_kernels::rows::{MapRowsShape, RowValue};

/// The names of the matrix and of its results, for messages.
const NAMES: [&str; 2] = ["the matrix to map", "the matrix of the results"];

impl Module {
    /// Maps the elements of each row of `matrix` by a custom operation that sees the row's value: y = f(x, value, index).
    ///
    /// [`maps!`](tilewright_kernels::maps) generates `kernel` by a line such as `kernel: Operation of rows of f32;`, or
    /// `kernel: First then Second of rows of f32;` for a map of the results of another, whose values are the second's.
    /// `matrix` is `&matrix` or a view with contiguous rows, of f32, f16 or bf16, which is computed in f32. Like
    /// [`Device::softmax`](crate::Device::softmax), it reads rows of up to 32,768 elements once. The bits of a row
    /// depend on its elements and their number alone. The call does not wait.
    ///
    /// ```
    /// use tilewright::{Device, ModuleSource};
    /// use tilewright_kernels::reduce::Reduction;
    /// use tilewright_kernels::rows::RowMap;
    ///
    /// /// The elements of a row, divided by its largest magnitude.
    /// pub struct Scaled;
    ///
    /// impl Reduction<f32> for Scaled {
    ///     type Accumulator = f32;
    ///     type Output = f32;
    ///     const IDENTITY: f32 = 0.0;
    ///
    ///     fn lift(element: f32, _index: usize) -> f32 {
    ///         element.abs()
    ///     }
    ///
    ///     fn combine(left: f32, right: f32) -> f32 {
    ///         if right > left { right } else { left }
    ///     }
    ///
    ///     fn finish(total: f32, _elements: usize) -> f32 {
    ///         total
    ///     }
    /// }
    ///
    /// impl RowMap for Scaled {
    ///     fn map(element: f32, largest: f32, _index: usize) -> f32 {
    ///         element / largest
    ///     }
    /// }
    ///
    /// tilewright_kernels::maps! {
    ///     /// Rows with a largest magnitude of 1.
    ///     scaled: Scaled of rows of f32;
    /// }
    /// // SAFETY: there are no images that could differ from the kernel.
    /// static KERNELS: ModuleSource = unsafe { ModuleSource::new("scaled", &[]) };
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let module = device.load(&KERNELS)?;
    /// let x = device.matrix((2, 2), &[1.0_f32, -4.0, 8.0, 2.0])?;
    /// assert_eq!(module.map_rows(scaled, &x)?.to_vec()?, [0.25, -1.0, 1.0, 0.25]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel) if the rows are not contiguous;
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if `matrix` is on another device;
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) for more than 2^31 - 1 blocks, and those of
    /// [`launch`](Self::launch).
    pub fn map_rows<'m, K>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Element>,
    ) -> Result<Matrix<K::Element>>
    where
        K: RowMapKernel<Element: Element>,
        RowValue<K::Operation>: Element,
    {
        let map = || {
            let x = matrix.into();
            let mut results = Matrix::uninit(self.device(), x.shape().into())?;
            let rows = RowMatrices::Written(x, results.view_mut());
            self.launch_row_map(kernel, rows, None)?;
            Ok(results)
        };
        map().during("map_rows")
    }

    /// Writes [`map_rows`](Self::map_rows) of `matrix` to `results`.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if the shapes differ, and those of
    /// [`map_rows`](Self::map_rows).
    pub fn map_rows_into<'m, K>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Element>,
        results: &mut impl AsMatrixViewMut<K::Element>,
    ) -> Result<()>
    where
        K: RowMapKernel<Element: Element>,
        RowValue<K::Operation>: Element,
    {
        let rows = RowMatrices::Written(matrix.into(), results.as_matrix_view_mut());
        self.launch_row_map(kernel, rows, None)
            .during("map_rows_into")
    }

    /// Replaces the rows of `matrix` by [`map_rows`](Self::map_rows).
    ///
    /// # Errors
    /// The errors of [`map_rows`](Self::map_rows).
    pub fn map_rows_in_place<K>(
        &self,
        kernel: K,
        matrix: &mut impl AsMatrixViewMut<K::Element>,
    ) -> Result<()>
    where
        K: RowMapKernel<Element: Element>,
        RowValue<K::Operation>: Element,
    {
        let rows = RowMatrices::InPlace(matrix.as_matrix_view_mut());
        self.launch_row_map(kernel, rows, None)
            .during("map_rows_in_place")
    }

    /// Like [`map_rows_into`](Self::map_rows_into), and writes the value of each row to `values`, a buffer or a slice
    /// of one.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `values` does not have an element for each row,
    /// and those of [`map_rows_into`](Self::map_rows_into).
    pub fn map_rows_with_values_into<'m, 'v, K>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Element>,
        results: &mut impl AsMatrixViewMut<K::Element>,
        values: impl Into<BufferViewMut<'v, RowValue<K::Operation>>>,
    ) -> Result<()>
    where
        K: RowMapKernel<Element: Element>,
        RowValue<K::Operation>: Element,
    {
        let rows = RowMatrices::Written(matrix.into(), results.as_matrix_view_mut());
        self.launch_row_map(kernel, rows, Some(values.into()))
            .during("map_rows_with_values_into")
    }

    fn launch_row_map<K>(
        &self,
        _kernel: K,
        rows: RowMatrices<'_, K::Element>,
        values: Option<BufferViewMut<'_, RowValue<K::Operation>>>,
    ) -> Outcome<()>
    where
        K: RowMapKernel<Element: Element>,
        RowValue<K::Operation>: Element,
    {
        let device = self.device();
        rows.check(device, NAMES)?;
        let (count, len) = rows.operand().shape();
        check_values(device, &values, count)?;
        let has_values = values.is_some() && size_of::<RowValue<K::Operation>>() > 0;
        if count == 0 || (len == 0 && !has_values) {
            return Ok(());
        }
        let launch = RowLaunch::of_map::<K>(device, (count, len), rows.is_staged())?;
        // SAFETY: the launch accesses the elements of the rows alone, as the kernel documents.
        let ([x_apart, y_apart], x, y) = unsafe { rows.into_params() };
        let shape = MapRowsShape {
            rows: count,
            len,
            x_apart,
            y_apart,
            is_staged: u32::from(launch.is_staged),
            kept: launch.kept,
        };
        let values = values.map_or(no_elements(), global_mut);
        let params = (x, y, values, GridConstant::new(&shape));
        // SAFETY: the kernel's requirements are those that it documents: `RowMapKernel` guarantees it. The launch is
        // the plan's, with the shared memory that `kept` needs. `x` and `y` have the elements of the rows, or `y`
        // replaces its own; a mutable borrow's rows share none. The length of the values was compared. Views of live
        // memory without conflicting work: all operands are borrowed until this returns.
        unsafe { self.by_ref().launch_params::<K>(launch.config, params) }
    }
}

/// Fails unless `values`, if there are any, are on `device`, one for each of `count` rows.
fn check_values<O: Element>(
    device: &Device,
    values: &Option<BufferViewMut<'_, O>>,
    count: usize,
) -> Outcome<()> {
    let Some(values) = values else {
        return Ok(());
    };
    device.check_writes(|| "the buffer of the values".to_owned(), values.written())?;
    let rule = "one for each row of the matrix";
    check_length("the buffer of the values", values.len(), count, rule)
}
