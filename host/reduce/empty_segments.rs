//! Reductions of segments, with a given value for empty segments.

use super::operations::{Reducible, ReducibleSegments};
use super::segments::Segments;
use crate::buffer::{Buffer, BufferView, BufferViewMut, IntoBufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Error, Outcome, Result};

impl Device {
    /// Reduces each segment of `x`, and gives `value` for each empty segment.
    ///
    /// The other segments have the bits of [`Device::reduce_segments`]. `value` is written unchanged for every
    /// operation, even where a sum of no elements would be 0.
    ///
    /// If there are empty segments, the call waits for the values, because the host fills them in: the range from the
    /// first to the last empty segment is copied to the host and back.
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[5, 9, 2, 7])?;
    /// let segments = device.segments(&[0, 2, 2, 4])?;
    /// let least = device.reduce_segments_or(&x, &segments, ops::Min, i32::MAX)?;
    /// assert_eq!(least.to_vec()?, [5, i32::MAX, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::reduce_segments`] except [`ErrorKind::NoElements`](crate::ErrorKind::NoElements), and
    /// [`ErrorKind::OutOfHostMemory`](crate::ErrorKind::OutOfHostMemory).
    pub fn reduce_segments_or<'x, R, T: ReducibleSegments<R>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        segments: &Segments,
        operation: R,
        value: <T as Reducible<R>>::Output,
    ) -> Result<Buffer<<T as Reducible<R>>::Output>> {
        let _: R = operation;
        let reduced = || {
            let mut values = Buffer::uninit(self, segments.len())?;
            self.segments_reduced_or_into(x.into(), segments, value, values.view_mut())?;
            Ok(values)
        };
        reduced().during("reduce_segments_or")
    }

    /// Writes the values of [`Device::reduce_segments_or`] to `values`; waits if a segment is empty.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `values` does not have an element for each
    /// segment, and those of [`Device::reduce_segments_or`].
    pub fn reduce_segments_or_into<'x, 'r, R, T: ReducibleSegments<R>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        segments: &Segments,
        operation: R,
        value: <T as Reducible<R>>::Output,
        values: impl Into<BufferViewMut<'r, <T as Reducible<R>>::Output>>,
    ) -> Result<()> {
        let _: R = operation;
        self.segments_reduced_or_into(x.into(), segments, value, values.into())
            .during("reduce_segments_or_into")
    }

    fn segments_reduced_or_into<R, T: ReducibleSegments<R>>(
        &self,
        x: BufferView<'_, T>,
        segments: &Segments,
        value: <T as Reducible<R>>::Output,
        mut values: BufferViewMut<'_, <T as Reducible<R>>::Output>,
    ) -> Outcome<()> {
        self.any_segments_reduced_into::<R, T, 1>([x], segments, values.view_mut())?;
        fill(segments.empty(), value, values)
    }
}

/// Overwrites the values at `places`, which ascend, with `value`.
fn fill<O: Element>(places: &[usize], value: O, mut values: BufferViewMut<'_, O>) -> Outcome<()> {
    let (Some(&first), Some(&last)) = (places.first(), places.last()) else {
        return Ok(());
    };
    let mut span = values.slice_mut(first..=last).map_err(Error::into_kind)?;
    let mut filled = match span.len() == places.len() {
        true => vec![value; places.len()],
        false => span.view().elements()?,
    };
    for place in places {
        filled[place - first] = value;
    }
    span.read_host(&filled)
}
