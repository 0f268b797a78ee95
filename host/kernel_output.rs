//! Lines that kernels print, and messages about kernels.

use std::cell::OnceCell;
use std::io::{self, Write as _};
use std::panic::{UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The lines that the kernel of a simulated launch prints. Dropping this prints them. Other launches allocate nothing.
///
/// It outlives all locks of the device that the launching call holds: another thread may have locked standard output
/// and wait for the device.
#[derive(Debug, Default)]
pub(crate) struct Lines(OnceCell<Arc<simt::Output>>);

impl Lines {
    /// Where the launch adds its lines.
    pub(crate) fn output(&self) -> Arc<simt::Output> {
        Arc::clone(self.0.get_or_init(Arc::default))
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let lines = self.0.get().map(|output| output.take());
        lines.iter().flatten().for_each(|line| print_line(line));
    }
}

/// Prints a line of a kernel as `println!` does: a test harness captures it. If standard output is closed, the line is
/// lost, as are later ones.
pub(crate) fn print_line(line: &str) {
    static IS_CLOSED: AtomicBool = AtomicBool::new(false);
    if !IS_CLOSED.load(Ordering::Relaxed)
        && !is_printed(|| println!("{line}"), || writeln!(io::stdout(), "{line}"))
    {
        IS_CLOSED.store(true, Ordering::Relaxed);
    }
}

/// Prints a message about kernels as `eprintln!` does, unless standard error is closed.
pub(crate) fn print_message(message: &str) {
    is_printed(
        || eprintln!("{message}"),
        || writeln!(io::stderr(), "{message}"),
    );
}

/// Prints by a macro, which panics if it fails, or by `write` if a panic ends the process. Destructors print: no panic
/// leaves this function.
fn is_printed(
    by_macro: impl FnOnce() + UnwindSafe,
    write: impl FnOnce() -> io::Result<()>,
) -> bool {
    match cfg!(panic = "abort") {
        true => write().is_ok(),
        false => catch_unwind(by_macro).is_ok(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::env;
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio, exit};

    /// Marks the child process.
    const CHILD: &str = "TILEWRIGHT_TEST_CLOSED_OUTPUT";

    /// Exit code of a child that lost its lines and continued.
    const WENT_ON: i32 = 42;

    /// Prints while it is dropped, as a device does.
    struct Prints;

    impl Drop for Prints {
        fn drop(&mut self) {
            print_line("of a dropped device");
        }
    }

    #[test]
    fn lines_for_a_closed_output_are_lost_and_nothing_panics() {
        if env::var_os(CHILD).is_some() {
            eprintln!("ready");
            io::stdin().lock().read_line(&mut String::new()).unwrap();
            let panicked = catch_unwind(|| {
                let _prints = Prints;
                panic!("of purpose");
            });
            assert!(panicked.is_err());
            print_line("another");
            exit(WENT_ON);
        }
        let test = "kernel_output::tests::lines_for_a_closed_output_are_lost_and_nothing_panics";
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(CHILD, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(errors.any(|line| line.unwrap() == "ready"));
        drop(child.stdout.take());
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        let errors: Vec<String> = errors.map_while(Result::ok).collect();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(WENT_ON), "{status}: {errors:?}");
    }
}
