//! Printing from kernels, in the simulator and on GPUs: [`gpu_println!`](crate::gpu_println).
//!
//! A line is a record of its text and values in memory that the GPU and the host share; the host
//! formats it. A `Ring` refers to a module's records, which the host allocates when it loads the
//! module. One more record holds the first panic, and stays readable when the GPU's context is
//! lost.

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

/// The PTX symbol of a module's [`Ring`], in modules whose kernels print or report panics.
#[doc(hidden)]
pub const SYMBOL: &str = "__tilewright_output";

/// Maximum number of values in a line.
pub const MAX_VALUES: usize = 8;

/// Maximum length of a line's text in bytes, before formatting.
pub const MAX_TEXT_BYTES: usize = 384;

/// The text of a line, with a `{}` for each value.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Text(&'static str);

impl Text {
    /// The constant that [`gpu_println!`](crate::gpu_println) makes of a text.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        assert!(
            text.len() <= MAX_TEXT_BYTES,
            "the text of `gpu_println!` has at most 384 bytes"
        );
        Self(text)
    }
}

/// Prints a line. [`gpu_println!`](crate::gpu_println) expands to this call.
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
