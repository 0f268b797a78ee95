//! RMSNorm and LayerNorm, with weight, bias and residual, against f64.

use crate::cases::{SHAPES, U, Value, assert_close, assert_same_bits, scores};
use crate::common::{devices, share, some_machines};
use half::{bf16, f16};
use std::any::type_name;
use tilewright::{Device, ErrorKind, Matrix, Normalization, Profile, SimulatorOptions, row_height};
use tilewright_test_support::assert_kind;

const EPSILON: f32 = 1e-5;

/// Normalised elements of a row, and the mean of |x| times the row's factor.
fn reference<T: Value>(row: &[T], is_centred: bool) -> (Vec<f64>, f64) {
    let n = row.len() as f64;
    let row: Vec<f64> = row.iter().map(|x| x.wide()).collect();
    let mean = if is_centred {
        row.iter().sum::<f64>() / n
    } else {
        0.0
    };
    let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    let factor = 1.0 / (variance + f64::from(EPSILON)).sqrt();
    let size = if is_centred {
        row.iter().map(|x| x.abs()).sum::<f64>() / n
    } else {
        0.0
    };
    (
        row.iter().map(|x| (x - mean) * factor).collect(),
        size * factor,
    )
}

fn results_are_within_their_bounds<T: Value>() {
    for device in devices() {
        for (rows, len) in SHAPES {
            let elements = scores::<T>(rows * len, len as u64 + 2);
            let matrix = device.matrix((rows, len), &elements).unwrap();
            let (weight, bias) = (scores::<T>(len, 3), scores::<T>(len, 4));
            let on_device = [&weight, &bias].map(|it| device.upload(it).unwrap());
            for is_centred in [false, true] {
                let norm = match is_centred {
                    true => Normalization::layer(EPSILON),
                    false => Normalization::rms(EPSILON),
                };
                let norm = norm.weight(&on_device[0]).bias(&on_device[1]);
                let found = norm.run(&matrix).unwrap().to_vec().unwrap();
                for row in 0..rows {
                    let range = row * len..(row + 1) * len;
                    let (z, size) = reference(&elements[range.clone()], is_centred);
                    let columns = weight.iter().zip(&bias).map(|(w, b)| (w.wide(), b.wide()));
                    let columns: Vec<_> = columns.collect();
                    let expected = z.iter().zip(&columns).map(|(z, (w, b))| z * w + b);
                    let h = f64::from(row_height::<T>(len));
                    let bound = |column: usize| {
                        let (w, b) = columns[column];
                        let of_normal = (h / 2.0 + 9.0) * z[column].abs() + (h + 3.0) * size;
                        1.001 * U * (of_normal * w.abs() + 2.0 * b.abs())
                    };
                    let case = format!("row {row} of {rows}x{len}, {is_centred}, {device:?}");
                    assert_close(&found[range], &expected.collect::<Vec<_>>(), bound, &case);
                }
            }
        }
    }
}
for_each_type!([f32 f16 bf16] results_are_within_their_bounds);

/// Rows near both ends of the range of the squares, and beyond.
fn rows_at_the_ends_of_the_range<T: Value>() {
    for device in devices() {
        for len in [16, 700, 2000, 40_000_usize] {
            let largest = 63 - len.next_power_of_two().ilog2().div_ceil(2) as i32;
            let exponents = [-49, largest].into_iter();
            // f16 has neither.
            for exponent in
                exponents.filter(|it| T::of(2.0_f64.powi(*it)).wide() == 2.0_f64.powi(*it))
            {
                let at = |place: usize| {
                    let sign = if place.is_multiple_of(2) { 1.0 } else { -1.0 };
                    T::of(sign * 2.0_f64.powi(exponent))
                };
                let elements: Vec<T> = (0..len).map(at).collect();
                let matrix = device.matrix((1, len), &elements).unwrap();
                for found in [
                    device.rms_norm(&matrix, 0.0),
                    device.layer_norm(&matrix, 0.0),
                ] {
                    let found = found.unwrap().to_vec().unwrap();
                    for (place, y) in found.into_iter().enumerate() {
                        assert_eq!(y.wide().abs(), 1.0, "2^{exponent}, {len}");
                        assert_eq!(y.wide() > 0.0, place.is_multiple_of(2));
                    }
                }
                if exponent == largest {
                    let doubled: Vec<T> = elements.iter().map(|x| T::of(4.0 * x.wide())).collect();
                    let matrix = device.matrix((1, len), &doubled).unwrap();
                    let found = device.rms_norm(&matrix, 0.0).unwrap().to_vec().unwrap();
                    assert!(found.iter().all(|y| y.wide() == 0.0), "{len}");
                }
            }
        }
    }
}
for_each_type!([f32 f16 bf16] rows_at_the_ends_of_the_range);

/// A row of equal elements has variance 0: LayerNorm gives the bias, unless epsilon is 0, too.
fn equal_elements<T: Value>() {
    for device in devices() {
        for len in [1, 64, 1000, 4096, 32_768] {
            let matrix = device.matrix((1, len), &vec![T::of(4.0); len]).unwrap();
            let zeros = device
                .layer_norm(&matrix, EPSILON)
                .unwrap()
                .to_vec()
                .unwrap();
            assert!(zeros.iter().all(|x| x.wide() == 0.0), "{len}");
            let ones = device.rms_norm(&matrix, 0.0).unwrap().to_vec().unwrap();
            assert!(ones.iter().all(|x| x.wide() == 1.0), "{len}");
            let undefined = device.layer_norm(&matrix, 0.0).unwrap().to_vec().unwrap();
            let nan = if size_of::<T>() == 4 {
                0x7fff_ffff
            } else {
                0x7fff
            };
            assert!(undefined.iter().all(|x| x.bits() == nan), "{len}");
        }
    }
}
for_each_type!([f32 f16 bf16] equal_elements);

#[test]
fn nan_and_infinities_stay_in_their_row() {
    for device in devices() {
        for len in [3, 700, 2000, 40_000] {
            let mut elements = scores::<f32>(3 * len, 9);
            elements[len / 2] = f32::NAN;
            elements[len + 1] = f32::INFINITY;
            let matrix = device.matrix((3, len), &elements).unwrap();
            let layer = device
                .layer_norm(&matrix, EPSILON)
                .unwrap()
                .to_vec()
                .unwrap();
            assert!(layer[..2 * len].iter().all(|x| x.to_bits() == 0x7fff_ffff));
            assert!(layer[2 * len..].iter().all(|x| x.is_finite()));
            let rms = device.rms_norm(&matrix, EPSILON).unwrap().to_vec().unwrap();
            assert!(rms[..len].iter().all(|x| x.is_nan()));
            // 1 / infinity is 0, and infinity times 0 is NaN.
            assert!(rms[len + 1].is_nan() && rms[len] == 0.0);
        }
    }
}

/// The operands of a call with a residual, in a matrix with columns around them.
struct Operands<T: Value> {
    whole: [Matrix<T>; 2],
    before: usize,
    len: usize,
}

impl<T: Value> Operands<T> {
    fn new(device: &Device, rows: usize, len: usize, before: usize) -> Self {
        let whole = [5, 6].map(|seed| {
            let elements = scores::<T>(rows * len, seed);
            let mut all = Vec::new();
            for row in elements.chunks(len) {
                all.extend(vec![T::of(7.0); before]);
                all.extend(row);
            }
            device.matrix((rows, before + len), &all).unwrap()
        });
        Self { whole, before, len }
    }

    fn contents(&self) -> [Vec<T>; 2] {
        let columns = self.before..self.before + self.len;
        [0, 1].map(|number| {
            let part = self.whole[number].view().slice(.., columns.clone());
            part.unwrap().to_vec().unwrap()
        })
    }
}

/// The fused call has the bits of an addition, rounded, and a normalisation of the sums, wherever rows lie.
fn residuals_are_added_first<T: Value>() {
    for device in devices() {
        for (rows, len) in share(("rows::residual", type_name::<T>()), SHAPES) {
            let plain = Operands::<T>::new(&device, rows, len, 0);
            let [x, residual] = plain.contents();
            let sums: Vec<T> = x
                .iter()
                .zip(&residual)
                .map(|(x, r)| T::of(x.wide() + r.wide()))
                .collect();
            let weight = device.upload(&scores::<T>(len, 8)).unwrap();
            let norm = Normalization::layer(EPSILON).weight(&weight);
            let of_sums = device.matrix((rows, len), &sums).unwrap();
            let expected = norm.run(&of_sums).unwrap().to_vec().unwrap();
            let case = format!("{rows}x{len}, {device:?}");

            let mut found = [(); 2].map(|()| device.matrix_zeros::<T>((rows, len)).unwrap());
            let [written, results] = &mut found;
            norm.run_with_residual(&plain.whole[0], &plain.whole[1], written, results)
                .unwrap();
            assert_same_bits(&found[0].to_vec().unwrap(), &sums, &case);
            assert_same_bits(&found[1].to_vec().unwrap(), &expected, &case);
            for before in [0, 1, 8] {
                let mut operands = Operands::<T>::new(&device, rows, len, before);
                let columns = before..before + len;
                let [x, residual] = &mut operands.whole;
                norm.run_with_residual_in_place(
                    &mut x.slice_mut(.., columns.clone()).unwrap(),
                    &mut residual.slice_mut(.., columns).unwrap(),
                )
                .unwrap();
                let [results, written] = operands.contents();
                assert_same_bits(&written, &sums, &case);
                assert_same_bits(&results, &expected, &case);
            }
        }
    }
}
for_each_type!([f32 f16 bf16] residuals_are_added_first);

/// Weight and bias that start between vectors change no bit, and neither does the machine.
fn machines_and_starts_agree<T: Value>() {
    for (rows, len) in [
        (70, 5),
        (37, 104),
        (5, 904),
        (3, 3000),
        (2, 9001),
        (2, 33_000),
    ] {
        let elements = scores::<T>(rows * len, 7);
        let columns = scores::<T>(len + 1, 8);
        let mut expected: Option<Vec<T>> = None;
        for device in some_machines("rows::norm") {
            let matrix = device.matrix((rows, len), &elements).unwrap();
            let aligned = device.upload(&columns[1..]).unwrap();
            let shifted = device.upload(&columns).unwrap();
            let shifted = shifted.slice(1..).unwrap();
            for columns in [aligned.view(), shifted] {
                let norm = Normalization::layer(EPSILON).weight(columns).bias(columns);
                let found = norm.run(&matrix).unwrap().to_vec().unwrap();
                let expected = expected.get_or_insert_with(|| found.clone());
                assert_same_bits(&found, expected, &format!("{rows}x{len}, {device:?}"));
            }
        }
    }
}
for_each_type!([f32 f16 bf16] machines_and_starts_agree);

/// How much of a long row shared memory keeps changes no bit, with a residual or without, in place or not.
#[test]
fn shared_memory_changes_no_bit() {
    let (rows, len) = (2, 70_001);
    let mut expected = None;
    for profile in Profile::ALL {
        let options = SimulatorOptions::default().with_profile(profile);
        let device = Device::simulator_with(options);
        let mut operands = Operands::<f32>::new(&device, rows, len, 0);
        let rms = device.rms_norm(&operands.whole[0], EPSILON).unwrap();
        let [x, residual] = &mut operands.whole;
        let norm = Normalization::layer(EPSILON);
        norm.run_with_residual_in_place(x, residual).unwrap();
        let found = [rms.to_vec().unwrap(), operands.contents()[0].clone()];
        let expected = expected.get_or_insert_with(|| found.clone());
        assert_same_bits(&found[0], &expected[0], profile.name());
        assert_same_bits(&found[1], &expected[1], profile.name());
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    for device in devices() {
        let x = device.matrix((2, 3), &[1.0_f32; 6]).unwrap();
        let two = device.upload(&[1.0_f32; 2]).unwrap();
        let error = Normalization::rms(0.0).weight(&two).run(&x).unwrap_err();
        assert_kind!(error is ErrorKind::WrongLength { expected: 3, found: 2, .. });
        assert_eq!(error.operation(), "Normalization::run");
        let mut y = device.matrix_zeros((2, 3)).unwrap();
        let mut other = device.matrix_zeros((3, 2)).unwrap();
        let residual = device.matrix_zeros::<f32>((3, 2)).unwrap();
        let norm = Normalization::layer(0.0);
        let error = norm
            .run_with_residual(&x, &residual, &mut other, &mut y)
            .unwrap_err();
        assert_kind!(error is ErrorKind::ShapeMismatch { .. });
        assert!(error.to_string().contains("the residual is 3x2"), "{error}");
    }
}

#[test]
fn matrices_without_elements_have_no_results() {
    for device in devices() {
        for shape in [(0, 0), (0, 5), (3, 0)] {
            let matrix = device.matrix::<f32>(shape, &[]).unwrap();
            assert_eq!(device.rms_norm(&matrix, 0.0).unwrap().shape(), shape);
            assert_eq!(device.layer_norm(&matrix, 0.0).unwrap().shape(), shape);
        }
    }
}
