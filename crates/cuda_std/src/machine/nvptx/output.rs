//! Lines that kernels print, and the place of a panic, in memory that the host reads.

use crate::output::{Ring, Value};

/// The module's ring. The host writes it when it has loaded the module.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".global")]
static __tilewright_output: Ring = Ring::new();

/// Records a line for the host. Not inlined: a kernel prints where speed does not matter, and keeps its
/// registers for the rest.
#[inline(never)]
pub fn print(text: &'static str, values: &[Value]) {
    // SAFETY: (1) the host alone writes the ring's address, to memory of that kind.
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
    // SAFETY: (1) as in `print`.
    unsafe { __tilewright_output.record_panic(&panic) };
}
