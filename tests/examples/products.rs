//! Products of files of every type and order.

use crate::common::programs::{fail, succeed};
use crate::harness::{Header, devices};
use ndarray::{Array2, array};
use ndarray_npy::{ReadableElement, read_npy};
use std::path::Path;
use tempfile::TempDir;

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
            for options in [
                &[][..],
                &["--kernel", "fastest"],
                &["--kernel", "tiled"],
                &["--kernel", "coarsened"],
                // In parts, also of K.
                &["--memory", "100"],
                &["--memory", "80"],
            ] {
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
fn too_little_memory_is_no_fault_of_the_file() {
    let folder = TempDir::new().unwrap();
    let (a, b, _) = factors();
    for (name, matrix) in [("a.npy", &a), ("b.npy", &b)] {
        write_matrix(folder.path(), name, matrix, false, "'<f4'", |x| {
            f32::from(x).to_le_bytes()
        });
    }
    let arguments = [
        "a.npy", "b.npy", "-o", "c.npy", "--memory", "1", "--device", "sim",
    ];
    let parts = ["error: multiply_from: ", "more memory"];
    fail("matmul", folder.path(), &arguments, &parts);
}
