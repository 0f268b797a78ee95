//! Turns panics of kernel code into findings, with their source line.

use super::message::{Place, say};
use crate::basics::{DefectKind, Finding, SourceLocation};
use crate::block::{Block, Thread};
use crate::current::try_with_current;
use crate::state::would_be_caught;
use std::any::Any;
use std::borrow::Cow;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Installs, once per process, a hook that records panics of simulated threads
/// and hands every other panic to the hook that was there before.
///
/// Only a hook learns the line of a panic. Where another hook has replaced this
/// one, panics still become defects, without the line.
pub(crate) fn install() {
    static INSTALL: Once = Once::new();
    // Hooks must not be changed by a thread that is panicking.
    if std::thread::panicking() {
        return;
    }
    INSTALL.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !record(info) {
                previous(info);
            }
        }));
    });
}

/// Records the panic if it belongs to a simulated thread; returns whether it did.
fn record(info: &PanicHookInfo<'_>) -> bool {
    try_with_current(|thread, block| {
        // A panic that will abort the process must not stay silent.
        if cfg!(panic = "abort") || !would_be_caught() {
            explain(thread, block);
            return false;
        }
        if block.is_abandoned() {
            return false;
        }
        let finding = Finding::of(
            &thread.position,
            DefectKind::Panic,
            payload_message(info.payload()),
        );
        block.record(Finding {
            location: info.location().map(|location| SourceLocation {
                file: Cow::Owned(location.file().to_owned()),
                line: location.line(),
                column: location.column(),
            }),
            ..finding
        });
        true
    })
    .unwrap_or(false)
}

/// Reports once why the panic of `thread` ends the process. The panic's own message follows, and the standard
/// library's.
fn explain(thread: &Thread, block: &Block) {
    static IS_SAID: AtomicBool = AtomicBool::new(false);
    if IS_SAID.swap(true, Ordering::Relaxed) {
        return;
    }
    let place = Place(thread, block);
    match block.why_abandoned() {
        _ if cfg!(panic = "abort") => say(format_args!(
            "{place}: a panic ends the process, as it is built with `panic = \"abort\"`\n"
        )),
        Some(why) => say(format_args!(
            "{place}: a destructor panics while the thread unwinds, or a function under it cannot \
             unwind (an `extern \"C\" fn`), which ends the process. The thread unwinds because of \
             this finding:\n{why}\nThe panic of the destructor:\n"
        )),
        None => say(format_args!(
            "{place}: a panic under a function that cannot unwind (an `extern \"C\" fn`, a destructor \
             while a thread unwinds) ends the process:\n"
        )),
    }
}

/// The text of a panic, as `panic!` and the checks of the language give it.
pub(crate) fn payload_message(payload: &(dyn Any + Send)) -> String {
    if let Some(message) = payload.downcast_ref::<&'static str>() {
        (*message).to_owned()
    } else if let Some(message) = payload.downcast_ref::<String>() {
        message.clone()
    } else {
        "a panic whose payload is not a text".to_owned()
    }
}
