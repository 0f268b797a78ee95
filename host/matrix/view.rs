//! Borrowed matrices: whole ones, parts and transposes.

use super::methods::getters;
use super::shape::{MatrixShape, Order};
use crate::buffer::{Buffer, BufferView, resolve};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::holder::Holder;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

/// A borrowed matrix in the memory of one device.
///
/// It is a [`Matrix`](crate::Matrix), some of its rows and columns, or the transpose of either. Products accept views
/// in either [`Order`], with or without gaps between the rows.
///
/// ```
/// use tilewright::Device;
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let matrix = device.matrix((3, 4), &(0..12).map(|x| x as f32).collect::<Vec<_>>())?;
/// let middle = matrix.slice(1.., 1..3)?;
/// assert_eq!((middle.shape(), middle.leading_dimension()), ((2, 2), 4));
/// assert_eq!(middle.to_vec()?, [5.0, 6.0, 9.0, 10.0]);
/// assert_eq!(device.matmul(middle, middle.t())?.to_vec()?, [61.0, 105.0, 105.0, 181.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct MatrixView<'a, T: Element> {
    pub(super) holder: Holder<'a>,
    /// The address of the first element; meaningless if there are no bytes.
    address: u64,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) order: Order,
    /// At least the length of a row (a column, if column-major). If there are elements, all of them, from the first
    /// to the last, lie in one allocation.
    pub(super) leading_dimension: usize,
    elements: PhantomData<&'a [T]>,
}

/// The lines in which a matrix's elements lie in memory: its rows if it is row-major, its columns if it is
/// column-major.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    pub(crate) count: usize,
    /// The length of a line, whose elements are contiguous.
    pub(crate) len: usize,
    /// The distance from the start of one line to the start of the next, in elements.
    pub(crate) apart: usize,
}

impl Lines {
    /// Whether there are no gaps between the lines.
    pub(crate) fn are_contiguous(&self) -> bool {
        self.apart == self.len || self.count <= 1 || self.len == 0
    }

    /// The number of elements from the first to the last, gaps included; saturates.
    pub(crate) fn span(&self) -> usize {
        match (self.count, self.len) {
            (0, _) | (_, 0) => 0,
            (count, len) => (count - 1).saturating_mul(self.apart).saturating_add(len),
        }
    }
}

impl<'a, T: Element> MatrixView<'a, T> {
    /// `buffer` has the elements of `shape`, without gaps.
    pub(super) fn new(buffer: &'a Buffer<T>, shape: MatrixShape) -> Self {
        let (holder, address) = (buffer.holder(), buffer.device_address());
        Self::of_elements(holder, address, shape, shape.row_len())
    }

    /// A matrix whose first element is at `address`.
    ///
    /// If there are elements, all of them, from the first to the last, are borrowed and lie in one allocation of
    /// `holder`; `leading_dimension` is at least the length of a row, or of a column if column-major.
    pub(super) fn of_elements(
        holder: Holder<'a>,
        address: u64,
        shape: MatrixShape,
        leading_dimension: usize,
    ) -> Self {
        let MatrixShape { rows, cols, order } = shape;
        Self {
            holder,
            address,
            rows,
            cols,
            order,
            leading_dimension,
            elements: PhantomData,
        }
    }

    getters!(self => self, &'a Device);

    /// The address of the first element on the device, aligned to the element type.
    ///
    /// It is meaningless if there are no elements.
    #[must_use]
    pub fn device_address(&self) -> u64 {
        self.address
    }

    pub(crate) fn holder(&self) -> Holder<'a> {
        self.holder.of_bytes(usize::from(self.has_bytes()))
    }

    pub(super) fn has_bytes(&self) -> bool {
        self.rows.min(self.cols).min(size_of::<T>()) > 0
    }

    /// The same elements, as those of another stream of their device.
    pub(crate) fn in_stream_of(self, device: &'a Device) -> Self {
        let uses = self.holder.uses;
        Self {
            holder: Holder { device, uses },
            ..self
        }
    }

    /// The transpose, without a copy.
    #[must_use]
    pub fn t(self) -> Self {
        Self {
            rows: self.cols,
            cols: self.rows,
            order: self.order.transposed(),
            ..self
        }
    }

    /// The view of the same shape that begins `elements` elements after this one.
    pub(super) fn moved_by(self, elements: usize) -> Self {
        Self {
            address: self.address + (elements * size_of::<T>()) as u64,
            ..self
        }
    }

    /// Some rows and columns, counted from the view's first.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if a range goes past the last row or column.
    pub fn slice(
        self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Result<Self> {
        self.part(rows, columns).during("slice")
    }

    pub(crate) fn part(
        self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Outcome<Self> {
        let rows = resolve(rows, self.rows, "rows")?;
        let columns = resolve(columns, self.cols, "columns")?;
        let first = match self.order {
            _ if rows.is_empty() || columns.is_empty() || size_of::<T>() == 0 => 0,
            Order::RowMajor => rows.start * self.leading_dimension + columns.start,
            Order::ColumnMajor => columns.start * self.leading_dimension + rows.start,
        };
        Ok(Self {
            address: self.address + (first * size_of::<T>()) as u64,
            rows: rows.len(),
            cols: columns.len(),
            ..self
        })
    }

    /// The elements as part of a buffer, in the view's [`order`](Self::order); `None` if there are gaps.
    #[must_use]
    pub fn as_buffer_view(self) -> Option<BufferView<'a, T>> {
        let lines = self.lines();
        if !lines.are_contiguous() {
            return None;
        }
        // SAFETY: the elements are in one allocation and borrowed: without gaps they are contiguous in the one that
        // this view borrows.
        Some(unsafe { BufferView::of_elements(self.holder, self.address, lines.span()) })
    }

    pub(crate) fn lines(&self) -> Lines {
        let (count, len) = match self.order {
            Order::RowMajor => (self.rows, self.cols),
            Order::ColumnMajor => (self.cols, self.rows),
        };
        Lines {
            count,
            len,
            apart: self.leading_dimension,
        }
    }

    /// The same matrix in row-major order, if its elements already lie in rows.
    pub(crate) fn with_rows(self) -> Option<Self> {
        self.in_order(Order::RowMajor)
    }

    /// The same matrix in `order`, if its elements already lie in it.
    pub(crate) fn in_order(self, order: Order) -> Option<Self> {
        match self.order == order {
            true => Some(self),
            false => self.in_other_order(),
        }
    }

    /// A view of one row or column, in the other order; `None` for other shapes.
    fn in_other_order(self) -> Option<Self> {
        // The elements of one row or column are equally far apart.
        let lines = self.lines();
        let leading_dimension = match (lines.count, lines.len) {
            (_, 1) if lines.apart == 1 => lines.count,
            (1, _) => 1,
            _ => return None,
        };
        Some(Self {
            order: self.order.transposed(),
            leading_dimension,
            ..self
        })
    }
}

/// Both views in one order, row-major if possible. Fails if the orders differ and neither view lies in both.
pub(crate) fn in_one_order<'a, 'b, T: Element, U: Element>(
    left: MatrixView<'a, T>,
    right: MatrixView<'b, U>,
) -> Outcome<(MatrixView<'a, T>, MatrixView<'b, U>)> {
    if left.order() == right.order() {
        return Ok((left, right));
    }
    let in_rows = |left: MatrixView<'a, T>, right: MatrixView<'b, U>| {
        Some((left.with_rows()?, right.with_rows()?))
    };
    if let Some(rows) = in_rows(left, right) {
        return Ok(rows);
    }
    let (left, right) = in_rows(left.t(), right.t()).ok_or(ErrorKind::OrderMismatch)?;
    Ok((left.t(), right.t()))
}

/// An argument that converts to a [`MatrixView`]: `&matrix`, its transpose `matrix.t()`, a view, or a slice of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed as a matrix on a device",
    label = "expected `&matrix`, its transpose `matrix.t()`, or a view of a matrix",
    note = "upload host data with a shape: `let a = device.matrix((rows, columns), &a)?;`",
    note = "give a buffer a shape: `let a = buffer.into_matrix((rows, columns))?;`, or `buffer.view().as_column()` for \
            a vector"
)]
pub trait IntoMatrixView<'a, T: Element>: Into<MatrixView<'a, T>> {}

impl<'a, T: Element> IntoMatrixView<'a, T> for MatrixView<'a, T> {}
impl<'a, T: Element> IntoMatrixView<'a, T> for &MatrixView<'a, T> {}

impl<'a, T: Element> From<&MatrixView<'a, T>> for MatrixView<'a, T> {
    fn from(view: &MatrixView<'a, T>) -> Self {
        *view
    }
}

/// Shows the shape and the address, not the elements: those are on the device.
impl<T: Element> fmt::Debug for MatrixView<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(formatter, "MatrixView", *self)
    }
}

/// Shows a matrix on a device under the name of its type.
pub(super) fn debug<T: Element>(
    formatter: &mut fmt::Formatter<'_>,
    name: &str,
    view: MatrixView<'_, T>,
) -> fmt::Result {
    formatter
        .debug_struct(name)
        .field("element", &std::any::type_name::<T>())
        .field("rows", &view.rows)
        .field("cols", &view.cols)
        .field("order", &view.order)
        .field("leading_dimension", &view.leading_dimension)
        .field("device", view.holder.device)
        .finish()
}
