//! Launches of row operations: operands checked, the grid, and what is kept in shared memory.

use super::element::RowElement;
use crate::buffer::{BufferView, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{ErrorKind, MUST_BE_EQUAL, Outcome, check_length};
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{global, global_mut, no_elements, read_elements, written_by_product};
use crate::matrix::{MatrixView, MatrixViewMut};
use crate::module::Module;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::rows::{RowClass, RowPlan, SoftmaxShape, VECTOR_BYTES};

/// Shared memory of a block that is not for a long row's elements.
const OTHER_SHARED_BYTES: u32 = 1024;

/// Rows whose results are written: of a matrix, to another or in place.
pub(super) enum Rows<'a, T: Element> {
    /// Only values of rows are wanted.
    Read(MatrixView<'a, T>),
    /// The results of one matrix go to another of the same shape.
    Written(MatrixView<'a, T>, MatrixViewMut<'a, T>),
    /// The results replace the elements.
    InPlace(MatrixViewMut<'a, T>),
}

/// What softmax and its relatives write.
#[derive(Clone, Copy)]
pub(super) struct Results {
    pub is_logarithmic: bool,
    pub scale: f32,
}

impl Results {
    /// Results that are not logarithms.
    pub(super) const PLAIN: Self = Self {
        is_logarithmic: false,
        scale: 1.0,
    };
}

/// The classes of the rows, and their values.
pub(super) struct OfRows<'a> {
    pub classes: Option<BufferView<'a, u32>>,
    pub values: Option<BufferViewMut<'a, f32>>,
}

impl OfRows<'_> {
    pub(super) const NONE: Self = Self {
        classes: None,
        values: None,
    };
}

impl<'a, T: Element> Rows<'a, T> {
    /// The matrix whose rows are read, or replaced.
    fn operand(&self) -> MatrixView<'_, T> {
        match self {
            Self::Read(x) | Self::Written(x, _) => *x,
            Self::InPlace(y) => y.view(),
        }
    }

    /// Whether rows are moved through shared memory: one of the matrices does not have whole aligned vectors.
    fn is_staged(&self) -> bool {
        match self {
            Self::Read(x) => !has_vectors(*x),
            Self::Written(x, y) => !has_vectors(*x) || !has_vectors(y.view()),
            Self::InPlace(y) => !has_vectors(y.view()),
        }
    }

    /// Fails unless the matrices are on `device`, of one shape, and their rows contiguous.
    fn check(&self, device: &Device) -> Outcome<()> {
        if let Self::Read(x) | Self::Written(x, _) = self {
            device.check_reads(|| "the matrix".to_owned(), x.holder())?;
            check_order(device, *x)?;
        }
        if let Self::Written(_, y) | Self::InPlace(y) = self {
            device.check_writes(|| "the matrix of the results".to_owned(), y.written())?;
            check_order(device, y.view())?;
        }
        match self {
            Self::Written(x, y) if x.shape() != y.shape() => Err(ErrorKind::ShapeMismatch {
                operands: ["the matrix", "the matrix of the results"],
                left: x.shape(),
                right: y.shape(),
                rule: MUST_BE_EQUAL,
            }),
            _ => Ok(()),
        }
    }

    /// The leading dimensions of both matrices, and their elements as kernels' parameters: a matrix that is only read
    /// has no results, and one that is changed in place no operand.
    ///
    /// # Safety
    /// 1. Through the parameters, the launch accesses the elements of the matrices alone.
    unsafe fn into_params(self) -> ([usize; 2], Global<'a, T>, GlobalMut<'a, T>) {
        // SAFETY: for all conversions: the launch accesses elements alone, the caller's contract.
        unsafe {
            match self {
                Self::Read(x) => {
                    let apart = apart(x);
                    ([apart, 0], read_elements(x.into()), no_elements())
                }
                Self::Written(x, y) => {
                    let apart = [apart(x), apart(y.view())];
                    (apart, read_elements(x.into()), written_by_product(y.into()))
                }
                Self::InPlace(y) => {
                    let apart = apart(y.view());
                    let nothing = Global::from_raw_parts(no_elements().as_mut_ptr(), 0);
                    ([apart; 2], nothing, written_by_product(y.into()))
                }
            }
        }
    }
}

/// Elements from one row to the next of a matrix with contiguous rows.
fn apart<T: Element>(matrix: MatrixView<'_, T>) -> usize {
    matrix.with_rows().unwrap_or(matrix).leading_dimension()
}

/// Whether the contiguous rows of `matrix` consist of whole vectors at multiples of 16 bytes.
fn has_vectors<T: Element>(matrix: MatrixView<'_, T>) -> bool {
    let bytes = size_of::<T>() as u64;
    let starts = match matrix.rows() {
        0 | 1 => matrix.device_address(),
        _ => matrix.device_address() | (apart(matrix) as u64 * bytes),
    };
    let len = matrix.cols() as u64 * bytes;
    (starts | len).is_multiple_of(VECTOR_BYTES as u64)
}

/// Fails unless the rows of `matrix` are contiguous.
fn check_order<T: Element>(device: &Device, matrix: MatrixView<'_, T>) -> Outcome<()> {
    if matrix.is_empty() || matrix.with_rows().is_some() {
        return Ok(());
    }
    let (rows, columns) = matrix.shape();
    Err(ErrorKind::NoKernel {
        problem: format!("the rows of a column-major matrix of {rows}x{columns}"),
        device: device.label(),
        reason: "row operations take row-major matrices; copy it to one first".to_owned(),
    })
}

impl Device {
    /// Computes softmax, its logarithm, or cross entropy of `rows`.
    pub(super) fn softmax_rows<T: RowElement>(
        &self,
        rows: Rows<'_, T>,
        results: Results,
        of_rows: OfRows<'_>,
    ) -> Outcome<()> {
        rows.check(self)?;
        let (count, len) = rows.operand().shape();
        of_rows.check(self, count)?;
        if count == 0 || (len == 0 && of_rows.values.is_none()) {
            return Ok(());
        }
        self.launch_softmax(rows, results, of_rows)
    }

    /// Launches the kernel for `rows`, at least one.
    fn launch_softmax<T: RowElement>(
        &self,
        rows: Rows<'_, T>,
        results: Results,
        of_rows: OfRows<'_>,
    ) -> Outcome<()> {
        let (count, len) = rows.operand().shape();
        let launch = RowLaunch::new::<T>(self, (count, len), rows.is_staged())?;
        // SAFETY: the launch accesses the elements of the rows alone, as the kernels document.
        let ([x_apart, y_apart], x, y) = unsafe { rows.into_params() };
        let shape = SoftmaxShape {
            rows: count,
            len,
            x_apart,
            y_apart,
            lanes: launch.lanes,
            is_staged: u32::from(launch.is_staged),
            is_logarithmic: u32::from(results.is_logarithmic),
            kept: launch.kept,
            scale: results.scale,
            padding: 0,
        };
        // SAFETY: there are no elements to be live, and none is accessed.
        let no_classes = unsafe { Global::from_raw_parts(no_elements().as_mut_ptr(), 0) };
        let classes = of_rows.classes.map_or(no_classes, global);
        let values = of_rows.values.map_or(no_elements(), global_mut);
        let params = (x, y, classes, values, GridConstant::new(&shape));
        let config = launch.config;
        // SAFETY: the kernels' requirements. The launch is the plan's, and has the shared memory that `kept` needs.
        // `x` and `y` have the elements of the rows, or `y` replaces its own; a mutable borrow's rows share none.
        // Lengths of classes and values were compared. Only softmax without classes has logarithms. Views of live
        // memory without conflicting work: all operands are borrowed until this returns.
        unsafe {
            match launch.class {
                RowClass::Short { .. } => Module::on_demand(self, T::SOFTMAX_SHORT)
                    .launch_params::<T::SoftmaxShort>(config, params),
                RowClass::Block { .. } => Module::on_demand(self, T::SOFTMAX_BLOCK)
                    .launch_params::<T::SoftmaxBlock>(config, params),
                RowClass::Long => Module::on_demand(self, T::SOFTMAX_LONG)
                    .launch_params::<T::SoftmaxLong>(config, params),
            }
        }
    }
}

impl OfRows<'_> {
    /// Fails unless classes and values are on `device`, one for each of `count` rows.
    fn check(&self, device: &Device, count: usize) -> Outcome<()> {
        const RULE: &str = "one for each row of the matrix";
        if let Some(classes) = &self.classes {
            device.check_reads(|| "the buffer of the classes".to_owned(), classes.holder())?;
            check_length("the buffer of the classes", classes.len(), count, RULE)?;
        }
        if let Some(values) = &self.values {
            device.check_writes(|| "the buffer of the values".to_owned(), values.written())?;
            check_length("the buffer of the values", values.len(), count, RULE)?;
        }
        Ok(())
    }
}

/// The grid of a launch, and the shapes' fields that follow from the plan.
pub(super) struct RowLaunch {
    pub class: RowClass,
    pub config: LaunchConfig,
    /// Lanes that share a short row.
    pub lanes: u32,
    /// Whether rows are moved through shared memory.
    pub is_staged: bool,
    /// Elements of a long row that are kept in shared memory.
    pub kept: u32,
}

impl RowLaunch {
    /// For `count` rows, at least one, of `len` elements of type `T`.
    pub(super) fn new<T: RowElement>(
        device: &Device,
        (count, len): (usize, usize),
        is_staged: bool,
    ) -> Outcome<Self> {
        let plan = RowPlan::new(len, size_of::<T>());
        let blocks = grid_x(count.div_ceil(plan.rows_of_block()), || {
            format!("a grid for {count} rows of {len} elements")
        })?;
        let stage = if is_staged { plan.stride() } else { 0 };
        let limit = device.properties().max_shared_bytes_per_block;
        let room = limit.saturating_sub(OTHER_SHARED_BYTES) as usize / size_of::<T>();
        let (kept, padded) = plan.kept(room - stage);
        let shared = (stage + padded) * size_of::<T>();
        let config = LaunchConfig::new(blocks, plan.threads());
        Ok(Self {
            class: plan.class,
            config: config.with_dynamic_shared(shared as u32),
            lanes: match plan.class {
                RowClass::Short { lanes, .. } => lanes,
                RowClass::Block { .. } | RowClass::Long => 1,
            },
            is_staged,
            kept: kept as u32,
        })
    }
}
