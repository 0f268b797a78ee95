//! Products of arrays by NumPy's rules for types and shapes.

use crate::common::programs::{fail, succeed};
use crate::harness::{Header, devices};
use ndarray::{ArrayD, Axis, IxDyn, ShapeBuilder};
use ndarray_npy::{ReadableElement, read_npy};
use std::fmt::Debug;
use std::path::Path;
use tempfile::TempDir;

/// An array of small integers as a file of f8.
fn array(folder: &Path, file: &str, shape: &[usize], fortran_order: bool) -> ArrayD<f64> {
    let number = |index: usize| ((index * 7 + shape.len()) % 11) as f64 - 5.0;
    let numbers: Vec<f64> = (0..shape.iter().product()).map(number).collect();
    let extents: String = shape.iter().map(|it| format!("{it},")).collect();
    let extents = format!("({extents})");
    let header = Header {
        fortran_order,
        ..Header::new("'<f8'", &extents)
    };
    header.write(folder, file, numbers.iter().map(|it| it.to_le_bytes()));
    ArrayD::from_shape_vec(IxDyn(shape).set_f(fortran_order), numbers).unwrap()
}

/// Each element of the result by its definition: over the last axis of a and the last but one of b.
fn product(a: &ArrayD<f64>, b: &ArrayD<f64>, result: &[usize]) -> ArrayD<f64> {
    let (mut a, mut b, mut shape) = (a.clone(), b.clone(), result.to_vec());
    if b.ndim() == 1 {
        b = b.insert_axis(Axis(1));
        shape.push(1);
    }
    if a.ndim() == 1 {
        a = a.insert_axis(Axis(0));
        shape.insert(shape.len() - 1, 1);
    }
    let outer = &shape[..shape.len() - 2];
    let element = |array: &ArrayD<f64>, index: &[usize], last: [usize; 2]| {
        let axes = array.ndim() - 2;
        let before = &index[outer.len() - axes..outer.len()];
        let place = before
            .iter()
            .zip(array.shape())
            .map(|(&at, &len)| if len == 1 { 0 } else { at });
        array[IxDyn(&place.chain(last).collect::<Vec<_>>())]
    };
    let c = ArrayD::from_shape_fn(IxDyn(&shape), |index| {
        let index: Vec<usize> = (0..shape.len()).map(|axis| index[axis]).collect();
        let (row, column) = (index[outer.len()], index[outer.len() + 1]);
        let terms = (0..a.shape()[a.ndim() - 1])
            .map(|k| element(&a, &index, [row, k]) * element(&b, &index, [k, column]));
        terms.sum()
    });
    c.into_shape_with_order(IxDyn(result)).unwrap()
}

#[test]
fn vectors_and_stacks_have_numpys_products() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let cases: &[(&[usize], &[usize], &[usize])] = &[
        (&[3], &[3], &[]),
        (&[2, 3], &[3], &[2]),
        (&[3], &[3, 4], &[4]),
        (&[2, 3], &[3, 4], &[2, 4]),
        (&[5, 2, 3], &[3, 4], &[5, 2, 4]),
        (&[2, 3], &[5, 3, 4], &[5, 2, 4]),
        (&[5, 2, 3], &[5, 3, 4], &[5, 2, 4]),
        (&[1, 2, 3], &[5, 3, 2], &[5, 2, 2]),
        (&[5, 1, 2, 3], &[4, 3, 2], &[5, 4, 2, 2]),
        (&[5, 1, 3], &[3], &[5, 1]),
        (&[3], &[5, 3, 2], &[5, 2]),
        (&[1, 1, 3], &[1, 3, 1], &[1, 1, 1]),
        (&[0, 2, 3], &[3, 4], &[0, 2, 4]),
        (&[2, 0], &[0, 3], &[2, 3]),
        (&[4, 2, 0], &[0, 3], &[4, 2, 3]),
        (&[4, 0, 2], &[4, 2, 3], &[4, 0, 3]),
        // A stack of matrices without rows has as many rows as one of them.
        (&[2, 0], &[3, 0, 2], &[3, 2, 2]),
        (&[0], &[2, 0, 1], &[2, 1]),
        (&[17, 0], &[2, 0, 17], &[2, 17, 17]),
        (&[3, 2, 0], &[3, 0, 2], &[3, 2, 2]),
    ];
    for (a_shape, b_shape, result) in cases {
        for fortran_order in [false, true] {
            let a = array(path, "a.npy", a_shape, fortran_order);
            let b = array(path, "b.npy", b_shape, fortran_order);
            let expected = product(&a, &b, result);
            for device in devices() {
                for [option, value] in [
                    ["--kernel", "fastest"],
                    ["--kernel", "tiled"],
                    ["--kernel", "coarsened"],
                    // Matrices in parts of few numbers.
                    ["--memory", "50"],
                ] {
                    let arguments = [
                        "a.npy", "b.npy", "-o", "c.npy", option, value, "--device", device,
                    ];
                    succeed("matmul", path, &arguments);
                    let c: ArrayD<f64> = read_npy(path.join("c.npy")).unwrap();
                    assert_eq!(c, expected, "{a_shape:?} @ {b_shape:?}, {option} {value}");
                }
            }
        }
    }
}

#[test]
fn shapes_that_do_not_fit_are_named() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let cases: [(&[usize], &[usize], &[&str]); 5] = [
        (&[], &[3], &["[] and [3]", "single number"]),
        (&[2, 3], &[2, 3], &["[2, 3] and [2, 3]", "3", "2"]),
        (&[3], &[2], &["[3] and [2]"]),
        (
            &[2, 2, 3],
            &[3, 3, 4],
            &["[2, 2, 3] and [3, 3, 4]", "axes before the last two"],
        ),
        (&[2, 3], &[3, 3, 2, 1], &["last but one"]),
    ];
    for (a, b, parts) in cases {
        array(path, "a.npy", a, false);
        array(path, "b.npy", b, false);
        let parts = [&["a.npy and b.npy cannot be multiplied"], parts].concat();
        fail("matmul", path, &["a.npy", "b.npy", "-o", "c.npy"], &parts);
        assert!(!path.join("c.npy").exists());
    }
}

/// The numbers 1 of each type, and the types of all products, as NumPy has them.
#[test]
fn types_of_products_are_numpys() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let ones: [(&str, &str, &[u8]); 13] = [
        ("b1", "'|b1'", &[1]),
        ("i1", "'|i1'", &[1]),
        ("i2", "'<i2'", &[1, 0]),
        ("i4", "'>i4'", &[0, 0, 0, 1]),
        ("i8", "'<i8'", &[1, 0, 0, 0, 0, 0, 0, 0]),
        ("u1", "'|u1'", &[1]),
        ("u2", "'<u2'", &[1, 0]),
        ("u4", "'<u4'", &[1, 0, 0, 0]),
        ("u8", "'<u8'", &[1, 0, 0, 0, 0, 0, 0, 0]),
        ("f2", "'<f2'", &[0, 0x3c]),
        ("f4", "'<f4'", &[0, 0, 0x80, 0x3f]),
        ("f8", "'<f8'", &[0, 0, 0, 0, 0, 0, 0xf0, 0x3f]),
        ("bfloat16", "'<V2'", &[0x80, 0x3f]),
    ];
    for (name, descr, one) in ones {
        let bytes = [&Header::new(descr, "(1, 1)").bytes(), one].concat();
        std::fs::write(path.join(format!("{name}.npy")), bytes).unwrap();
    }
    let mut products = 0;
    for line in include_str!("files/types_of_products.txt").lines() {
        let [a, b, expected] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let (a, b) = (format!("{a}.npy"), format!("{b}.npy"));
        succeed("matmul", path, &[&a, &b, "-o", "c.npy", "--device", "sim"]);
        let (_, descr, one) = ones.iter().find(|(name, ..)| *name == expected).unwrap();
        let descr = descr.replace('>', "<");
        let (c, header) = (std::fs::read(path.join("c.npy")).unwrap(), descr.as_bytes());
        assert!(c.windows(header.len()).any(|it| it == header), "{line}");
        let mut one = one.to_vec();
        if expected == "i4" {
            one.reverse();
        }
        assert!(c.ends_with(&[b"\n", &one[..]].concat()), "{line}");
        products += 1;
    }
    assert_eq!(products, ones.len() * ones.len());
}

/// The product of two matrices of a type, 2 x 2 each.
#[track_caller]
fn product_of<T: ReadableElement, const N: usize>(
    descr: &str,
    a: [[u8; N]; 4],
    b: [[u8; N]; 4],
) -> Vec<T> {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    Header::new(descr, "(2, 2)").write(path, "a.npy", a);
    Header::new(descr, "(2, 2)").write(path, "b.npy", b);
    let arguments = ["a.npy", "b.npy", "-o", "c.npy", "--device", "sim"];
    succeed("matmul", path, &arguments);
    let whole = std::fs::read(path.join("c.npy")).unwrap();
    // In parts of few numbers.
    succeed(
        "matmul",
        path,
        &[&arguments[..], &["--memory", "50"]].concat(),
    );
    assert_eq!(std::fs::read(path.join("c.npy")).unwrap(), whole);
    let c: ArrayD<T> = read_npy(path.join("c.npy")).unwrap();
    c.into_raw_vec_and_offset().0
}

#[track_caller]
fn assert_product<T: ReadableElement + PartialEq + Debug>(found: Vec<T>, expected: [T; 4]) {
    assert_eq!(found, expected);
}

#[test]
fn integers_are_multiplied_exactly() {
    let large = [67_108_863_i64, 0, 0, 1].map(i64::to_le_bytes);
    // f32 would round it.
    assert_product(
        product_of("'<i8'", large, large),
        [4_503_599_493_152_769_i64, 0, 0, 1],
    );
    let negative = [-7_i8, 1, 2, 3].map(i8::to_le_bytes);
    assert_product(product_of("'|i1'", negative, negative), [51_i8, -4, -8, 11]);
    let small = [15_u8, 0, 1, 2].map(u8::to_le_bytes);
    assert_product(product_of("'|u1'", small, small), [225_u8, 0, 17, 4]);
    // A byte other than 0 is true.
    let truths = [[1_u8], [1], [0], [2]];
    assert_product(
        product_of("'|b1'", truths, truths).into_iter().collect(),
        [true, true, false, true],
    );
}

#[test]
fn integers_without_a_place_in_the_product_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let run = |parts: &[&str]| {
        let parts = [&["a.npy and a.npy"], parts].concat();
        fail(
            "matmul",
            path,
            &["a.npy", "a.npy", "-o", "c.npy", "--device", "sim"],
            &parts,
        );
    };
    Header::new("'|u1'", "(1, 1)").write(path, "a.npy", [[16_u8]]);
    run(&["beyond u1 (uint8)", "a.astype(\"i8\")"]);
    Header::new("'|i1'", "(1, 1)").write(path, "a.npy", [[12_i8 as u8]]);
    run(&["beyond i1 (int8)", "a.astype(\"i8\")"]);
    Header::new("'<i8'", "(1, 1)").write(path, "a.npy", [94_906_267_i64.to_le_bytes()]);
    run(&["exceed 2^53", "a.astype(\"f8\")"]);
}

#[test]
fn halves_are_rounded_once() {
    let a = [[1.0_f32, 0.1], [3.0, 65_504.0]].map(|row| row.map(half::f16::from_f32));
    let bytes = [a[0][0], a[0][1], a[1][0], a[1][1]].map(half::f16::to_le_bytes);
    let folder = TempDir::new().unwrap();
    Header::new("'<f2'", "(2, 2)").write(folder.path(), "a.npy", bytes);
    succeed(
        "matmul",
        folder.path(),
        &["a.npy", "a.npy", "-o", "c.npy", "--device", "sim"],
    );
    let c = std::fs::read(folder.path().join("c.npy")).unwrap();
    let halves: Vec<_> = c[c.len() - 8..]
        .chunks(2)
        .map(|it| half::f16::from_le_bytes([it[0], it[1]]))
        .collect();
    let exact = |i: usize, j: usize| {
        (0..2)
            .map(|k| a[i][k].to_f64() * a[k][j].to_f64())
            .sum::<f64>()
    };
    let expected = [exact(0, 0), exact(0, 1), exact(1, 0), exact(1, 1)].map(half::f16::from_f64);
    assert_eq!(halves, expected);
    assert!(halves[3].is_infinite(), "as NumPy's");
}
