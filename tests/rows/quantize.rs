//! Matrices rounded to e4m3 with scales of blocks, against a naive reference.

use crate::common::devices;
use crate::common::random::Random;
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::cuda_std::fp8::F8E4M3;
use tilewright::{Device, ErrorKind, Order, QuantizeElement, Quantized, SimulatorOptions};
use tilewright_test_support::assert_kind;

/// Rows and columns: one element, tails, whole blocks, rows that are not whole vectors, many blocks for each warp.
const SHAPES: [(usize, usize); 7] = [
    (1, 1),
    (3, 130),
    (128, 128),
    (130, 257),
    (40, 384),
    (5, 6),
    (300, 1000),
];

/// The codes and the scales of blocks of `height` x 128 elements.
fn expected(elements: &[f32], columns: usize, height: usize) -> (Vec<u8>, Vec<f32>) {
    let (rows, along) = (elements.len() / columns, columns.div_ceil(128));
    let block_of = |at: usize| at / columns / height * along + at % columns / 128;
    let mut scales = vec![0.0_f32; rows.div_ceil(height) * along];
    for (at, element) in elements.iter().enumerate().filter(|it| it.1.is_finite()) {
        let largest = &mut scales[block_of(at)];
        *largest = largest.max(element.abs());
    }
    for scale in &mut scales {
        *scale = (*scale / 448.0).max(f32::MIN_POSITIVE);
    }
    let code = |(at, &element): (usize, &f32)| {
        let scale = scales[block_of(at)];
        match element.is_finite() {
            true => F8E4M3::from_f32(element * (1.0 / scale)).to_bits(),
            false => F8E4M3::from_f32(f32::NAN).to_bits(),
        }
    };
    (elements.iter().enumerate().map(code).collect(), scales)
}

fn check(found: &Quantized, elements: &[f32], height: usize, case: &dyn Debug) {
    let (rows, columns) = found.elements.shape();
    assert_eq!(
        found.scales.shape(),
        (rows.div_ceil(height), columns.div_ceil(128))
    );
    let (codes, scales) = expected(elements, columns, height);
    assert_eq!(found.scales.to_vec().unwrap(), scales, "{case:?}");
    let found: Vec<u8> = (found.elements.to_vec().unwrap().iter())
        .map(|it| it.to_bits())
        .collect();
    let different = (0..codes.len()).find(|&at| codes[at] != found[at]);
    assert_eq!(different, None, "{case:?}");
}

/// Both kinds of blocks of a matrix, and of one whose rows lie in a wider one.
fn check_both<T: QuantizeElement + Into<f32>>(
    device: &Device,
    shape: (usize, usize),
    values: &[T],
) {
    let widened: Vec<f32> = values.iter().map(|&it| it.into()).collect();
    let matrix = device.matrix(shape, values).unwrap();
    let mut wide = device.matrix_zeros::<T>((shape.0, shape.1 + 3)).unwrap();
    wide.slice_mut(.., 1..=shape.1)
        .unwrap()
        .copy_from_strided(values, shape.1)
        .unwrap();
    for view in [matrix.view(), wide.slice(.., 1..=shape.1).unwrap()] {
        let case = (
            shape,
            std::any::type_name::<T>(),
            view.leading_dimension(),
            device,
        );
        let mut found = device.quantize_rows(view).unwrap();
        check(&found, &widened, 1, &case);
        found.elements.fill_zero().unwrap();
        device.quantize_rows_into(view, &mut found).unwrap();
        check(&found, &widened, 1, &case);
        let mut found = device.quantize_blocks(view).unwrap();
        check(&found, &widened, 128, &case);
        found.elements.fill_zero().unwrap();
        device.quantize_blocks_into(view, &mut found).unwrap();
        check(&found, &widened, 128, &case);
    }
}

#[test]
fn blocks_are_rounded_by_their_largest_elements() {
    for device in devices() {
        for shape in SHAPES {
            let mut random = Random::new(shape.1 as u64);
            // Blocks of very different magnitudes.
            let values: Vec<f32> = (0..shape.0 * shape.1)
                .map(|at| {
                    random.signed_unit() as f32 * 2.0_f32.powi((at / 128 % 9) as i32 * 5 - 20)
                })
                .collect();
            check_both(&device, shape, &values);
            let halves: Vec<f16> = values.iter().map(|&it| f16::from_f32(it)).collect();
            check_both(&device, shape, &halves);
            let halves: Vec<bf16> = values.iter().map(|&it| bf16::from_f32(it)).collect();
            check_both(&device, shape, &halves);
        }
    }
}

#[test]
fn zeros_tiny_numbers_infinities_and_nans_have_their_codes() {
    let mut values = vec![0.0_f32; 4 * 128];
    values[128..256].fill(f32::from_bits(1));
    values[256..384].fill(2.5);
    values[300] = f32::NEG_INFINITY;
    values[301] = f32::NAN;
    values[384..].fill(f32::INFINITY);
    values[400] = f32::MAX;
    for device in devices() {
        let matrix = device.matrix((4, 128), &values).unwrap();
        let found = device.quantize_rows(&matrix).unwrap();
        check(&found, &values, 1, &device);
        let scales = found.scales.to_vec().unwrap();
        assert_eq!(scales[..2], [f32::MIN_POSITIVE; 2]);
        assert_eq!(scales[2..], [2.5 / 448.0, f32::MAX / 448.0]);
        let codes: Vec<f32> = (found.elements.to_vec().unwrap().iter())
            .map(|it| it.to_f32())
            .collect();
        assert_eq!(codes[..256], [0.0; 256]);
        assert!(codes[300].is_nan() && codes[301].is_nan() && codes[384].is_nan());
        assert_eq!([codes[299], codes[400]], [448.0; 2]);
        check(
            &device.quantize_blocks(&matrix).unwrap(),
            &values,
            128,
            &device,
        );
    }
}

#[test]
fn an_empty_matrix_has_no_scales_and_columns_are_refused() {
    for device in devices() {
        for shape in [(0, 5), (5, 0)] {
            let matrix = device.matrix_zeros::<f32>(shape).unwrap();
            let found = device.quantize_rows(&matrix).unwrap();
            assert_eq!(
                (found.elements.shape(), found.scales.as_buffer().len()),
                (shape, 0)
            );
        }
        let columns = device
            .matrix_zeros::<f32>((4, 5, Order::ColumnMajor))
            .unwrap();
        let error = device.quantize_blocks(&columns).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::NoKernel { .. }),
            "{error}"
        );
    }
}

#[test]
fn warps_that_are_not_of_32_threads_are_refused() {
    let device = Device::simulator_with(SimulatorOptions::default().with_warp_width(64));
    let matrix = device.matrix((2, 300), &[1.0_f32; 600]).unwrap();
    for found in [
        device.quantize_rows(&matrix),
        device.quantize_blocks(&matrix),
    ] {
        let error = found.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::NoKernel { .. }),
            "{error}"
        );
    }
}

#[test]
fn results_of_another_shape_or_order_are_refused() {
    for device in devices() {
        let matrix = device.matrix_zeros::<f32>((3, 200)).unwrap();
        let others = device.matrix_zeros::<f32>((3, 400)).unwrap();
        let mut found = device.quantize_rows(&others).unwrap();
        let error = device.quantize_rows_into(&matrix, &mut found).unwrap_err();
        assert_kind!(error is ErrorKind::ShapeMismatch { .. });
        assert_eq!(error.operation(), "quantize_rows_into");
        // Rows have two scales each, blocks of 128 rows one pair.
        let mut found = device.quantize_rows(&matrix).unwrap();
        let error = device
            .quantize_blocks_into(&matrix, &mut found)
            .unwrap_err();
        assert_kind!(error is ErrorKind::ShapeMismatch { .. });
        assert_eq!(
            error.kind().to_string(),
            "the blocks of the matrix is 1x2 and the matrix of the scales is 3x2: the two shapes must be equal"
        );
        found.elements = device.matrix_zeros((3, 200, Order::ColumnMajor)).unwrap();
        let error = device.quantize_rows_into(&matrix, &mut found).unwrap_err();
        assert_kind!(error is ErrorKind::NoKernel { .. });
    }
}
