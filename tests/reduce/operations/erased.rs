//! Operations and values without their types: the code that runs the cases is compiled once for each element type, not
//! for each operation.

use super::judge::Judge;
use super::model;
use super::values::Value;
use crate::lines::model as model_of_lines;
use std::any::type_name;
use std::fmt::Debug;
use tilewright::{
    Buffer, BufferView, Device, Element, MatrixView, Reducible, ReducibleLines, ReducibleSegments,
    Result, Segments,
};
use tilewright_kernels::reduce::Reduction;

/// Values of one type.
#[derive(Clone, Debug)]
pub struct Values {
    bytes: Vec<u8>,
    bytes_of_one: usize,
    show: fn(&[u8]) -> String,
}

impl Values {
    pub fn of<O: Element + Debug>(values: &[O]) -> Self {
        Self {
            bytes: bytemuck::cast_slice(values).to_vec(),
            bytes_of_one: size_of::<O>(),
            show: |bytes| format!("{:?}", bytemuck::pod_read_unaligned::<O>(bytes)),
        }
    }

    fn in_buffer<O: Element + Debug>(buffer: &Buffer<O>) -> Self {
        Self::of(&buffer.to_vec().unwrap())
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All of some values of one type, which are not none.
    pub fn concat(values: Vec<Self>) -> Self {
        Self {
            bytes: values.iter().flat_map(|it| &it.bytes).copied().collect(),
            ..values[0]
        }
    }

    /// Fails unless both have the same bytes.
    #[track_caller]
    pub fn assert_same(&self, expected: &Self, case: &str) {
        let found = self.bytes.chunks(self.bytes_of_one);
        let all_expected = expected.bytes.chunks(expected.bytes_of_one);
        for (number, (found, expected)) in found.zip(all_expected).enumerate() {
            assert!(
                found == expected,
                "value {number}: {} instead of {}, {case}",
                (self.show)(found),
                (self.show)(expected)
            );
        }
        assert_eq!(self.bytes.len(), expected.bytes.len(), "{case}");
    }
}

/// An operation on elements of type `T`.
pub trait Operation<T: Value> {
    /// Another for each operation and each type.
    fn name(&self) -> &'static str;
    fn needs_an_element(&self) -> bool;
    /// The value of a buffer by the model of its tree.
    fn model(&self, elements: &[T]) -> Values;
    /// The same, held to a loop.
    fn of_buffer(&self, elements: &[T], case: &str) -> Values;
    /// The value of a line by the model of its tree, held to a loop.
    fn of_line(&self, elements: &[T], case: &str) -> Values;

    fn reduce(&self, device: &Device, x: BufferView<'_, T>) -> Result<Values>;
    fn reduce_into(&self, device: &Device, x: BufferView<'_, T>) -> Result<Values>;
    fn reduce_rows(&self, device: &Device, x: MatrixView<'_, T>) -> Result<Values>;
    fn reduce_columns(&self, device: &Device, x: MatrixView<'_, T>) -> Result<Values>;
    fn reduce_columns_into(&self, device: &Device, x: MatrixView<'_, T>) -> Result<Values>;
    fn reduce_segments(
        &self,
        device: &Device,
        x: &Buffer<T>,
        segments: &Segments,
    ) -> Result<Values>;
    /// To a buffer of values that has others.
    fn reduce_segments_into(
        &self,
        device: &Device,
        x: &Buffer<T>,
        segments: &Segments,
    ) -> Result<Values>;
    /// With the value of the line `fallback` for empty segments: new values, and a buffer that had others.
    fn reduce_segments_or(
        &self,
        device: &Device,
        x: &Buffer<T>,
        segments: &Segments,
        fallback: &[T],
    ) -> Result<[Values; 2]>;
}

impl<R, T> Operation<T> for R
where
    R: Copy + Judge<T>,
    T: Value
        + Reducible<R, Output = <R as Reduction<T>>::Output>
        + ReducibleLines<R>
        + ReducibleSegments<R>,
    <R as Reduction<T>>::Output: Element + Debug,
{
    fn name(&self) -> &'static str {
        type_name::<(R, T)>()
    }

    fn needs_an_element(&self) -> bool {
        R::NEEDS_AN_ELEMENT
    }

    fn model(&self, elements: &[T]) -> Values {
        Values::of(&[model::value::<R, T>(elements, size_of::<T>())])
    }

    fn of_buffer(&self, elements: &[T], case: &str) -> Values {
        let value = model::value::<R, T>(elements, size_of::<T>());
        R::judge(elements, value, case);
        Values::of(&[value])
    }

    fn of_line(&self, elements: &[T], case: &str) -> Values {
        let value = model_of_lines::value::<R, T>(elements);
        R::judge(elements, value, case);
        Values::of(&[value])
    }

    fn reduce(&self, device: &Device, x: BufferView<'_, T>) -> Result<Values> {
        Ok(Values::of(&[device.reduce(x, *self)?]))
    }

    fn reduce_into(&self, device: &Device, x: BufferView<'_, T>) -> Result<Values> {
        let mut result = device.zeros(1)?;
        device.reduce_into(x, *self, &mut result)?;
        Ok(Values::in_buffer(&result))
    }

    fn reduce_rows(&self, device: &Device, x: MatrixView<'_, T>) -> Result<Values> {
        Ok(Values::in_buffer(&device.reduce_rows(x, *self)?))
    }

    fn reduce_columns(&self, device: &Device, x: MatrixView<'_, T>) -> Result<Values> {
        Ok(Values::in_buffer(&device.reduce_columns(x, *self)?))
    }

    fn reduce_columns_into(&self, device: &Device, x: MatrixView<'_, T>) -> Result<Values> {
        let mut values = device.zeros(x.cols())?;
        device.reduce_columns_into(x, *self, &mut values)?;
        Ok(Values::in_buffer(&values))
    }

    fn reduce_segments(
        &self,
        device: &Device,
        x: &Buffer<T>,
        segments: &Segments,
    ) -> Result<Values> {
        let values = device.reduce_segments(x, segments, *self)?;
        Ok(Values::in_buffer(&values))
    }

    fn reduce_segments_into(
        &self,
        device: &Device,
        x: &Buffer<T>,
        segments: &Segments,
    ) -> Result<Values> {
        let other = vec![0x5a; size_of::<<R as Reduction<T>>::Output>()];
        let other = bytemuck::pod_read_unaligned(&other);
        let mut values = device.upload(&vec![other; segments.len()])?;
        device.reduce_segments_into(x, segments, *self, &mut values)?;
        Ok(Values::in_buffer(&values))
    }

    fn reduce_segments_or(
        &self,
        device: &Device,
        x: &Buffer<T>,
        segments: &Segments,
        fallback: &[T],
    ) -> Result<[Values; 2]> {
        let value = model_of_lines::value::<R, T>(fallback);
        let new = device.reduce_segments_or(x, segments, *self, value)?;
        let mut values = device.zeros(segments.len())?;
        device.reduce_segments_or_into(x, segments, *self, value, &mut values)?;
        Ok([new, values].map(|it| Values::in_buffer(&it)))
    }
}
