//! Copies of matrices: to and from host memory, and on the device.
//!
//! Two-dimensional copies transfer rows with gaps between them: the host packs nothing, and the gaps are neither read
//! nor written.

use super::owned::Matrix;
use super::shape::Order;
use super::view::{IntoMatrixView, Lines, MatrixView, in_one_order};
use super::view_mut::MatrixViewMut;
use crate::backend::{RowExtent, Rows};
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result, check_shapes, zeroed_vec};
use std::slice;

impl<T: Element> MatrixView<'_, T> {
    /// Copies the elements to host memory, row after row.
    ///
    /// The host reorders the elements of a column-major matrix.
    ///
    /// # Errors
    /// The errors of [`Buffer::to_vec`](crate::Buffer::to_vec).
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.row_after_row().during("to_vec")
    }

    pub(crate) fn row_after_row(&self) -> Outcome<Vec<T>> {
        let elements = self.elements()?;
        Ok(match self.order() {
            Order::RowMajor => elements,
            Order::ColumnMajor => row_after_row(&elements, self.rows()),
        })
    }

    /// The elements in the view's order, without the call's name in errors.
    pub(crate) fn elements(&self) -> Outcome<Vec<T>> {
        let lines = self.lines();
        // There may be more zero-sized elements than a list can have.
        let len = lines.count.checked_mul(lines.len).ok_or_else(|| {
            let (rows, columns) = self.shape();
            ErrorKind::size_overflow(format!("a list of {rows}x{columns} elements"))
        })?;
        let mut elements = zeroed_vec(len)?;
        self.write_strided(&mut elements, lines.len)?;
        Ok(elements)
    }

    /// Copies the elements to a new matrix on the same device, in the view's order and without gaps.
    ///
    /// # Errors
    /// The errors of [any call](crate#errors).
    pub fn to_matrix(&self) -> Result<Matrix<T>> {
        self.copied().during("to_matrix")
    }

    pub(crate) fn copied(&self) -> Outcome<Matrix<T>> {
        let shape = (self.rows(), self.cols(), self.order());
        let mut copy = Matrix::uninit(self.device(), shape.into())?;
        copy.view_mut().read_view(*self)?;
        Ok(copy)
    }

    /// Copies all elements to `destination`, with rows that start `leading_dimension` elements apart.
    ///
    /// For a column-major view, `leading_dimension` separates columns. The gaps keep their values.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let matrix = Device::simulator().matrix((2, 2), &[1, 2, 3, 4])?;
    /// let mut host = [0; 5];
    /// matrix.view().copy_to_strided(&mut host, 3)?;
    /// assert_eq!(host, [1, 2, 0, 3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::LeadingDimension`] if `leading_dimension` is less than the length of a row;
    /// [`ErrorKind::WrongLength`] if `destination` ends before the last element; those of
    /// [`Buffer::copy_to_slice`](crate::Buffer::copy_to_slice).
    pub fn copy_to_strided(&self, destination: &mut [T], leading_dimension: usize) -> Result<()> {
        let copied = self.write_strided(destination, leading_dimension);
        copied.during("copy_to_strided")
    }

    pub(crate) fn write_strided(
        &self,
        destination: &mut [T],
        leading_dimension: usize,
    ) -> Outcome<()> {
        check_room(
            "the slice",
            self.lines(),
            leading_dimension,
            destination.len(),
        )?;
        // SAFETY: the places are aligned and writable, and nothing else touches them: the slice is borrowed
        // mutably, and the check shows that it reaches to the last element.
        unsafe { self.write_rows(destination.as_mut_ptr(), leading_dimension) }
    }

    /// Copies all elements to host memory, from `first` on, in lines `apart` elements apart.
    ///
    /// # Safety
    /// 1. The places of the elements are aligned and writable, and nothing else touches them meanwhile.
    pub(crate) unsafe fn write_rows(&self, first: *mut T, apart: usize) -> Outcome<()> {
        let lines = self.lines();
        if let Some(elements) = self.as_buffer_view()
            && (Lines { apart, ..lines }).are_contiguous()
        {
            // SAFETY: the places are aligned, writable and not touched by others: the caller's contract. Without
            // gaps they are contiguous.
            let destination = unsafe { slice::from_raw_parts_mut(first, elements.len()) };
            return elements.write_host(destination);
        }
        if size_of::<T>() == 0 {
            return Ok(());
        }
        let destination = rows(first.cast(), Lines { apart, ..lines }, size_of::<T>());
        let device = self.device();
        self.holder().order_reads(device)?;
        // SAFETY: the elements are in a live allocation, which the view borrows. No work conflicts: writes need a
        // mutable borrow, so they were submitted before, and this is ordered after them. The places on the host are
        // writable: the caller's contract.
        unsafe {
            let backend = device.backend();
            backend.copy_rows_to_host(destination, rows_of(*self), extent_of(*self))
        }
    }
}

impl<T: Element> MatrixViewMut<'_, T> {
    /// Overwrites all elements with those of `source`, whose rows start `leading_dimension` elements apart.
    ///
    /// For a column-major view, `leading_dimension` separates columns.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let mut matrix = Device::simulator().matrix_zeros::<i32>((2, 3))?;
    /// matrix.slice_mut(.., 1..)?.copy_from_strided(&[1, 2, 9, 3, 4], 3)?;
    /// assert_eq!(matrix.to_vec()?, [0, 1, 2, 0, 3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::LeadingDimension`] if `leading_dimension` is less than the length of a row;
    /// [`ErrorKind::WrongLength`] if `source` ends before the last element; those of
    /// [`Buffer::copy_from_slice`](crate::Buffer::copy_from_slice).
    pub fn copy_from_strided(&mut self, source: &[T], leading_dimension: usize) -> Result<()> {
        self.read_strided(source, leading_dimension)
            .during("copy_from_strided")
    }

    pub(crate) fn read_strided(&mut self, source: &[T], leading_dimension: usize) -> Outcome<()> {
        check_room(
            "the slice",
            self.view().lines(),
            leading_dimension,
            source.len(),
        )?;
        // SAFETY: the places are aligned and readable, and nothing writes them: the slice is borrowed, and the
        // check shows that it reaches to the last element.
        unsafe { self.read_rows(source.as_ptr(), leading_dimension) }
    }

    /// Overwrites all elements with those in host memory, from `first` on, in lines `apart` elements apart.
    ///
    /// # Safety
    /// 1. The places of the elements are aligned and readable, and nothing writes them meanwhile.
    pub(crate) unsafe fn read_rows(&mut self, first: *const T, apart: usize) -> Outcome<()> {
        let lines = self.view().lines();
        if (Lines { apart, ..lines }).are_contiguous()
            && let Some(mut elements) = self.as_buffer_view_mut()
        {
            // SAFETY: the places are aligned, readable and not written: the caller's contract. Without gaps they
            // are contiguous.
            return elements.read_host(unsafe { slice::from_raw_parts(first, elements.len()) });
        }
        if size_of::<T>() == 0 {
            return Ok(());
        }
        let source = rows(first.cast(), Lines { apart, ..lines }, size_of::<T>());
        let view = self.view();
        let device = view.device();
        self.written().order(device)?;
        // SAFETY: the elements are in a live allocation, which the view borrows. No work conflicts: the mutable
        // borrow keeps other threads away, and this is ordered after earlier work. The places on the host are
        // readable: the caller's contract.
        unsafe {
            let backend = device.backend();
            backend.copy_rows_to_device(rows_of(view), source, extent_of(view))
        }
    }

    /// Overwrites all elements with those of `source`, of the same shape, order and device.
    ///
    /// A matrix of one row or one column is in both orders, so it can be copied to and from either.
    ///
    /// # Errors
    /// [`ErrorKind::WrongDevice`] if `source` is on another device; [`ErrorKind::ShapeMismatch`] if it has another
    /// shape; [`ErrorKind::OrderMismatch`] if it is in another order; and those of [any call](crate#errors).
    pub fn copy_from_matrix<'b>(&mut self, source: impl IntoMatrixView<'b, T>) -> Result<()> {
        self.read_view(source.into()).during("copy_from_matrix")
    }

    pub(crate) fn read_view(&mut self, source: MatrixView<'_, T>) -> Outcome<()> {
        let view = self.view();
        let device = view.device();
        device.check_owns(|| "the source".to_owned(), source.device())?;
        let names = ["the destination", "the source"];
        check_shapes(names, view.shape(), source.shape())?;
        if view.is_empty() || size_of::<T>() == 0 {
            return Ok(());
        }
        let (destination, source) = in_one_order(view, source)?;
        source.holder().order_reads(device)?;
        self.written().order(device)?;
        // SAFETY: both have the rows in live allocations, and these do not overlap, because no other view has
        // elements of a mutable one. The borrows keep conflicting work away, and this is ordered after earlier work.
        unsafe {
            let backend = device.backend();
            if destination.lines().are_contiguous() && source.lines().are_contiguous() {
                let bytes = destination.lines().span() * size_of::<T>();
                let (to, from) = (destination.device_address(), source.device_address());
                return backend.copy_on_device(to, from, bytes);
            }
            backend.copy_rows_on_device(
                rows_of(destination),
                rows_of(source),
                extent_of(destination),
            )
        }
    }
}

/// The lines of a view that has bytes.
fn extent_of<T: Element>(view: MatrixView<'_, T>) -> RowExtent {
    let lines = view.lines();
    RowExtent {
        rows: lines.count,
        bytes: lines.len * size_of::<T>(),
    }
}

fn rows_of<T: Element>(view: MatrixView<'_, T>) -> Rows<u64> {
    rows(view.device_address(), view.lines(), size_of::<T>())
}

fn rows<A>(first: A, lines: Lines, element_bytes: usize) -> Rows<A> {
    // The distance from a single line to the next may be any number.
    let apart = if lines.count == 1 {
        lines.len
    } else {
        lines.apart
    };
    Rows {
        first,
        pitch: apart * element_bytes,
    }
}

/// Fails unless the `len` elements of `what` hold the lines, whose starts are `apart` elements apart.
pub(super) fn check_room(what: &str, lines: Lines, apart: usize, len: usize) -> Outcome<()> {
    if apart < lines.len {
        return Err(ErrorKind::LeadingDimension {
            least: lines.len,
            found: apart,
        });
    }
    let expected = Lines { apart, ..lines }.span();
    if expected > len {
        return Err(ErrorKind::WrongLength {
            what: what.to_owned(),
            expected,
            found: len,
            rule: "it must reach to the last element of the last row (column, in column-major order)",
        });
    }
    Ok(())
}

/// The elements of a matrix of `rows` rows, given column after column, in row-major order.
fn row_after_row<T: Element>(elements: &[T], rows: usize) -> Vec<T> {
    // Without columns, or with zero-sized elements, there may be any number of rows.
    if size_of_val(elements) == 0 {
        return elements.to_vec();
    }
    (0..rows)
        .flat_map(|row| elements.iter().skip(row).step_by(rows).copied())
        .collect()
}
