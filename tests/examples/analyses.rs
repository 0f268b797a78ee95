//! The examples that analyse data: a table's columns, a matrix's greatest singular value.

use crate::common::programs::{fail, program, succeed};
use crate::harness::devices;
use ndarray::{Array1, Array2, Axis};
use ndarray_npy::{read_npy, write_npy};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Numbers from -1 to 1 that look random.
fn numbers(shape: (usize, usize)) -> Array2<f64> {
    let number = |index: usize| (index * 7919 + 104_729) % 20_011;
    Array2::from_shape_fn(shape, |(i, j)| {
        number(i * shape.1 + j) as f64 / 10_005.5 - 1.0
    })
}

fn write_csv(folder: &Path, name: &str, header: &str, numbers: &Array2<f64>) {
    let mut text = header.to_owned();
    for row in numbers.rows() {
        let fields: Vec<String> = row.iter().map(f64::to_string).collect();
        text.push_str(&fields.join(", "));
        text.push('\n');
    }
    fs::write(folder.join(name), text).unwrap();
}

/// The columns of the program's table without the names: count, mean, deviation, min, max.
fn statistics(output: &str) -> Vec<Vec<f64>> {
    let lines = output
        .lines()
        .skip_while(|line| !line.starts_with("column,"))
        .skip(1);
    let fields = |line: &str| {
        line.split(',')
            .skip(1)
            .map(|it| it.parse().unwrap())
            .collect()
    };
    lines.map(fields).collect()
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    let error = (found - expected).abs();
    assert!(
        error <= 1e-12 * expected.abs().max(1.0),
        "{found} is not {expected}"
    );
}

#[test]
fn columns_of_a_table_are_those_of_ndarray() {
    let folder = TempDir::new().unwrap();
    let table = numbers((1003, 3)) * 100.0 + 5.0;
    write_csv(folder.path(), "named.csv", "height,width, depth\n", &table);
    write_csv(folder.path(), "plain.csv", "\n", &table);
    for device in devices() {
        for (file, second) in [("named.csv", "width,"), ("plain.csv", "2,")] {
            let output = succeed(
                "column_statistics",
                folder.path(),
                &[file, "--device", device],
            );
            assert!(output.contains(&format!("\n{second}")), "{output}");
            let found = statistics(&output);
            assert_eq!(found.len(), 3, "{output}");
            for (found, column) in found.iter().zip(table.columns()) {
                assert_eq!(found[0], 1003.0);
                assert_close(found[1], column.mean().unwrap());
                assert_close(found[2], column.std(0.0));
                assert_eq!(found[3], column.fold(f64::INFINITY, |a, &b| a.min(b)));
                assert_eq!(found[4], column.fold(f64::NEG_INFINITY, |a, &b| a.max(b)));
            }
        }
    }
}

#[test]
fn tables_that_are_none_are_refused_in_one_line() {
    let folder = TempDir::new().unwrap();
    for (text, parts) in [
        ("", &["there is no line"][..]),
        ("a,b\n", &["no numbers below the header"]),
        ("a,b\n1,2\n3,x\n", &["line 3", "`x` is no number"]),
        ("1,3\n3\n", &["line 2", "1 field instead of 2"]),
    ] {
        fs::write(folder.path().join("table.csv"), text).unwrap();
        fail("column_statistics", folder.path(), &["table.csv"], parts);
    }
}

#[test]
fn the_greatest_singular_value_is_that_of_the_gram_matrix() {
    let folder = TempDir::new().unwrap();
    // One direction stands out.
    let mut x = numbers((50, 12));
    x.row_mut(3).mapv_inplace(|it| 9.0 * it + 4.0);
    write_npy(folder.path().join("x.npy"), &x).unwrap();
    let gram = x.t().dot(&x);
    for device in devices() {
        let arguments = ["x.npy", "-o", "v.npy", "--device", device];
        let output = succeed("power_iteration", folder.path(), &arguments);
        let value = output
            .lines()
            .find_map(|line| line.strip_prefix("singular value "));
        let value: f64 = value.unwrap().parse().unwrap();
        let v: Array2<f64> = read_npy(folder.path().join("v.npy")).unwrap();
        let v: Array1<f64> = v.index_axis_move(Axis(1), 0);
        assert_close(v.dot(&v), 1.0);
        let rest = gram.dot(&v) - value * value * &v;
        assert!(rest.dot(&rest).sqrt() < 1e-9 * value * value, "{output}");
        // It is more than half of the trace, so no other eigenvalue is greater.
        assert!(value * value > gram.diag().sum() / 2.0, "{output}");
    }
}

#[test]
fn a_matrix_without_a_direction_is_refused() {
    let folder = TempDir::new().unwrap();
    write_npy(
        folder.path().join("zero.npy"),
        &Array2::<f64>::zeros((4, 3)),
    )
    .unwrap();
    fail(
        "power_iteration",
        folder.path(),
        &["zero.npy"],
        &["no direction"],
    );
}

/// Singular values whose squares are no f64.
#[test]
fn singular_values_near_the_ends_of_f64() {
    let folder = TempDir::new().unwrap();
    for value in [3e-161, 1e200, f64::MAX, 1e-310] {
        let matrix = Array2::from_elem((1, 1), value);
        write_npy(folder.path().join("one.npy"), &matrix).unwrap();
        let output = succeed(
            "power_iteration",
            folder.path(),
            &["one.npy", "--device", "sim"],
        );
        let found = output
            .lines()
            .find_map(|line| line.strip_prefix("singular value "));
        let found: f64 = found.unwrap().parse().unwrap();
        assert!((found / value - 1.0).abs() < 1e-12, "{output}");
    }
    write_npy(
        folder.path().join("nan.npy"),
        &Array2::from_elem((2, 2), f64::NAN),
    )
    .unwrap();
    fail(
        "power_iteration",
        folder.path(),
        &["nan.npy"],
        &["not finite"],
    );
}

#[test]
fn numbers_beyond_memory_are_refused() {
    let folder = TempDir::new().unwrap();
    for arguments in [
        ["--elements", "18446744073709551615"],
        ["--rows", "4294967296"],
    ] {
        fail("several_devices", folder.path(), &arguments, &["no memory"]);
    }
}

#[test]
fn several_devices_have_the_bits_of_one() {
    for (options, ranks) in [(&["--ranks", "3"][..], 3), (&[], 1)] {
        let output = std::process::Command::new(program("several_devices"))
            .args(options)
            .args(["--elements", "9000", "--rows", "9"])
            .env("TILEWRIGHT_DEVICE", "sim")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        let start = format!("{ranks} x simulator\nsum of 9000: ");
        assert!(text.starts_with(&start), "{text}");
        assert!(text.contains("\nproduct of 9 x 9; "), "{text}");
    }
}
