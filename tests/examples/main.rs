//! The examples as programs: their output, their files, their failures.
//!
//! `cargo test` builds them first; `cargo test --test examples` takes those that were built last,
//! which `cargo build --examples` renews.

#![cfg(feature = "ndarray")]

mod analyses;
#[path = "../common/mod.rs"]
mod common;
mod harness;
mod headers;
mod output;

use common::programs::{fail, succeed};
use harness::{Header, devices};
use ndarray::{Array2, array};
use ndarray_npy::{ReadableElement, read_npy};
use std::path::Path;
use tempfile::TempDir;
use tilewright::Device;

/// Fails unless the file's sum is `expected` on every device.
#[track_caller]
fn assert_sum(folder: &TempDir, file: &str, expected: &str) {
    for device in devices() {
        let output = succeed("sum", folder.path(), &[file, "--device", device]);
        let sum = output
            .lines()
            .find_map(|line| line.strip_prefix("sum "))
            .unwrap();
        assert_eq!(sum.trim(), expected, "{output}");
    }
}

#[test]
fn usage_is_shown() {
    let folder = TempDir::new().unwrap();
    for example in [
        "sum",
        "matmul",
        "column_statistics",
        "power_iteration",
        "several_devices",
    ] {
        let output = succeed(example, folder.path(), &["--help"]);
        assert!(
            output.starts_with(&format!("usage: {example} ")),
            "{output}"
        );
        if ["sum", "matmul"].contains(&example) {
            for option in ["--device", "--json", "--help"] {
                assert_eq!(
                    output.matches(option).count(),
                    if option == "--help" { 1 } else { 2 }
                );
            }
            assert!(output.lines().all(|line| line.len() <= 100), "{output}");
        }
    }
}

#[test]
fn sums_of_every_type() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let integers = || 1..=1000_i32;
    Header::new("'<f4'", "(1000,)").write(
        path,
        "f4.npy",
        integers().map(|x| (x as f32 / 4.0).to_le_bytes()),
    );
    Header::new("'<f8'", "(1000,)").write(
        path,
        "f8.npy",
        integers().map(|x| (f64::from(x) / 8.0).to_le_bytes()),
    );
    Header::new("'<i4'", "(1000,)").write(
        path,
        "i4.npy",
        integers().map(|_| i32::MAX.to_le_bytes()),
    );
    Header::new("'<i8'", "(1000,)").write(
        path,
        "i8.npy",
        integers().map(|x| i64::from(-x).to_le_bytes()),
    );
    Header::new("'<f2'", "(1000,)").write(
        path,
        "f2.npy",
        integers().map(|x| half::f16::from_f32(x as f32 / 4.0).to_le_bytes()),
    );
    Header::new("'|u1'", "(1000,)").write(path, "u1.npy", integers().map(|x| [x as u8]));
    Header::new("'>f4'", "(1000,)").write(
        path,
        "big.npy",
        integers().map(|x| (x as f32 / 4.0).to_be_bytes()),
    );
    Header::new("'>f2'", "(1000,)").write(
        path,
        "big-f2.npy",
        integers().map(|x| half::f16::from_f32(x as f32 / 4.0).to_be_bytes()),
    );
    Header::new("'>i8'", "(1000,)").write(
        path,
        "big-i8.npy",
        integers().map(|x| i64::from(-x).to_be_bytes()),
    );
    assert_sum(&folder, "f2.npy", "125125");
    assert_sum(
        &folder,
        "u1.npy",
        &integers().map(|x| x % 256).sum::<i32>().to_string(),
    );
    assert_sum(&folder, "big.npy", "125125");
    assert_sum(&folder, "big-f2.npy", "125125");
    assert_sum(&folder, "big-i8.npy", "-500500");
    assert_sum(&folder, "f4.npy", "125125");
    assert_sum(&folder, "f8.npy", "62562.5");
    assert_sum(&folder, "i4.npy", "2147483647000");
    assert_sum(&folder, "i8.npy", "-500500");
}

#[test]
fn results_are_printed_as_json() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let numbers = [1.5_f32, 2.0, -0.25, 4.0];
    Header::new("'<f4'", "(2, 2)").write(path, "x.npy", numbers.map(f32::to_le_bytes));
    let infinite = [f64::INFINITY.to_le_bytes()];
    Header::new("'<f8'", "(1,)").write(path, "infinite.npy", infinite);
    let object = |example, arguments: &[&str]| {
        let output = succeed(
            example,
            path,
            &[arguments, &["--json", "--device", "sim"]].concat(),
        );
        serde_json::from_str::<serde_json::Value>(&output).unwrap()
    };
    let sum = object("sum", &["x.npy"]);
    assert_eq!(
        (&sum["sum"], &sum["elements"]),
        (&7.25.into(), &4.into()),
        "{sum}"
    );
    assert!(
        sum["seconds"].as_f64().unwrap() >= 0.0 && sum["device"].is_string(),
        "{sum}"
    );
    assert!(object("sum", &["infinite.npy"])["sum"].is_null());
    let product = object("matmul", &["x.npy", "x.npy", "-o", "c.npy"]);
    let expected = [
        ("product", "c.npy".into()),
        ("rows", 2.into()),
        ("columns", 2.into()),
    ];
    for (name, value) in expected {
        let value: serde_json::Value = value;
        assert_eq!(product[name], value, "{product}");
    }
    assert!(
        product["seconds"].is_number() && product["device"].is_string(),
        "{product}"
    );
}

#[test]
fn sums_of_every_shape_and_header() {
    let folder = TempDir::new().unwrap();
    let elements = |count: i32| (1..=count).map(|x| f64::from(x).to_le_bytes());
    for (shape, count, expected) in [
        ("()", 1, "1"),
        ("(0,)", 0, "0"),
        ("(3, 0, 2)", 0, "0"),
        ("(24,)", 24, "300"),
        ("(4, 6)", 24, "300"),
        ("(2, 3, 4)", 24, "300"),
    ] {
        for (version, fortran_order, alignment) in [
            (1, false, 64),
            (1, true, 16),
            (2, false, 64),
            (3, true, 64),
            (1, false, 1),
        ] {
            let header = Header {
                version,
                fortran_order,
                alignment,
                ..Header::new("'<f8'", shape)
            };
            header.write(folder.path(), "x.npy", elements(count));
            assert_sum(&folder, "x.npy", expected);
        }
    }
}

/// The factors of the products below, with small integers, and their product.
fn factors() -> (Array2<i8>, Array2<i8>, Array2<i8>) {
    let a = array![[1, -2, 3], [4, 5, -6]];
    let b = array![[1, 0, 2, 7], [3, -1, 0, 1], [2, 2, 5, -3]];
    let product = a.dot(&b);
    (a, b, product)
}

/// Writes a matrix in one of the two orders.
fn write_matrix<const N: usize>(
    folder: &Path,
    name: &str,
    matrix: &Array2<i8>,
    fortran_order: bool,
    descr: &str,
    bytes: fn(i8) -> [u8; N],
) {
    let shape = format!("({}, {})", matrix.nrows(), matrix.ncols());
    let header = Header {
        fortran_order,
        ..Header::new(descr, &shape)
    };
    let elements: Vec<i8> = if fortran_order {
        matrix.t().iter().copied().collect()
    } else {
        matrix.iter().copied().collect()
    };
    header.write(folder, name, elements.into_iter().map(bytes));
}

fn assert_products<T, const N: usize>(descr: &str, bytes: fn(i8) -> [u8; N])
where
    T: ReadableElement + From<i8> + PartialEq + std::fmt::Debug,
{
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let (a, b, product) = factors();
    for (a_order, b_order) in [(false, false), (true, false), (false, true), (true, true)] {
        write_matrix(path, "a.npy", &a, a_order, descr, bytes);
        write_matrix(path, "b.npy", &b, b_order, descr, bytes);
        for device in devices() {
            for options in [&[][..], &["--kernel", "tiled"], &["--kernel", "coarsened"]] {
                let arguments = [
                    &["a.npy", "b.npy", "-o", "c.npy", "--device", device],
                    options,
                ]
                .concat();
                let output = succeed("matmul", path, &arguments);
                assert!(output.contains("2x4 in c.npy"), "{output}");
                let c: Array2<T> = read_npy(path.join("c.npy")).unwrap();
                assert_eq!(c, product.mapv(T::from));
                std::fs::remove_file(path.join("c.npy")).unwrap();
            }
        }
    }
}

#[test]
fn products_of_f32() {
    assert_products::<f32, 4>("'<f4'", |x| f32::from(x).to_le_bytes());
}

#[test]
fn products_of_f64() {
    assert_products::<f64, 8>("'<f8'", |x| f64::from(x).to_le_bytes());
}

/// Products of f16, u8 and big-endian numbers are written as f32.
#[test]
fn products_of_other_types() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let (a, b, product) = factors();
    write_matrix(path, "a.npy", &a, true, "'>f2'", |x| {
        half::f16::from(x).to_be_bytes()
    });
    write_matrix(path, "b.npy", &b, false, "'>f4'", |x| {
        f32::from(x).to_be_bytes()
    });
    write_matrix(path, "u.npy", &a.mapv(i8::abs), false, "'|u1'", |x| {
        [x as u8]
    });
    for (left, expected) in [("a.npy", product), ("u.npy", a.mapv(i8::abs).dot(&b))] {
        for device in devices() {
            succeed(
                "matmul",
                path,
                &[left, "b.npy", "-o", "c.npy", "--device", device],
            );
            let c: Array2<f32> = read_npy(path.join("c.npy")).unwrap();
            assert_eq!(c, expected.mapv(f32::from));
        }
    }
}

/// A folder with the files that the failures need.
fn folder_of_bad_files() -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let zeros = |bytes: usize| vec![[0_u8]; bytes];
    for (name, descr, shape, bytes) in [
        ("f4.npy", "'<f4'", "(2, 3)", 24),
        ("right.npy", "'<f4'", "(3, 2)", 24),
        ("f8.npy", "'<f8'", "(3, 2)", 48),
        ("c8.npy", "'<c8'", "(2, 3)", 48),
        ("bool.npy", "'|b1'", "(2, 3)", 6),
        ("i4.npy", "'<i4'", "(2, 3)", 24),
        ("record.npy", "[('x', '<f4'), ('y', '<i4')]", "(3,)", 24),
        ("vector.npy", "'<f4'", "(6,)", 24),
        ("truncated.npy", "'<f4'", "(2, 3)", 17),
        ("without-data.npy", "'<f4'", "(2, 3)", 0),
        ("too-long.npy", "'<f4'", "(2, 3)", 27),
        ("immense.npy", "'<f4'", "(35184372088832, 3)", 24),
        ("uncountable.npy", "'<f4'", "(4294967296, 4294967296)", 24),
        ("negative.npy", "'<f4'", "(-2, 3)", 24),
    ] {
        Header::new(descr, shape).write(path, name, zeros(bytes));
    }
    let header = Header::new("'<f4'", "(2, 3)").bytes();
    std::fs::write(path.join("half-a-header.npy"), &header[..40]).unwrap();
    std::fs::write(path.join("magic.npy"), &header[..6]).unwrap();
    std::fs::write(path.join("empty.npy"), "").unwrap();
    std::fs::write(path.join("text.npy"), "1 2 3\n4 5 6\n").unwrap();
    std::fs::write(
        path.join("garbage.npy"),
        [&header[..10], &[b'{'; 118]].concat(),
    )
    .unwrap();
    std::fs::create_dir(path.join("folder.npy")).unwrap();
    folder
}

/// Files that cannot be used, and what the line about each says.
const BAD_FILES: [(&str, &[&str]); 16] = [
    ("missing.npy", &["cannot be read", "No such file"]),
    ("folder.npy", &["cannot be read"]),
    ("c8.npy", &["<c8", "f4 (float32)", "f8 (float64)"]),
    ("bool.npy", &["|b1", "f4 (float32)"]),
    ("record.npy", &["(x, <f4)", "f4 (float32)"]),
    ("truncated.npy", &["truncated", "last 7 bytes"]),
    ("without-data.npy", &["truncated", "last 24 bytes"]),
    ("too-long.npy", &["3 bytes after"]),
    ("immense.npy", &["truncated", "bytes are missing"]),
    ("uncountable.npy", &["overflow"]),
    ("negative.npy", &["damaged header"]),
    ("half-a-header.npy", &["damaged header"]),
    ("magic.npy", &["damaged header"]),
    ("garbage.npy", &["brackets inside each other"]),
    ("empty.npy", &["not a NumPy file"]),
    ("text.npy", &["not a NumPy file"]),
];

#[test]
fn bad_files_are_refused_in_one_line() {
    let folder = folder_of_bad_files();
    for (file, parts) in BAD_FILES {
        let parts = [&[file], parts].concat();
        fail("sum", folder.path(), &[file], &parts);
        fail(
            "matmul",
            folder.path(),
            &[file, "right.npy", "-o", "c.npy"],
            &parts,
        );
        fail(
            "matmul",
            folder.path(),
            &["f4.npy", file, "-o", "c.npy"],
            &parts,
        );
        assert!(!folder.path().join("c.npy").exists(), "{file}");
    }
}

#[test]
fn factors_that_do_not_fit_are_refused_in_one_line() {
    let folder = folder_of_bad_files();
    let matmul = |a, b, parts| fail("matmul", folder.path(), &[a, b, "-o", "c.npy"], parts);
    matmul("f4.npy", "f4.npy", &["matmul_coarsened", "2x3 and 2x3"]);
    matmul(
        "f4.npy",
        "f8.npy",
        &["f8.npy", "<f8", "must be f2, f4 or u1"],
    );
    matmul("i4.npy", "i4.npy", &["i4.npy", "<i4", "f4 (float32)"]);
    matmul("vector.npy", "f4.npy", &["vector.npy", "1 dimensions", "2"]);
}

#[test]
fn results_that_cannot_be_written_are_named() {
    let folder = TempDir::new().unwrap();
    let (a, b, _) = factors();
    write_matrix(folder.path(), "a.npy", &a, false, "'<f4'", |x| {
        f32::from(x).to_le_bytes()
    });
    write_matrix(folder.path(), "b.npy", &b, false, "'<f4'", |x| {
        f32::from(x).to_le_bytes()
    });
    let product = "no-such-folder/c.npy";
    fail(
        "matmul",
        folder.path(),
        &["a.npy", "b.npy", "-o", product],
        &[product, "cannot be written"],
    );
}

#[test]
fn wrong_command_lines_are_refused_in_one_line() {
    let folder = folder_of_bad_files();
    for (example, arguments, parts) in [
        (
            "sum",
            &["f4.npy", "--device", "gpu"][..],
            &["gpu", "sim, cuda or cuda:N"][..],
        ),
        ("sum", &["f4.npy", "--device"], &["--device"]),
        ("sum", &[], &["usage: sum"]),
        ("sum", &["f4.npy", "f8.npy"], &["f8.npy"]),
        ("sum", &["f4.npy", "--kernel", "tiled"], &["--kernel"]),
        ("matmul", &["f4.npy", "f8.npy"], &["usage: matmul"]),
        ("matmul", &["f4.npy", "-o", "c.npy"], &["usage: matmul"]),
        ("matmul", &["f4.npy", "f8.npy", "-o"], &["-o"]),
        (
            "matmul",
            &["f4.npy", "f8.npy", "-o", "c.npy", "--kernel", "fast"],
            &["fast", "tiled or coarsened"],
        ),
    ] {
        fail(example, folder.path(), arguments, parts);
    }
}

#[test]
fn a_named_device_that_is_not_there_is_refused_in_one_line() {
    let Err(error) = Device::cuda(0) else {
        common::say("skipped: this machine has a CUDA device");
        return;
    };
    let folder = folder_of_bad_files();
    let arguments = ["f4.npy", "--device", "cuda"];
    fail("sum", folder.path(), &arguments, &[&error.to_string()]);
}
