//! Headers of NumPy files that would take much time or memory: refused at once.

#![cfg(unix)]

use crate::common::programs::{assert_failed, program, run_limited};
use crate::harness::Header;
use std::fs::File;
use std::process::Command;
use tempfile::TempDir;

/// Fails unless `sum` refuses the file within 10 seconds of processor time, which do not depend on
/// the load of the machine.
#[track_caller]
fn refused_at_once(header: &[u8], parts: &[&str]) {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("x.npy"), header).unwrap();
    let output = run_limited("ulimit -t 10", folder.path(), "sum", &["x.npy"]);
    assert_failed(&output, parts);
}

#[test]
fn nested_brackets_are_refused_at_once() {
    let nested = [
        ("(", ",)"),
        ("[", "]"),
        ("{1: ", "}"),
        // Closed in strings alone.
        ("[']', ", "]"),
        (r"['\']', ", "]"),
        ("{'}': ", "}"),
    ];
    for (open, close) in nested {
        let shape = format!("{}1{}", open.repeat(40), close.repeat(40));
        let header = Header::new("'<f4'", &shape).bytes();
        refused_at_once(&header, &["x.npy", "brackets inside each other"]);
    }
}

/// As much nesting as is allowed, as often as it fits.
#[test]
fn the_worst_header_within_the_limits_is_refused_at_once() {
    for (open, close) in [("(", ",)"), ("[", "]"), ("{1: ", "}")] {
        let nested = format!("{}1{},", open.repeat(4), close.repeat(4));
        let shape = format!("[{}]", nested.repeat(65_000 / nested.len()));
        let header = Header::new("'<f4'", &shape).bytes();
        refused_at_once(&header, &["x.npy", "damaged header"]);
    }
}

#[test]
fn the_length_of_a_header_is_limited() {
    for length in [65_537, u32::MAX] {
        let header = [b"\x93NUMPY\x02\x00".as_slice(), &length.to_le_bytes()].concat();
        refused_at_once(&header, &["x.npy", &format!("header of {length} bytes")]);
    }
}

/// No more memory is allocated than the array in the header needs, whatever the file's length.
#[test]
fn a_file_that_is_too_long_is_refused_before_it_is_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("x.npy");
    Header::new("'<f4'", "(6,)").write(folder.path(), "x.npy", [[0_u8; 24]]);
    let whole = path.metadata().unwrap().len();
    let file = File::options().write(true).open(&path).unwrap();
    // A hole takes no place on the disk.
    file.set_len(whole + (1 << 40)).unwrap();
    let output = Command::new(program("sum")).arg(&path).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("goes on for 1099511627776 bytes after"),
        "{stderr}"
    );
}
