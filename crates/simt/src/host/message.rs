//! Messages of a process that ends. They take no lock and allocate nothing, so that signal handlers can write them,
//! too.

use crate::block::{Block, Thread};
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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

/// The time that a thread has to say why it ends the process.
const TIME_TO_SAY: Duration = Duration::from_secs(1);

/// Ends the process with a message.
pub(super) fn abort_with(message: fmt::Arguments<'_>) -> ! {
    abort_after(|| say(message))
}

/// Ends the process once `say_why` has written a message. If another thread is writing one, this one leaves it alone.
pub(super) fn abort_after(say_why: impl FnOnce()) -> ! {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    match IS_ENDING.swap(true, Ordering::Relaxed) {
        false => say_why(),
        true => std::thread::sleep(TIME_TO_SAY),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::sync::Barrier;

    #[test]
    fn threads_that_end_the_process_at_once_write_one_message() {
        const CHILD: &str = "TILEWRIGHT_TEST_CHILD_WITH_A_MESSAGE";
        const THREADS: usize = 8;
        if std::env::var_os(CHILD).is_some() {
            let barrier = Barrier::new(THREADS);
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        barrier.wait();
                        abort_with(format_args!("{}{}{}{}\n", 'o', 'n', 'c', 'e'))
                    });
                }
            });
        }
        for _ in 0..10 {
            let name =
                "host::message::tests::threads_that_end_the_process_at_once_write_one_message";
            let output = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", name, "--nocapture"])
                .env(CHILD, "")
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(output.stderr).unwrap(), "once\n");
        }
    }
}
