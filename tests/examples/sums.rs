//! Sums of files of every type, shape and header.

use crate::common::programs::{fail, succeed};
use crate::harness::{Header, devices};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use tempfile::TempDir;

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

/// Fails unless the sum of a file without a header is `expected` on every device.
#[track_caller]
fn assert_raw_sum(folder: &TempDir, file: &str, element: &str, expected: &str) {
    for device in devices() {
        let arguments = [file, "--raw", element, "--device", device];
        let output = succeed("sum", folder.path(), &arguments);
        let mut words = output.split_whitespace();
        assert_eq!(words.nth(1), Some(expected), "{output}");
    }
}

#[test]
fn sums_of_files_without_a_header() {
    let folder = TempDir::new().unwrap();
    let bytes = [0x00, 0x3c, 0x80, 0x3f, 0, 0, 0xff, 0x80];
    std::fs::write(folder.path().join("x"), bytes).unwrap();
    std::fs::write(folder.path().join("none"), "").unwrap();
    for (element, expected) in [
        ("b1", "5"),
        ("u1", "634"),
        ("i1", "-134"),
        ("u2", "64639"),
        ("i2", "-897"),
        ("u8", "9295148156981361664"),
        ("bf16", "1.0078125"),
    ] {
        assert_raw_sum(&folder, "x", element, expected);
        assert_raw_sum(&folder, "none", element, "0");
    }
    for (arguments, part) in [
        (["x", "--raw", "f16"], "--raw can be"),
        (["none-such", "--raw", "f4"], "cannot be read"),
    ] {
        fail("sum", folder.path(), &arguments, &[part]);
    }
    std::fs::write(folder.path().join("odd"), [0; 11]).unwrap();
    let arguments = ["odd", "--raw", "f8"];
    fail(
        "sum",
        folder.path(),
        &arguments,
        &["odd", "3 bytes after", "f8 (float64)"],
    );
}

/// The file has more than a chunk of the device's memory.
#[test]
fn sums_of_large_files() {
    let folder = TempDir::new().unwrap();
    let mut file = File::create(folder.path().join("large")).unwrap();
    let len = (17 << 20) + 5_u64;
    file.set_len(4 * len).unwrap();
    for (place, number) in [
        (0, 1.5_f32),
        (len / 2, 2.0),
        (16 << 20, -8.0),
        (len - 1, 0.25),
    ] {
        file.seek(SeekFrom::Start(4 * place)).unwrap();
        file.write_all(&number.to_le_bytes()).unwrap();
    }
    assert_raw_sum(&folder, "large", "f4", "-4.25");
}

/// Of a pipe the system says that it has no bytes.
#[cfg(unix)]
#[test]
fn files_of_unknown_length_are_refused() {
    let folder = TempDir::new().unwrap();
    for arguments in [
        &["/dev/zero", "--raw", "u1"][..],
        &["/dev/zero"],
        &["/proc/self/maps", "--raw", "u1"],
    ] {
        fail("sum", folder.path(), arguments, &["no known length"]);
    }
}
