//! Headers of NumPy files that would take much time or memory: refused at once.

#![cfg(unix)]

use crate::common::programs::{assert_failed, program, run_limited, succeed};
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

/// The deepest allowed nesting, as often as it fits.
#[test]
fn the_worst_header_within_the_limits_is_refused_at_once() {
    for (open, close) in [("(", ",)"), ("[", "]"), ("{1: ", "}")] {
        let element = format!("{open}1{close},");
        let shape = element.repeat(9_800 / element.len());
        let header = Header::new("'<f4'", &shape).bytes();
        refused_at_once(&header, &["x.npy", "damaged header"]);
    }
    // A list that does not end.
    let shape = format!("({}", "1,".repeat(4_900));
    let header = Header::new("'<f4'", &shape).bytes();
    refused_at_once(&header, &["x.npy", "damaged header"]);
}

/// A file of version 1 with this header.
fn file(text: &str) -> Vec<u8> {
    let length = (text.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00".as_slice(), &length, text.as_bytes()].concat()
}

/// Shallow nesting in an entry that no header has, and in a list that does not end.
#[test]
fn entries_of_no_header_are_refused_at_once() {
    let many = "[[[[0]]]],".repeat(250);
    for text in [
        format!("{{\"descr\":\"<f8\",\"x\":[{many}"),
        format!("{{\"descr\":\"<f8\",\"x\":[{many}]}}"),
        format!("{{'x':[{many}],'descr':'<f8','fortran_order':False,'shape':(1,)}}"),
    ] {
        refused_at_once(&file(&text), &["x.npy", "brackets inside each other"]);
    }
    for text in [
        format!("{{'descr':[{many}"),
        format!("{{'descr': [('x', [{many}])], 'fortran_order': False, 'shape': (1,)}}"),
    ] {
        refused_at_once(&file(&text), &["x.npy", "holds records"]);
    }
}

#[test]
fn the_length_of_a_header_is_limited() {
    for length in [10_001, 65_537, u32::MAX] {
        let header = [b"\x93NUMPY\x02\x00".as_slice(), &length.to_le_bytes()].concat();
        refused_at_once(&header, &["x.npy", &format!("header of {length} bytes")]);
    }
    let folder = TempDir::new().unwrap();
    let longest = Header {
        alignment: 10_000 + 10,
        ..Header::new("'<f4'", "(1,)")
    };
    longest.write(folder.path(), "x.npy", [1.0_f32.to_le_bytes()]);
    succeed("sum", folder.path(), &["x.npy", "--device", "sim"]);
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
