//! Tensor maps: descriptions of matrices for bulk tensor copies in kernels.

use crate::backend::{TensorMapBatch, TensorMapRequest};
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result, TensorMapRule};
use crate::holder::{Holder, Written};
use crate::matrix::{Matrix, MatrixView};
use cuda_std::tma::{TensorMap, TensorMapMut};
use std::marker::PhantomData;

/// A kernel argument for a parameter `GridConstant<TensorMap<T, ROWS, COLUMNS>>`.
///
/// [`Matrix::tensor_map`] makes it.
#[derive(Debug)]
pub struct TensorMapView<'a, T: Element, const ROWS: usize, const COLUMNS: usize> {
    map: TensorMap<T, ROWS, COLUMNS>,
    holder: Holder<'a>,
    elements: PhantomData<&'a [T]>,
}

/// A kernel argument for a parameter `GridConstant<TensorMapMut<T, ROWS, COLUMNS>>`.
///
/// [`Matrix::tensor_map_mut`] makes it.
#[derive(Debug)]
pub struct TensorMapViewMut<'a, T: Element, const ROWS: usize, const COLUMNS: usize> {
    map: TensorMapMut<T, ROWS, COLUMNS>,
    written: Written<'a>,
    elements: PhantomData<&'a mut [T]>,
}

impl<T: Element> Matrix<T> {
    /// A tensor map with which a kernel loads boxes of the matrix into shared memory.
    ///
    /// A box has `ROWS` rows of `COLUMNS` elements, 128 bytes each. In a column-major matrix, its columns count as
    /// rows.
    ///
    /// # Errors
    /// [`ErrorKind::TensorMap`] with the rule that the matrix breaks, such as rows that are not a multiple of 16
    /// bytes; [`ErrorKind::DriverTooOld`] if the driver has no tensor maps.
    pub fn tensor_map<const ROWS: usize, const COLUMNS: usize>(
        &self,
    ) -> Result<TensorMapView<'_, T, ROWS, COLUMNS>> {
        let words = self.encode(ROWS, COLUMNS).during("tensor_map")?;
        Ok(TensorMapView {
            map: TensorMap::of_words(words),
            holder: self.view().holder(),
            elements: PhantomData,
        })
    }

    /// A tensor map with which a kernel stores boxes from shared memory to the matrix.
    ///
    /// Boxes are as in [`Self::tensor_map`].
    ///
    /// # Errors
    /// The errors of [`Self::tensor_map`].
    pub fn tensor_map_mut<const ROWS: usize, const COLUMNS: usize>(
        &mut self,
    ) -> Result<TensorMapViewMut<'_, T, ROWS, COLUMNS>> {
        let words = self.encode(ROWS, COLUMNS).during("tensor_map_mut")?;
        Ok(TensorMapViewMut {
            map: TensorMapMut::of_words(words),
            written: self.view_mut().written(),
            elements: PhantomData,
        })
    }

    fn encode(&self, box_rows: usize, box_columns: usize) -> Outcome<[u64; 16]> {
        self.view().encode_tensor_map(box_rows, box_columns)
    }
}

impl<T: Element> MatrixView<'_, T> {
    /// A map of the lines, rows or columns, with boxes of `box_rows` lines and `box_columns` elements of each.
    pub(crate) fn encode_tensor_map(
        &self,
        box_rows: usize,
        box_columns: usize,
    ) -> Outcome<[u64; 16]> {
        self.encode_map(box_rows, box_columns, None)
    }

    /// A map of a batch of matrices whose first is this one.
    pub(crate) fn encode_tensor_map_of_batch(
        &self,
        box_rows: usize,
        box_columns: usize,
        batch: TensorMapBatch,
    ) -> Outcome<[u64; 16]> {
        self.encode_map(box_rows, box_columns, Some(batch))
    }

    fn encode_map(
        &self,
        box_rows: usize,
        box_columns: usize,
        batch: Option<TensorMapBatch>,
    ) -> Outcome<[u64; 16]> {
        let lines = self.lines();
        let request = TensorMapRequest {
            address: self.device_address(),
            element_bytes: size_of::<T>() as u32,
            sizes: [lines.len as u64, lines.count as u64],
            // Rows of a matrix without elements may be any distance apart.
            row_bytes: lines.apart.saturating_mul(size_of::<T>()) as u64,
            batch,
            box_sizes: [box_columns as u32, box_rows as u32],
        };
        check(&request).map_err(|rule| ErrorKind::TensorMap { rule })?;
        self.device().backend().encode_tensor_map(&request)
    }
}

impl<'a, T: Element, const ROWS: usize, const COLUMNS: usize> TensorMapView<'a, T, ROWS, COLUMNS> {
    pub(crate) fn map(&self) -> &TensorMap<T, ROWS, COLUMNS> {
        &self.map
    }

    pub(crate) fn holder(&self) -> Holder<'a> {
        self.holder
    }
}

impl<'a, T: Element, const ROWS: usize, const COLUMNS: usize>
    TensorMapViewMut<'a, T, ROWS, COLUMNS>
{
    pub(crate) fn map(&self) -> &TensorMapMut<T, ROWS, COLUMNS> {
        &self.map
    }

    /// The elements, as the result of a launch. Several launches may borrow the map at once, to write other boxes.
    pub(crate) fn written(&self) -> Written<'a> {
        self.written.as_part()
    }
}

/// Addresses and distances of rows are multiples of this number of bytes.
const ALIGNMENT: u64 = 16;

/// The rules that depend on the matrix; those for boxes are checked at compile time.
fn check(request: &TensorMapRequest) -> std::result::Result<(), TensorMapRule> {
    let [columns, rows] = request.sizes;
    let bytes = request.row_bytes;
    if columns == 0 || rows == 0 {
        return Err(TensorMapRule::Empty);
    }
    if !matches!(request.element_bytes, 1 | 2 | 4 | 8) {
        let bytes = request.element_bytes;
        return Err(TensorMapRule::Element { bytes });
    }
    if columns > 1 << 32 || rows > 1 << 32 {
        let shape = (rows as usize, columns as usize);
        return Err(TensorMapRule::Extent { shape });
    }
    if bytes >= 1 << 40 {
        return Err(TensorMapRule::LongRows { bytes });
    }
    if !bytes.is_multiple_of(ALIGNMENT) {
        return Err(TensorMapRule::RowStride { bytes });
    }
    match request.address % ALIGNMENT {
        0 => Ok(()),
        past => Err(TensorMapRule::Address { past }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::error::Error;

    #[test]
    fn a_matrix_without_elements_has_no_map() {
        for shape in [(0, usize::MAX), (usize::MAX, 0), (0, 1 << 62)] {
            let mut matrix = Device::simulator().matrix_zeros::<f32>(shape).unwrap();
            let error = matrix.tensor_map::<8, 32>().unwrap_err();
            let is_empty = |error: &Error| {
                let rule = TensorMapRule::Empty;
                matches!(error.kind(), ErrorKind::TensorMap { rule: it } if *it == rule)
            };
            assert!(is_empty(&error), "{error}");
            assert!(is_empty(&matrix.tensor_map_mut::<8, 32>().unwrap_err()));
        }
    }

    const REQUEST: TensorMapRequest = TensorMapRequest {
        address: 256,
        element_bytes: 2,
        sizes: [64, 100],
        row_bytes: 128,
        batch: None,
        box_sizes: [64, 8],
    };

    #[test]
    fn each_rule_has_its_name() {
        assert_eq!(check(&REQUEST), Ok(()));
        let broken = |change: fn(&mut TensorMapRequest)| {
            let mut request = REQUEST;
            change(&mut request);
            check(&request).unwrap_err()
        };
        assert_eq!(broken(|it| it.sizes = [0, 4]), TensorMapRule::Empty);
        assert_eq!(
            broken(|it| it.element_bytes = 16),
            TensorMapRule::Element { bytes: 16 }
        );
        assert_eq!(
            broken(|it| it.address = 264),
            TensorMapRule::Address { past: 8 }
        );
        assert_eq!(
            broken(|it| it.row_bytes = 126),
            TensorMapRule::RowStride { bytes: 126 }
        );
        assert_eq!(
            broken(|it| it.row_bytes = 1 << 40),
            TensorMapRule::LongRows { bytes: 1 << 40 }
        );
        let shape = (100, (1 << 32) + 8);
        assert_eq!(
            broken(|it| it.sizes[0] = (1 << 32) + 8),
            TensorMapRule::Extent { shape }
        );
    }
}
