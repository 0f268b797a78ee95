//! Scans by sums, products, minima and maxima, of buffers, rows, columns and segments, with and without an initial
//! value.

use crate::common::random::Random;
use crate::common::{devices, share};
use crate::samples::tile;
use half::{bf16, f16};
use std::any::type_name;
use std::fmt::Debug;
use tilewright::{Buffer, Device, ErrorKind, Matrix, Scannable, half, ops};
use tilewright_test_support::assert_kind;

/// Lengths for each way to scan: by threads of a warp, of a block, a block in turns, and several blocks.
fn lengths<T>() -> [Vec<usize>; 4] {
    let (vectors, tile) = (32 * 16 / size_of::<T>(), tile::<T>());
    [
        vec![1, 2, 3, 5, vectors],
        vec![vectors + 1, vectors + 4, 16 * vectors],
        vec![16 * vectors + 1, 16 * vectors + 4, tile],
        vec![tile + 1, tile + 4, 2 * tile + 3],
    ]
}

/// Naive results: the value after each element, from an initial one on.
fn naive<T: Copy>(x: &[T], initial: T, combine: impl Fn(T, T) -> T) -> (Vec<T>, Vec<T>) {
    let mut total = initial;
    x.iter()
        .map(|&element| {
            let before = total;
            total = combine(total, element);
            (total, before)
        })
        .unzip()
}

/// The transpose of a matrix with `rows` rows.
fn transposed<T: Copy>(data: &[T], rows: usize) -> Vec<T> {
    let columns = data.len() / rows;
    (0..data.len())
        .map(|i| data[i % rows * columns + i / rows])
        .collect()
}

/// Both scans of columns and of segments are the `expected` ones of the rows of `data`, which start with `len` elements.
fn assert_lines<R: Copy, T: Scannable<R> + PartialEq>(
    device: &Device,
    (operation, initial): (R, T),
    (data, rows, len): (&[T], usize, usize),
    [inclusive, exclusive]: [&[T]; 2],
) {
    let (what, apart) = (format!("{rows} x {len}"), data.len() / rows);
    let across = device
        .matrix((apart, rows), &transposed(data, rows))
        .unwrap();
    let x = across.slice(..len, ..).unwrap();
    let columns = |found: Matrix<T>| transposed(&found.to_vec().unwrap(), len);
    let found = device.scan_columns_inclusive(x, operation).unwrap();
    assert!(columns(found) == inclusive, "columns, {what}");
    let found = device
        .scan_columns_exclusive(x, operation, initial)
        .unwrap();
    assert!(columns(found) == exclusive, "columns, {what}");
    let x = device.upload(data).unwrap();
    // Rows and the gaps between them.
    let offsets: Vec<usize> = (0..rows)
        .flat_map(|row| [row * apart, row * apart + len])
        .collect();
    let segments = device.segments(&offsets).unwrap();
    let of_rows = |found: Buffer<T>| -> Vec<T> {
        let found = found.to_vec().unwrap();
        let rows = found.chunks(apart).flat_map(|row| &row[..len]);
        rows.copied().collect()
    };
    let found = device
        .scan_segments_inclusive(&x, &segments, operation)
        .unwrap();
    assert!(of_rows(found) == inclusive, "segments, {what}");
    let found = device
        .scan_segments_exclusive(&x, &segments, operation, initial)
        .unwrap();
    assert!(of_rows(found) == exclusive, "segments, {what}");
}

/// Both scans of rows with gaps, of the same columns, of the same segments, and of a buffer are the naive ones, byte by
/// byte. Operations of one type differ in how they combine, not in where elements lie: each draws a length of each kind.
fn assert_exact<R: Copy, T: Scannable<R> + Debug + PartialEq>(
    device: &Device,
    operation: R,
    (identity, initial): (T, T),
    sample: impl Fn(&mut Random) -> T,
    combine: impl Fn(T, T) -> T + Copy,
) {
    let mut random = Random::new(3);
    let lengths = lengths::<T>().into_iter().enumerate();
    for len in lengths.flat_map(|(kind, lengths)| share((type_name::<(R, T)>(), kind), lengths)) {
        let rows = if len > 1000 { 2 } else { 67 };
        // Gaps make no difference to long rows that they do not make to short ones.
        let gaps: &[usize] = if len <= tile::<T>() { &[0, 1] } else { &[1] };
        for &gap in gaps {
            let data: Vec<T> = (0..rows * (len + gap))
                .map(|_| sample(&mut random))
                .collect();
            let matrix = device.matrix((rows, len + gap), &data).unwrap();
            let x = matrix.slice(.., ..len).unwrap();
            let inclusive = device.scan_rows_inclusive(x, operation).unwrap();
            let exclusive = device.scan_rows_exclusive(x, operation, initial).unwrap();
            let (inclusive, exclusive) = (inclusive.to_vec().unwrap(), exclusive.to_vec().unwrap());
            for row in 0..rows {
                let of_row = &data[row * (len + gap)..][..len];
                let expected = naive(of_row, identity, combine).0;
                let what = format!("row {row} of {rows} x {len}, gap {gap}");
                assert!(inclusive[row * len..][..len] == expected, "{what}");
                let expected = naive(of_row, initial, combine).1;
                assert!(
                    exclusive[row * len..][..len] == expected,
                    "{what}, exclusive"
                );
            }
            let expected = [&inclusive[..], &exclusive[..]];
            // With gaps alone: that takes less time.
            if gap > 0 {
                assert_lines(device, (operation, initial), (&data, rows, len), expected);
            }
            let buffer = device.upload(&data).unwrap();
            let buffer = buffer.slice(gap..).unwrap();
            let found = device.scan_inclusive_by(buffer, operation).unwrap();
            let (expected, _) = naive(&data[gap..], identity, combine);
            assert!(
                found.to_vec().unwrap() == expected,
                "{len} x {rows} elements"
            );
            let found = device
                .scan_exclusive_by(buffer, operation, initial)
                .unwrap();
            let (_, expected) = naive(&data[gap..], initial, combine);
            assert!(
                found.to_vec().unwrap() == expected,
                "{len} x {rows} elements"
            );
        }
    }
}

macro_rules! integers {
    ($($name:ident: $integer:ident;)*) => {$(
        #[test]
        fn $name() {
            for device in devices() {
                let sample = |random: &mut Random| random.bits() as $integer;
                let limits = ($integer::MAX, $integer::MIN);
                assert_exact(&device, ops::Sum, (0, 77), sample, $integer::wrapping_add);
                assert_exact(&device, ops::Product, (1, 3), |random| sample(random) | 1, $integer::wrapping_mul);
                assert_exact(&device, ops::Min, (limits.0, limits.0 / 2), sample, $integer::min);
                assert_exact(&device, ops::Max, (limits.1, 5), sample, $integer::max);
            }
        }
    )*};
}
integers! {
    integers_of_32_bits_are_exact: i32;
    unsigned_integers_of_32_bits_are_exact: u32;
    integers_of_64_bits_are_exact: i64;
    unsigned_integers_of_64_bits_are_exact: u64;
}

macro_rules! floats {
    ($($name:ident: $float:ident from $narrow:expr;)*) => {$(
        #[test]
        fn $name() {
            for device in devices() {
                let sample = |random: &mut Random| $narrow(f64::from(random.bits() as i16) / 256.0);
                let (most, least) = ($float::INFINITY, $float::NEG_INFINITY);
                assert_exact(&device, ops::Min, (most, $narrow(-60.0)), sample, $float::min);
                assert_exact(&device, ops::Max, (least, $narrow(90.0)), sample, $float::max);
                // Powers of two, whose products are exact while they are in range.
                let power = |random: &mut Random| $narrow([1.0, -1.0][random.bits() as usize % 2]);
                assert_exact(&device, ops::Product, ($narrow(1.0), $narrow(-0.5)), power, |x, y| x * y);
            }
        }
    )*};
}
floats! {
    extremes_and_signs_of_f32_are_exact: f32 from |x: f64| x as f32;
    extremes_and_signs_of_f64_are_exact: f64 from |x: f64| x;
    extremes_and_signs_of_f16_are_exact: f16 from f16::from_f64;
    extremes_and_signs_of_bf16_are_exact: bf16 from bf16::from_f64;
}

/// Sums of halves are rounded once: to the nearest of an exact sum of small integers.
#[test]
fn sums_of_halves_are_added_in_f32_and_rounded_once() {
    for device in devices() {
        for len in lengths::<f16>().concat() {
            let numbers: Vec<i32> = (0..len).map(|i| (i as i32 * 7919) % 5 - 1).collect();
            let x: Vec<f16> = numbers.iter().map(|&x| f16::from_f32(x as f32)).collect();
            let (expected, _) = naive(&numbers, 0, |x, y| x + y);
            let expected: Vec<f16> = expected.iter().map(|&x| f16::from_f32(x as f32)).collect();
            let x = device.upload(&x).unwrap();
            assert_eq!(
                device.scan_inclusive(&x).unwrap().to_vec().unwrap(),
                expected
            );
            let by = device.scan_inclusive_by(&x, ops::Sum).unwrap();
            assert_eq!(by.to_vec().unwrap(), expected, "{len}");
        }
    }
}

/// In every class of rows, the bits of a row are those of a buffer.
#[test]
fn sums_of_rows_have_the_bits_of_buffers() {
    let mut random = Random::new(5);
    for device in devices() {
        for len in lengths::<f32>().concat() {
            let data: Vec<f32> = (0..3 * len).map(|_| random.wide() as f32).collect();
            let matrix = device.matrix((3, len), &data).unwrap();
            let found = device.scan_rows_inclusive(&matrix, ops::Sum).unwrap();
            let found = found.to_vec().unwrap();
            let exclusive = device.scan_rows_exclusive(&matrix, ops::Sum, None).unwrap();
            let exclusive = exclusive.to_vec().unwrap();
            for row in 0..3 {
                let x = device.upload(&data[row * len..][..len]).unwrap();
                let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                let expected = device.scan_inclusive(&x).unwrap().to_vec().unwrap();
                assert_eq!(bits(&found[row * len..][..len]), bits(&expected), "{len}");
                let expected = device.scan_exclusive(&x).unwrap().to_vec().unwrap();
                assert_eq!(
                    bits(&exclusive[row * len..][..len]),
                    bits(&expected),
                    "{len}"
                );
            }
        }
    }
}

#[test]
fn a_nan_stays_in_its_row() {
    for device in devices() {
        let mut data = vec![1.0_f32; 3 * 200];
        data[250] = f32::from_bits(0xffc0_1234);
        let matrix = device.matrix((3, 200), &data).unwrap();
        for found in [
            device.scan_rows_inclusive(&matrix, ops::Sum),
            device.scan_rows_inclusive(&matrix, ops::Max),
            device.scan_rows_inclusive(&matrix, ops::Min),
            device.scan_rows_inclusive(&matrix, ops::Product),
        ] {
            for (place, found) in found.unwrap().to_vec().unwrap().iter().enumerate() {
                let is_nan = (250..400).contains(&place);
                assert_eq!(found.to_bits() == 0x7fff_ffff, is_nan, "{place}: {found}");
            }
        }
    }
}

#[test]
fn what_has_no_value_or_no_kernel_is_refused() {
    for device in devices() {
        let x = device.upload(&[1_i32, 2]).unwrap();
        let error = device.scan_exclusive_by(&x, ops::Max, None).unwrap_err();
        assert_kind!(error is ErrorKind::NoElements { .. });
        assert_eq!(error.operation(), "scan_exclusive_by");
        let matrix = device.matrix((2, 2), &[1, 2, 3, 4]).unwrap();
        let mut results = device.matrix_zeros::<i32>((2, 2)).unwrap();
        let error = device.scan_rows_inclusive_into(matrix.t(), ops::Max, &mut results);
        let error = error.unwrap_err();
        assert_kind!(error is ErrorKind::OrderMismatch);
        let mut other = device.matrix_zeros::<i32>((2, 3)).unwrap();
        let error = device.scan_rows_inclusive_into(&matrix, ops::Sum, &mut other);
        let error = error.unwrap_err();
        assert_kind!(error is ErrorKind::ShapeMismatch { .. });
        let none = device.matrix::<i32>((3, 0), &[]).unwrap();
        assert!(
            device
                .scan_rows_inclusive(&none, ops::Min)
                .unwrap()
                .is_empty()
        );
        let none = device.upload::<f64>(&[]).unwrap();
        assert!(
            device
                .scan_exclusive_by(&none, ops::Sum, 1.0)
                .unwrap()
                .is_empty()
        );
    }
}
