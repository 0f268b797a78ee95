//! Sums of files of every type, shape and header.

use crate::common::programs::succeed;
use crate::harness::{Header, devices};
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
