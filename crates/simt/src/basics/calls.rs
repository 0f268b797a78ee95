//! The call stack of a finding, from the kernel to the line.

use super::defect::{Call, SourceLocation};
use std::backtrace::Backtrace;
use std::borrow::Cow;

/// The file in which the simulator calls a kernel: frames above are not the kernel's.
const RUNNER: &str = "runner/coroutine.rs";

/// The function that calls a kernel, by its name: builds without debug information have no file
/// names.
const RUN_BODY: &str = "runner::coroutine::run_body";

/// Files whose functions surround a kernel's: they start its call, or suspend its thread.
const AROUND: [&str; 2] = ["state/confinement.rs", "launch/body.rs"];

/// Part of the name of the function that `#[kernel]` generates around a kernel, at a line of the user's file.
const ENTRY: &str = "cuda_std::kernel::Kernel for ";

/// Parts of the paths of files that are not the user's: the standard library, packages of a registry, the device
/// library and the host library.
const FOREIGN: [&str; 5] = [
    "/rustc/",
    "/registry/src/",
    "cuda_std/src/",
    "simt/src/",
    "host/module/borrowed.rs",
];

/// The call stack of a thread, as addresses. Names and lines are looked up on demand, on a stack of
/// the host.
pub(crate) struct CallStack(Backtrace);

impl CallStack {
    /// The call stack of the running thread.
    pub fn capture() -> Self {
        Self(Backtrace::force_capture())
    }

    /// The kernel's functions that have called the function with the line `location`, innermost
    /// first. If a tail call has replaced that function's frame, all of the kernel's functions.
    pub fn callers(&self, location: Option<&SourceLocation>) -> Vec<Call> {
        let mut calls = kernel_calls(&self.0.to_string());
        let is_there = |call: &Call| {
            let known = call.location.as_ref().zip(location);
            known.is_some_and(|(own, place)| own.line == place.line && is_file(own, place))
        };
        let inner = calls.iter().position(is_there);
        calls.drain(..inner.map_or(0, |inner| inner + 1));
        calls.retain(Call::is_of_user);
        calls
    }
}

impl Call {
    fn is_of_user(&self) -> bool {
        let is_foreign = |location: &SourceLocation| {
            let mut parts = FOREIGN.iter();
            parts.any(|part| location.file.contains(part))
        };
        let is_entry = self.function.contains(ENTRY);
        !is_entry && self.location.as_ref().is_some_and(|it| !is_foreign(it))
    }
}

/// Whether one path ends with the other. The compiler's paths are relative to the workspace, those of the debug
/// information absolute.
fn is_file(one: &SourceLocation, other: &SourceLocation) -> bool {
    let (one, other) = (one.file.as_ref(), other.file.as_ref());
    let (one, other) = (one.trim_start_matches("./"), other.trim_start_matches("./"));
    one.ends_with(other) || other.ends_with(one)
}

/// The calls in the text of a backtrace, innermost first, up to the kernel's.
fn kernel_calls(text: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for line in text.lines().map(str::trim_start) {
        if let Some(place) = line.strip_prefix("at ") {
            if place.contains(RUNNER) {
                calls.pop();
                break;
            }
            if AROUND.iter().any(|file| place.contains(file)) {
                calls.pop();
            } else if let Some(call) = calls.last_mut() {
                call.location = location_of(place);
            }
        } else if let Some((_, name)) = line.split_once(": ") {
            if name.contains(RUN_BODY) {
                break;
            }
            calls.push(Call {
                function: name.to_owned(),
                location: None,
            });
        }
    }
    calls
}

/// "file:line:column", or without the column.
fn location_of(text: &str) -> Option<SourceLocation> {
    let mut parts = text.rsplitn(3, ':');
    let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some(SourceLocation {
        file: Cow::Owned(file.to_owned()),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "   0: suspend
             at /home/user/simt/src/state/confinement.rs:160:9
   1: simt::instructions::access::observe
             at ./crates/simt/src/instructions/access.rs:60:5
   2: cuda_std::global::GlobalMut<T>::store
   3: user::helper
             at /home/user/src/lib.rs:7:9
   4: with
             at /home/user/cuda_std/src/symbol.rs:7:9
   5: user::kernel
             at /home/user/src/lib.rs:20:5
   6: user::_::<impl cuda_std::kernel::Kernel for user::kernel>::run
             at /home/user/src/lib.rs:18:1
   7: core::ops::function::Fn::call
             at /rustc/59807616/library/core/src/ops/function.rs:250:5
   8: outside
             at /home/user/simt/src/state/confinement.rs:80:5
   9: run_body
             at /home/user/simt/src/runner/coroutine.rs:117:5
  10: user::main
             at /home/user/src/main.rs:3:1
";

    #[test]
    fn only_the_functions_of_the_kernel_are_kept() {
        let calls = kernel_calls(TEXT);
        assert_eq!(calls.len(), 7);
        let shown = calls.iter().filter(|call| call.is_of_user());
        let shown: Vec<String> = shown.map(Call::to_string).collect();
        assert_eq!(
            shown,
            [
                "`user::helper`, /home/user/src/lib.rs:7:9",
                "`user::kernel`, /home/user/src/lib.rs:20:5"
            ]
        );
    }

    #[test]
    fn without_debug_information_the_calls_end_at_the_simulator_too() {
        let text = "   0: simt::instructions::access::observe
   1: user::kernel
             at /home/user/src/lib.rs:20:5
   2: simt::runner::coroutine::run_body
   3: clone3
             at ./misc/clone3.S:81:0
";
        let names = kernel_calls(text).into_iter().map(|call| call.function);
        let expected = ["simt::instructions::access::observe", "user::kernel"];
        assert!(names.eq(expected));
    }

    #[test]
    fn paths_may_begin_elsewhere() {
        let at = |file: &'static str| SourceLocation {
            file: file.into(),
            line: 7,
            column: 1,
        };
        assert!(is_file(&at("/home/user/src/lib.rs"), &at("src/lib.rs")));
        assert!(is_file(&at("./src/lib.rs"), &at("src/lib.rs")));
        assert!(!is_file(&at("src/main.rs"), &at("src/lib.rs")));
    }
}
