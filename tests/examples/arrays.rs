//! NumPy files as people's tools write them: their sums, or the one line that refuses them.

use crate::common::programs::{fail, succeed};
use crate::harness::Header;
use std::path::Path;
use tempfile::TempDir;

/// A sum, or parts of the error.
type Expected = Result<&'static str, &'static [&'static str]>;

/// Files that NumPy and ml_dtypes wrote, in the folder `files`.
const WRITTEN: &[(&str, Expected)] = &[
    ("b1.npy", Ok("3")),
    ("i1.npy", Ok("63")),
    ("i2.npy", Ok("63")),
    ("i4.npy", Ok("63")),
    ("i8.npy", Ok("63")),
    ("u1.npy", Ok("163")),
    ("u2.npy", Ok("163")),
    ("u4.npy", Ok("163")),
    ("u8.npy", Ok("163")),
    ("f2.npy", Ok("63")),
    ("f4.npy", Ok("63")),
    ("f8.npy", Ok("63")),
    ("big-i2.npy", Ok("63")),
    ("big-u8.npy", Ok("163")),
    ("big-f2.npy", Ok("63")),
    ("big-f4.npy", Ok("63")),
    ("big-f8.npy", Ok("63")),
    ("greatest-u8.npy", Ok("18446744073709551615")),
    ("fortran.npy", Ok("66")),
    ("scalar.npy", Ok("2.5")),
    ("empty.npy", Ok("0")),
    ("cube.npy", Ok("276")),
    ("version-2.npy", Ok("3.5")),
    ("version-3.npy", Ok("3.5")),
    ("bfloat16.npy", Ok("3")),
    (
        "float8_e4m3fn.npy",
        Err(&["8-bit numbers of ml_dtypes", "'<V1'"]),
    ),
    (
        "float8_e5m2.npy",
        Err(&["8-bit numbers of ml_dtypes", "'<f1'"]),
    ),
    ("int4.npy", Err(&["8-bit numbers of ml_dtypes", "'<V1'"])),
    ("strings.npy", Err(&["holds strings", "'<U2'"])),
    ("bytes.npy", Err(&["holds byte strings", "'|S3'"])),
    ("objects.npy", Err(&["holds Python objects", "'|O'"])),
    ("records.npy", Err(&["holds records", "('count', '<i4')"])),
    ("c8.npy", Err(&["holds complex numbers", "'<c8'"])),
    ("c16.npy", Err(&["holds complex numbers", "'<c16'"])),
    ("dates.npy", Err(&["holds dates", "'<M8[D]'"])),
    ("times.npy", Err(&["holds time differences", "'<m8[s]'"])),
    (
        "f16.npy",
        Err(&["holds floats of more than 64 bits", "'<f16'"]),
    ),
    ("raw.npy", Err(&["holds raw bytes", "'|V2'"])),
    ("archive.npz", Err(&["archive (.npz)", "numpy.save"])),
];

/// The dictionaries of headers before an array of two f8, 1.5 and 2. NumPy 2.4 reads those with a sum, the ones of
/// Python 2 in versions 1 and 2.
const DICTIONARIES: &[(&str, &str, Expected)] = &[
    (
        "no byte order",
        "{'descr': 'f8', 'fortran_order': False, 'shape': (2,)}\n",
        Ok("3.5"),
    ),
    (
        "the machine's byte order",
        "{'descr': '=f8', 'fortran_order': False, 'shape': (2,)}\n",
        Ok("3.5"),
    ),
    (
        "any byte order",
        "{'descr': '|f8', 'fortran_order': False, 'shape': (2,)}\n",
        Ok("3.5"),
    ),
    (
        "the long name",
        "{'descr': 'float64', 'fortran_order': False, 'shape': (2,)}\n",
        Ok("3.5"),
    ),
    (
        "the letter",
        "{'descr': '<d', 'fortran_order': False, 'shape': (2,)}\n",
        Ok("3.5"),
    ),
    (
        "bytes with an order",
        "{'descr': '<u1', 'fortran_order': False, 'shape': (16,)}\n",
        Ok("375"),
    ),
    (
        "big-endian bytes",
        "{'descr': '>u1', 'fortran_order': False, 'shape': (16,)}\n",
        Ok("375"),
    ),
    (
        "bytes",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (16,)}\n",
        Ok("375"),
    ),
    (
        "the sign of bool",
        "{'descr': '?', 'fortran_order': False, 'shape': (16,)}\n",
        Ok("3"),
    ),
    (
        "bool",
        "{'descr': '|b1', 'fortran_order': False, 'shape': (16,)}\n",
        Ok("3"),
    ),
    (
        "a length of Python 2",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2L,)}\n",
        Ok("3.5"),
    ),
    (
        "lengths of Python 2",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1L, 2L)}\n",
        Ok("3.5"),
    ),
    (
        "strings of Python 2",
        "{u'descr': u'<f8', u'fortran_order': False, u'shape': (2,)}\n",
        Ok("3.5"),
    ),
    (
        "other quotes",
        "{\"descr\": \"<f8\", \"fortran_order\": False, \"shape\": (2,)}\n",
        Ok("3.5"),
    ),
    (
        "another order",
        "{'shape': (2,), 'fortran_order': False, 'descr': '<f8'}\n",
        Ok("3.5"),
    ),
    (
        "tabs",
        "\t{'descr':\t'<f8', 'fortran_order': False, 'shape': (2,)}\t\t\n",
        Ok("3.5"),
    ),
    (
        "several lines",
        "{'descr': '<f8',\n 'fortran_order': False,\r\n 'shape': (2,)}\n\n",
        Ok("3.5"),
    ),
    (
        "no end of the line",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
        Ok("3.5"),
    ),
    (
        "spaces at the end",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}   ",
        Ok("3.5"),
    ),
    (
        "a hexadecimal length",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (0x2,)}\n",
        Ok("3.5"),
    ),
    (
        "bfloat16",
        "{'descr': '<V2', 'fortran_order': False, 'shape': (8,)}\n",
        Ok("3.9375"),
    ),
    (
        "big-endian raw bytes",
        "{'descr': '>V2', 'fortran_order': False, 'shape': (8,)}\n",
        Err(&["raw bytes", "'>V2'"]),
    ),
    (
        "no length of a string",
        "{'descr': '<U', 'fortran_order': False, 'shape': (2,)}\n",
        Err(&["holds strings"]),
    ),
    (
        "an unknown type",
        "{'descr': '<x8', 'fortran_order': False, 'shape': (2,)}\n",
        Err(&["unknown type ('<x8')"]),
    ),
    (
        "no type",
        "{'descr': '', 'fortran_order': False, 'shape': (2,)}\n",
        Err(&["unknown type ('')"]),
    ),
    (
        "an odd type",
        "{'descr': '\u{e9}8', 'fortran_order': False, 'shape': (2,)}\n",
        Err(&["unknown type"]),
    ),
    (
        "a subarray",
        "{'descr': ('<f8', (2,)), 'fortran_order': False, 'shape': (1,)}\n",
        Err(&["('<f8', (2,))"]),
    ),
    (
        "a list as shape",
        "{'descr': '<f8', 'fortran_order': False, 'shape': [2]}\n",
        Err(&["damaged header"]),
    ),
    (
        "a number as shape",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2)}\n",
        Err(&["damaged header"]),
    ),
    (
        "another key",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'x': 1}\n",
        Err(&["damaged header"]),
    ),
    (
        "a missing key",
        "{'descr': '<f8', 'shape': (2,)}\n",
        Err(&["damaged header"]),
    ),
    (
        "a number as order",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (2,)}\n",
        Err(&["damaged header"]),
    ),
    (
        "a call",
        "dict(descr='<f8', fortran_order=False, shape=(2,))\n",
        Err(&["damaged header"]),
    ),
    (
        "a negative length",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-2,)}\n",
        Err(&["damaged header"]),
    ),
    (
        "too long for its header",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}\n",
        Err(&["8 bytes after its array's end"]),
    ),
    (
        "too short for its header",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}\n",
        Err(&["truncated", "last 8 bytes"]),
    ),
];

#[track_caller]
fn check(folder: &Path, file: &str, expected: Expected) {
    match expected {
        Ok(sum) => {
            let output = succeed("sum", folder, &[file, "--device", "sim"]);
            let found = output.lines().next().unwrap().strip_prefix("sum ").unwrap();
            assert_eq!(found.trim(), sum, "{file}");
        }
        Err(parts) => fail("sum", folder, &[file], &[&[file], parts].concat()),
    }
}

fn write(folder: &Path, file: &str, version: u8, dictionary: &[u8]) {
    let length = (dictionary.len() as u32).to_le_bytes();
    let length = if version == 1 {
        &length[..2]
    } else {
        &length[..]
    };
    let array: Vec<u8> = [1.5_f64, 2.0]
        .into_iter()
        .flat_map(f64::to_le_bytes)
        .collect();
    let start: &[u8] = &[&b"\x93NUMPY"[..], &[version, 0], length].concat();
    std::fs::write(folder.join(file), [start, dictionary, &array].concat()).unwrap();
}

#[test]
fn files_of_numpy_are_read_or_refused_in_one_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/examples/files");
    for (file, expected) in WRITTEN {
        check(&folder, file, *expected);
    }
}

#[test]
fn headers_that_numpy_reads_are_read() {
    let folder = TempDir::new().unwrap();
    for (what, dictionary, expected) in DICTIONARIES {
        for version in 1..=3 {
            let text = match version {
                3 => dictionary.as_bytes().to_vec(),
                _ => dictionary.chars().map(|it| it as u8).collect(),
            };
            let file = format!("{what}, {version}.npy");
            write(folder.path(), &file, version, &text);
            check(folder.path(), &file, *expected);
        }
    }
}

#[test]
fn other_versions_are_named() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "x.npy", 4, b"{}\n");
    check(
        folder.path(),
        "x.npy",
        Err(&["version 4.0", "1.0, 2.0 and 3.0"]),
    );
}

/// No message advises the type that it refuses, and none blames the length for a type.
#[test]
fn refusals_of_types_name_no_other_fault() {
    let folder = TempDir::new().unwrap();
    for descr in [
        "'<U2'",
        "'|S8'",
        "'|O'",
        "'<c16'",
        "'<M8[s]'",
        "[('x', '<f8')]",
        "'|V8'",
        "'<f16'",
    ] {
        Header::new(descr, "(1000,)").write(folder.path(), "x.npy", [[0_u8; 3]]);
        let output = crate::common::programs::run("sum", folder.path(), &["x.npy"]);
        let line = String::from_utf8(output.stderr).unwrap();
        assert!(line.contains(descr), "{line}");
        assert_eq!(line.matches(descr).count(), 1, "{line}");
        assert!(
            !line.contains("bytes are missing") && !line.contains("after"),
            "{line}"
        );
    }
}
