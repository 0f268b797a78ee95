//! Messages of a process that ends. They take no lock and allocate nothing, so that signal handlers can write them,
//! too.

use crate::block::{Block, Thread};
use std::fmt::{self, Write};

/// The message about a block that cannot be stopped.
pub(super) const OVER: &str =
    "the block has been over its time limit for 2 s and cannot be stopped, which ends the process";

/// Advice to its reader.
pub(super) const ADVICE: &str = "Kernels must not hold locks over instructions, nor wait for the host. With a \
longer `Options::time_limit` (`SimulatorOptions::with_time_limit`) it has more time, and with `None` all the \
time in the world";

/// Advice to the reader of a message about a lock that an abandoned thread holds.
pub(super) const ADVICE_ON_LOCKS: &str = "a kernel must print, panic and allocate where it has the stack for it, and \
end in time; raise `Options::stack_bytes` (`SimulatorOptions::with_stack_bytes`), or print by the device \
library";

/// Standard error, without its lock.
struct StandardError;

impl Write for StandardError {
    #[cfg(target_os = "linux")]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: the text is readable for its length; the call is async-signal-safe.
        match unsafe { libc::write(2, text.as_ptr().cast(), text.len()) } {
            -1 => Err(fmt::Error),
            _ => Ok(()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        eprint!("{text}");
        Ok(())
    }
}

/// Writes a message to standard error.
pub(super) fn say(message: fmt::Arguments<'_>) {
    // If that fails, there is nowhere else to report it.
    let _ = StandardError.write_fmt(message);
}

/// Ends the process with a message.
pub(super) fn abort_with(message: fmt::Arguments<'_>) -> ! {
    say(message);
    std::process::abort()
}

/// Names a simulated thread: its kernel, its block and its index.
pub(super) struct Place<'a>(pub &'a Thread, pub &'a Block);

impl fmt::Display for Place<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(thread, block) = self;
        block
            .watched
            .with_kernel(|kernel| write!(formatter, "kernel `{kernel}`"))?;
        let position = &thread.position;
        write!(
            formatter,
            ", thread {} of block {}",
            position.thread_idx, position.block_idx
        )
    }
}
