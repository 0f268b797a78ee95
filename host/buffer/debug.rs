//! How buffers and views are shown.

use crate::device::Device;
use std::fmt;

/// Shows the type, the number and the device of elements of type `T`.
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
