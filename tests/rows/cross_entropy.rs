//! Cross entropy and its gradient, against f64.

use crate::cases::{SHAPES, U, Value, assert_close, scores};
use crate::common::devices;
use crate::softmax::{FLUSHED, Reference, units};
use half::{bf16, f16};
use tilewright::IGNORED_CLASS;

const SCALE: f32 = 0.125;

fn losses_and_gradients_are_within_their_bounds<T: Value>() {
    for device in devices() {
        for (rows, len) in SHAPES {
            let elements = scores::<T>(rows * len, len as u64 + 1);
            let classes: Vec<u32> = (0..rows).map(|row| (row * 7919 % len) as u32).collect();
            let x = device.matrix((rows, len), &elements).unwrap();
            let of_rows = device.upload(&classes).unwrap();
            let mut losses = device.zeros(rows).unwrap();
            let mut gradient = device.matrix_zeros::<T>((rows, len)).unwrap();
            device
                .cross_entropy_with_gradient(&x, &of_rows, SCALE, &mut losses, &mut gradient)
                .unwrap();
            let alone = device
                .cross_entropy(&x, &of_rows)
                .unwrap()
                .to_vec()
                .unwrap();
            let losses = losses.to_vec().unwrap();
            assert_eq!(losses, alone, "{rows}x{len}");
            let gradient = gradient.to_vec().unwrap();
            for row in 0..rows {
                let range = row * len..(row + 1) * len;
                let case = format!("row {row} of {rows}x{len}, {device:?}");
                let reference = Reference::of(&elements[range.clone()]);
                let class = classes[row] as usize;
                let loss = -reference.logarithms[class];
                let bound = (2.0 * loss.abs() + units::<T>(0.0, len)) * U;
                assert_close(&[losses[row]], &[loss], |_| bound, &case);
                let scale = f64::from(SCALE);
                let mut expected: Vec<f64> = reference.softmax.iter().map(|y| y * scale).collect();
                expected[class] -= scale;
                let bound = |index: usize| {
                    let units = units::<T>(reference.distances[index], len);
                    let of_class = if index == class { scale } else { 0.0 };
                    (units * reference.softmax[index] * scale + of_class) * U + FLUSHED
                };
                assert_close(&gradient[range], &expected, bound, &case);
            }
        }
    }
}
for_each_type!([f32 f16 bf16] losses_and_gradients_are_within_their_bounds);

#[test]
fn gradients_of_ignored_rows_with_special_elements() {
    for device in devices() {
        for len in [3, 2000, 40_000] {
            let mut elements = vec![1.0_f32; 3 * len];
            elements[1] = f32::INFINITY;
            elements[len + 1] = f32::NAN;
            elements[2 * len..].fill(f32::NEG_INFINITY);
            let x = device.matrix((3, len), &elements).unwrap();
            let classes = device.upload(&[IGNORED_CLASS; 3]).unwrap();
            let mut losses = device.zeros(3).unwrap();
            let mut gradient = device.matrix_zeros((3, len)).unwrap();
            device
                .cross_entropy_with_gradient(&x, &classes, 1.0, &mut losses, &mut gradient)
                .unwrap();
            let gradient = gradient.to_vec().unwrap();
            for (index, gradient) in gradient.into_iter().enumerate() {
                match index / len {
                    0 if index == 1 => assert!(gradient.is_nan()),
                    1 => assert!(gradient.is_nan()),
                    _ => assert_eq!(gradient, 0.0, "{index} of rows of {len}"),
                }
            }
        }
    }
}

#[test]
fn ignored_and_invalid_classes() {
    for device in devices() {
        for len in [3, 600, 2000, 40_000] {
            let x = device.matrix((3, len), &scores::<f32>(3 * len, 1)).unwrap();
            let classes = device.upload(&[IGNORED_CLASS, len as u32, 0]).unwrap();
            let mut losses = device.zeros(3).unwrap();
            let mut gradient = device.matrix_zeros((3, len)).unwrap();
            device
                .cross_entropy_with_gradient(&x, &classes, 1.0, &mut losses, &mut gradient)
                .unwrap();
            let losses = losses.to_vec().unwrap();
            let gradient = gradient.to_vec().unwrap();
            assert_eq!(losses[0], 0.0);
            assert!(losses[1].is_nan() && losses[2].is_finite(), "{losses:?}");
            assert!(gradient[..len].iter().all(|x| *x == 0.0));
            assert!(gradient[len..2 * len].iter().all(|x| x.is_nan()));
            let total: f64 = gradient[2 * len..].iter().map(|x| f64::from(*x)).sum();
            assert!(
                total.abs() < 1e-5,
                "a gradient's elements add to 0, not {total}"
            );
        }
    }
}
