//! Progress on stderr, if it is a terminal.

#![allow(dead_code, reason = "each program uses a part of it")]

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use std::time::Duration;

/// Progress of `what` through a number of bytes.
pub fn bytes(what: &'static str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{msg} {bar:40} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left",
    );
    bar(
        ProgressBar::new(length),
        style.expect("the template is right"),
        what,
    )
}

/// Shows `what` and the elapsed time during `work`.
pub fn during<R>(what: &'static str, work: impl FnOnce() -> R) -> R {
    let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
    let spinner = bar(
        ProgressBar::new_spinner(),
        style.expect("the template is right"),
        what,
    );
    spinner.enable_steady_tick(Duration::from_millis(100));
    work()
}

fn bar(bar: ProgressBar, style: ProgressStyle, what: &'static str) -> ProgressBar {
    bar.with_style(style)
        .with_message(what)
        .with_finish(ProgressFinish::AndClear)
}
