//! Printed lines and panics, recorded for the host.

use crate::output::{Ring, Value};

/// The module's ring. The host writes it after it loads the module.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".global")]
static __tilewright_output: Ring = Ring::new();

/// Records a line for the host. Not inlined: printing need not be fast, and must not take registers from the rest of
/// the kernel.
#[inline(never)]
pub fn print(text: &'static str, values: &[Value]) {
    // SAFETY: the ring's memory is null, or live and zeroed: only the host writes the address.
    unsafe { __tilewright_output.record_line(text, values) };
}

/// Records a panic for the host.
#[cfg(cuda_panic_locations)]
pub(super) fn record_panic(info: &core::panic::PanicInfo<'_>) {
    use super::position;
    use crate::output::Panic;
    const FORMATTED: &str = "a panic with a message that has values, which a GPU does not format";

    let Some(location) = info.location() else {
        return;
    };
    let panic = Panic {
        file: location.file(),
        line: location.line(),
        column: location.column(),
        message: info.message().as_str().unwrap_or(FORMATTED),
        block: [
            position::block_idx_x(),
            position::block_idx_y(),
            position::block_idx_z(),
        ],
        thread: [
            position::thread_idx_x(),
            position::thread_idx_y(),
            position::thread_idx_z(),
        ],
    };
    // SAFETY: as in `print`.
    unsafe { __tilewright_output.record_panic(&panic) };
}
