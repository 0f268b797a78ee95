//! The `Debug` form of buffers and views.

use crate::device::Device;
use std::fmt;

/// Shows the element type, the number of elements and the device.
pub(super) fn debug<T>(
    formatter: &mut fmt::Formatter<'_>,
    name: &str,
    len: usize,
    device: &Device,
) -> fmt::Result {
    formatter
        .debug_struct(name)
        .field("element", &std::any::type_name::<T>())
        .field("len", &len)
        .field("device", device)
        .finish()
}
