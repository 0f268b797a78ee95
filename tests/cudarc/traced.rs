//! A driver that records the work submitted to each stream, so that tests of the order of streams need no GPU.

use crate::fake_driver::{self, LIBRARY};
use libloading::Library;
use std::env;
use std::ffi::{CStr, c_char};
use std::process::Command;

/// Marks the child process.
const CHILD: &str = "TILEWRIGHT_TEST_CUDARC";

/// The functions of the driver of `tests/calls` that `traced.c` replaces, and the names by which it calls them.
const TRACED: [(&str, &str); 11] = [
    ("cuStreamCreate", "unnumbered_stream"),
    ("cuStreamCreateWithPriority", "unnumbered_with_priority"),
    ("cuStreamDestroy_v2", "destroyed"),
    ("cuEventCreate", "unnumbered_event"),
    ("cuEventRecord", "recorded"),
    ("cuStreamWaitEvent", "waited"),
    ("cuMemFreeAsync", "freed_once"),
    ("cuMemsetD8Async", "filled"),
    ("cuMemcpyHtoDAsync_v2", "written"),
    ("cuMemcpyDtoHAsync_v2", "read_back"),
    ("cuLaunchKernel", "launched"),
];

/// Runs `body`, in the test `test`, in a process whose driver is this one.
#[track_caller]
pub fn with_driver(test: &str, body: fn()) {
    if env::var_os(CHILD).is_some() {
        return body();
    }
    let define = |(name, other): (&str, &str)| format!("#define {name} {other}\n");
    let undefine = |(name, _): (&str, &str)| format!("#undef {name}\n");
    let mut source = "#include <stdarg.h>\n".to_owned();
    source += &TRACED.map(define).concat();
    source += include_str!("../calls/driver.c");
    source += &TRACED.map(undefine).concat();
    source += include_str!("traced.c");
    source += &fake_driver::other_functions(&source, 999, None);
    let Some(folder) = fake_driver::folder_with(&source) else {
        return;
    };
    // The name that `cudarc` tries first.
    std::os::unix::fs::symlink(LIBRARY, folder.path().join("libcuda.so")).unwrap();
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .env("LD_LIBRARY_PATH", folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
}

/// The work that this thread submits while `body` runs, and the result of `body`.
pub fn traced<R>(body: impl FnOnce() -> R) -> (Vec<String>, R) {
    // SAFETY: the library is open already, and its functions have these types.
    let (recorded_calls, forget_calls) = unsafe {
        let library = Library::new(LIBRARY).unwrap();
        let functions = (
            *library
                .get::<unsafe extern "C" fn() -> *const c_char>(b"recorded_calls")
                .unwrap(),
            *library
                .get::<unsafe extern "C" fn()>(b"forget_calls")
                .unwrap(),
        );
        std::mem::forget(library);
        functions
    };
    // SAFETY: the function has no requirements.
    unsafe { forget_calls() };
    let result = body();
    // SAFETY: the function has no requirements; the text stays until calls are forgotten.
    let calls = unsafe { CStr::from_ptr(recorded_calls()) };
    let words = calls.to_str().unwrap().split_whitespace();
    // The other words are names of functions.
    let trace = words.filter(|word| word.contains('.')).map(str::to_owned);
    (trace.collect(), result)
}
