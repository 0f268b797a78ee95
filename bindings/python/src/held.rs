//! What tensors of Python say of themselves.

use crate::errors::Class;
use dlpark::DlpackFlags;
use dlpark::ffi::{DLDataType, DLDevice};
use dlpark::python::ImportedDlpack;
use pyo3::prelude::*;
use std::ops::Range;

/// What a tensor of Python says of itself.
pub struct Held {
    pub place: DLDevice,
    pub element: DLDataType,
    pub shape: Vec<usize>,
    pub strides: Vec<usize>,
    pub bytes: Range<usize>,
    pub is_read_only: bool,
}

impl Held {
    pub fn of(imported: &ImportedDlpack) -> PyResult<Self> {
        let wrong = |error: dlpark::tensor::Error| Class::Value.error(error.to_string());
        let tensor = imported.validate().map_err(wrong)?;
        let strides = tensor.strides_or_compact().map_err(wrong)?;
        let element = tensor.dtype();
        let first = tensor.data_ptr().expose_provenance() + tensor.byte_offset() as usize;
        let len = span(tensor.shape(), &strides)
            .and_then(|len| len.checked_mul(element.element_size()))
            .filter(|len| first.checked_add(*len).is_some())
            .ok_or_else(|| {
                Class::Layout.error(format!(
                    "no call takes an array with strides {strides:?}; copy it"
                ))
            })?;
        let sizes = |values: &[i64]| {
            values
                .iter()
                .map(|value| (*value).max(0) as usize)
                .collect()
        };
        Ok(Self {
            place: tensor.device(),
            element,
            shape: sizes(tensor.shape()),
            strides: sizes(&strides),
            bytes: first..first + len,
            is_read_only: imported.flags().contains(DlpackFlags::READ_ONLY),
        })
    }
}

/// The number of elements from the first to the last, gaps included; `None` for negative strides, or if it overflows.
fn span(shape: &[i64], strides: &[i64]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape
        .iter()
        .zip(strides)
        .filter(|(size, _)| **size > 1)
        .try_fold(1_usize, |span, (size, stride)| {
            let gaps = usize::try_from(size - 1).ok()?;
            span.checked_add(gaps.checked_mul(usize::try_from(*stride).ok()?)?)
        })
}
