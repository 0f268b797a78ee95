//! Lines that kernels print, on both machines: [`gpu_println!`](crate::gpu_println).
//!
//! A line is a record with its text and its values in memory that the GPU and the host share; the
//! host formats it. A `Ring` has the records of a module, which the host makes when it loads the
//! module, and a record for the first panic, which stays readable when the GPU's context is lost.

#[cfg(any(test, target_arch = "nvptx64"))]
mod device;
mod ring;
mod value;

#[cfg(not(target_arch = "nvptx64"))]
mod format;
#[cfg(not(target_arch = "nvptx64"))]
mod host;

#[cfg(cuda_panic_locations)]
pub(crate) use device::Panic;
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub use format::line;
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub use host::{PanicReport, Records};
#[doc(hidden)]
pub use ring::Ring;
pub use value::{Printable, Value};

use crate::machine;

/// The name of a module's [`Ring`] in its PTX, which has one where a kernel prints or reports panics.
#[doc(hidden)]
pub const SYMBOL: &str = "__tilewright_output";

/// The most values of a line.
pub const MAX_VALUES: usize = 8;

/// The most bytes of a line's text, before its values are put in.
pub const MAX_TEXT_BYTES: usize = 384;

/// The text of a line, with a `{}` for each value.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Text(&'static str);

impl Text {
    /// What [`gpu_println!`](crate::gpu_println) makes of a text, in a constant.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        assert!(
            text.len() <= MAX_TEXT_BYTES,
            "the text of `gpu_println!` has at most 384 bytes"
        );
        Self(text)
    }
}

/// Prints a line: what [`gpu_println!`](crate::gpu_println) expands to.
#[doc(hidden)]
#[inline(always)]
#[track_caller]
pub fn print<const COUNT: usize>(text: Text, values: [Value; COUNT]) {
    const {
        assert!(
            COUNT <= MAX_VALUES,
            "`gpu_println!` prints at most 8 values in a line"
        );
    }
    machine::print(text.0, &values);
}
