//! NaN, infinities, single elements, and matrices without elements.

use crate::cases::Value;
use crate::common::devices;
use half::{bf16, f16};

const INFINITY: f64 = f64::INFINITY;

/// A row's first elements, the others being `fill`, and its results: of the first elements, of the others, and the
/// logarithm of the sum.
struct Row {
    first: &'static [f64],
    fill: f64,
    softmax: &'static [f64],
    of_fill: f64,
    log_sum: f64,
}

const ROWS: [Row; 7] = [
    Row {
        first: &[f64::NAN, 1.0],
        fill: 0.0,
        softmax: &[f64::NAN; 2],
        of_fill: f64::NAN,
        log_sum: f64::NAN,
    },
    Row {
        first: &[f64::NAN],
        fill: -INFINITY,
        softmax: &[f64::NAN],
        of_fill: f64::NAN,
        log_sum: f64::NAN,
    },
    Row {
        first: &[INFINITY, 1.0],
        fill: 0.0,
        softmax: &[f64::NAN; 2],
        of_fill: f64::NAN,
        log_sum: INFINITY,
    },
    Row {
        first: &[INFINITY, f64::NAN],
        fill: -INFINITY,
        softmax: &[f64::NAN; 2],
        of_fill: f64::NAN,
        log_sum: f64::NAN,
    },
    Row {
        first: &[INFINITY, INFINITY],
        fill: -INFINITY,
        softmax: &[f64::NAN; 2],
        of_fill: f64::NAN,
        log_sum: INFINITY,
    },
    Row {
        first: &[-INFINITY],
        fill: -INFINITY,
        softmax: &[f64::NAN],
        of_fill: f64::NAN,
        log_sum: -INFINITY,
    },
    Row {
        first: &[3.0, -INFINITY],
        fill: -INFINITY,
        softmax: &[1.0, 0.0],
        of_fill: 0.0,
        log_sum: 3.0,
    },
];

/// Equal numbers, or the canonical NaN for NaN.
#[track_caller]
fn assert_same<T: Value>(found: T, expected: f64, nan: u32, case: &str) {
    if expected.is_nan() {
        assert_eq!(
            found.bits(),
            nan,
            "{found:?} is not the canonical NaN: {case}"
        );
    } else {
        assert_eq!(found.wide(), expected, "{case}");
    }
}

fn special_elements<T: Value>() {
    let nan = if size_of::<T>() == 4 {
        0x7fff_ffff
    } else {
        0x7fff
    };
    for device in devices() {
        for (number, row) in ROWS.iter().enumerate() {
            for len in [2, 3, 40, 700, 1030, 5000, 33_001] {
                for reversed in [false, true] {
                    let mut elements = vec![T::of(row.fill); len];
                    let mut expected = vec![row.of_fill; len];
                    for (place, (x, y)) in row.first.iter().zip(row.softmax).enumerate() {
                        let place = if reversed { len - 1 - place } else { place };
                        (elements[place], expected[place]) = (T::of(*x), *y);
                    }
                    let case = format!("row {number} of {len}, reversed: {reversed}, {device:?}");
                    let matrix = device.matrix((1, len), &elements).unwrap();
                    let softmax = device.softmax(&matrix).unwrap().to_vec().unwrap();
                    let logarithms = device.log_softmax(&matrix).unwrap().to_vec().unwrap();
                    for ((softmax, logarithm), expected) in
                        softmax.into_iter().zip(logarithms).zip(expected)
                    {
                        assert_same(softmax, expected, nan, &case);
                        assert_same(logarithm, expected.ln(), nan, &case);
                    }
                    let log_sum = device.logsumexp(&matrix).unwrap().to_vec().unwrap()[0];
                    assert_same(log_sum, row.log_sum, 0x7fff_ffff, &case);
                }
            }
        }
    }
}
for_each_type!([f32 f16 bf16] special_elements);

#[test]
fn one_element_has_all_the_weight() {
    for device in devices() {
        for x in [0.0_f32, -0.0, 1e30, -1e30, f32::MAX, f32::MIN, 1e-45] {
            let matrix = device.matrix((1, 1), &[x]).unwrap();
            assert_eq!(device.softmax(&matrix).unwrap().to_vec().unwrap(), [1.0]);
            let logarithm = device.log_softmax(&matrix).unwrap().to_vec().unwrap();
            assert_eq!(logarithm[0].to_bits(), 0, "{x}");
            assert_eq!(device.logsumexp(&matrix).unwrap().to_vec().unwrap(), [x]);
        }
    }
}

#[test]
fn matrices_without_elements_have_no_results() {
    for device in devices() {
        for shape in [(0, 0), (0, 5), (3, 0)] {
            let matrix = device.matrix::<f32>(shape, &[]).unwrap();
            assert_eq!(device.softmax(&matrix).unwrap().shape(), shape);
            assert!(
                device
                    .log_softmax(&matrix)
                    .unwrap()
                    .to_vec()
                    .unwrap()
                    .is_empty()
            );
            let log_sums = device.logsumexp(&matrix).unwrap().to_vec().unwrap();
            assert_eq!(log_sums, vec![f32::NEG_INFINITY; shape.0]);
            let classes = device.zeros::<u32>(shape.0).unwrap();
            let losses = device
                .cross_entropy(&matrix, &classes)
                .unwrap()
                .to_vec()
                .unwrap();
            assert!(losses.len() == shape.0 && losses.iter().all(|loss| loss.is_nan()));
        }
    }
}
