//! Scans by operations of this crate's own.

use crate::samples::tile;
use tilewright::testing::seeds;
use tilewright::{Device, ErrorKind, ModuleSource, SimulatorOptions, ops};
use tilewright_kernels::reduce::Reduction;
use tilewright_test_support::assert_kind;

/// x -> a x + b, composed from left to right: associative, but not commutative.
pub struct Compose;

impl Reduction<[u32; 2]> for Compose {
    type Accumulator = [u32; 2];
    type Output = [u32; 2];
    const IDENTITY: [u32; 2] = [1, 0];

    fn lift(element: [u32; 2], _index: usize) -> [u32; 2] {
        element
    }

    fn combine([a, b]: [u32; 2], [c, d]: [u32; 2]) -> [u32; 2] {
        [a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d)]
    }

    fn finish(total: [u32; 2], _elements: usize) -> [u32; 2] {
        total
    }
}

/// The sum of the indices, their number, and the number that `finish` has: wider than an element.
pub struct Indices;

impl Reduction<u8> for Indices {
    type Accumulator = [u64; 2];
    type Output = [u64; 3];
    const IDENTITY: [u64; 2] = [0; 2];
    const NEEDS_AN_ELEMENT: bool = true;

    fn lift(element: u8, index: usize) -> [u64; 2] {
        assert_eq!(element, 1);
        [index as u64, 1]
    }

    fn combine(left: [u64; 2], right: [u64; 2]) -> [u64; 2] {
        [left[0] + right[0], left[1] + right[1]]
    }

    fn finish([sum, count]: [u64; 2], elements: usize) -> [u64; 3] {
        [sum, count, elements as u64]
    }
}

/// The library's sum, with results of half the size.
pub struct Narrow;

impl Reduction<f64> for Narrow {
    type Accumulator = f64;
    type Output = f32;
    const IDENTITY: f64 = 0.0;

    fn lift(element: f64, _index: usize) -> f64 {
        element
    }

    fn combine(left: f64, right: f64) -> f64 {
        left + right
    }

    fn finish(total: f64, _elements: usize) -> f32 {
        total as f32
    }
}

tilewright_kernels::reductions! {
    /// Composed maps.
    compose: Compose of scans of [u32; 2];
    /// Sums of indices.
    indices: Indices of scans of u8;
    /// Prefix sums.
    narrow: Narrow of scans of f64;
}

/// A module whose items have names that the macro's own text would have without paths.
mod shadowing {
    use super::Narrow;

    /// Not the size of `T`: less shared memory than a tile takes.
    #[allow(
        clippy::extra_unused_type_parameters,
        reason = "the signature of the function that it hides"
    )]
    pub const fn size_of<T>() -> usize {
        16
    }

    tilewright_kernels::reductions! {
        /// Prefix sums.
        shadowed: Narrow of scans of f64;
    }
}

// SAFETY: (1) there are no images.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("custom_scans", &[]) };

fn simulators() -> impl Iterator<Item = Device> {
    let options = |seed| SimulatorOptions::default().with_seed(seed);
    seeds(3).map(options).map(Device::simulator_with)
}

#[test]
fn accumulators_are_combined_in_order() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        for len in [1, 63, 64, 1000, 4096, 5000, 33 * tile::<[u32; 2]>() + 1] {
            let x: Vec<[u32; 2]> = (0..len as u32).map(|i| [(i * 7919) | 1, i * 31]).collect();
            let initial = [3, 4];
            let (mut inclusive, mut exclusive) = (Vec::new(), Vec::new());
            let (mut total, mut before) = (Compose::IDENTITY, initial);
            for &element in &x {
                exclusive.push(before);
                before = Compose::combine(before, element);
                total = Compose::combine(total, element);
                inclusive.push(total);
            }
            let x = device.upload(&x).unwrap();
            let found = module.scan_inclusive(compose, &x).unwrap();
            assert!(found.to_vec().unwrap() == inclusive, "{len}");
            let found = module.scan_exclusive(compose, &x, initial).unwrap();
            assert!(found.to_vec().unwrap() == exclusive, "{len}");
        }
    }
}

#[test]
fn elements_come_with_their_indices_in_the_row_and_none_that_do_not_exist() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        for (rows, len) in [(70, 5), (3, 513), (2, 9000), (1, 40_000)] {
            let ones = device.matrix((rows, len), &vec![1_u8; rows * len]).unwrap();
            let found = module.scan_rows_inclusive(indices, &ones).unwrap();
            let expected: Vec<_> = (0..rows * len)
                .map(|i| (i % len) as u64)
                .map(|i| [i * (i + 1) / 2, i + 1, i + 1])
                .collect();
            assert!(found.to_vec().unwrap() == expected, "{rows} x {len}");
            let found = module.scan_rows_exclusive(indices, &ones, 1).unwrap();
            let expected: Vec<_> = (0..rows * len)
                .map(|i| (i % len) as u64)
                .map(|i| [i * i.saturating_sub(1) / 2, i + 1, i])
                .collect();
            assert!(
                found.to_vec().unwrap() == expected,
                "{rows} x {len}, exclusive"
            );
            let error = module
                .scan_rows_exclusive(indices, &ones, None)
                .unwrap_err();
            assert_kind!(error is ErrorKind::NoElements { .. });
        }
    }
}

/// Results that are larger than elements, and those that are as large.
#[test]
fn columns_and_segments_are_scanned_like_rows() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        for (lines, len) in [(70, 5), (3, 600), (2, 33_000)] {
            let ones = device
                .matrix((lines, len), &vec![1_u8; lines * len])
                .unwrap();
            let expected = module.scan_rows_exclusive(indices, &ones, 1).unwrap();
            let expected = expected.to_vec().unwrap();
            let across = device
                .matrix((len, lines), &vec![1_u8; lines * len])
                .unwrap();
            let found = module.scan_columns_exclusive(indices, &across, 1).unwrap();
            for (place, found) in found.to_vec().unwrap().into_iter().enumerate() {
                let (row, line) = (place / lines, place % lines);
                assert_eq!(
                    found,
                    expected[line * len + row],
                    "{lines} columns of {len}"
                );
            }
            let offsets: Vec<usize> = (0..=lines).map(|line| line * len).collect();
            let segments = device.segments(&offsets).unwrap();
            let x = device.upload(&vec![1_u8; lines * len]).unwrap();
            let found = module
                .scan_segments_exclusive(indices, &x, &segments, 1)
                .unwrap();
            assert!(
                found.to_vec().unwrap() == expected,
                "{lines} segments of {len}"
            );

            // Tiles of fewer elements.
            let len = len.min(5000);
            let offsets: Vec<usize> = (0..=lines).map(|line| line * len).collect();
            let segments = device.segments(&offsets).unwrap();
            let maps: Vec<[u32; 2]> = (0..(lines * len) as u32)
                .map(|i| [(i * 7919) | 1, i * 31])
                .collect();
            let rows = device.matrix((lines, len), &maps).unwrap();
            let expected = module.scan_rows_inclusive(compose, &rows).unwrap();
            let expected = expected.to_vec().unwrap();
            let columns: Vec<_> = (0..lines * len)
                .map(|i| maps[i % lines * len + i / lines])
                .collect();
            let columns = device.matrix((len, lines), &columns).unwrap();
            let mut found = device.matrix_zeros::<[u32; 2]>((len, lines)).unwrap();
            module
                .scan_columns_inclusive_into(compose, &columns, &mut found)
                .unwrap();
            for (place, found) in found.to_vec().unwrap().into_iter().enumerate() {
                let (row, line) = (place / lines, place % lines);
                assert_eq!(
                    found,
                    expected[line * len + row],
                    "{lines} columns of {len}"
                );
            }
            let x = device.upload(&maps).unwrap();
            let found = module
                .scan_segments_inclusive(compose, &x, &segments)
                .unwrap();
            assert!(
                found.to_vec().unwrap() == expected,
                "{lines} segments of {len}"
            );
        }
    }
}

#[test]
fn an_operation_that_the_library_has_gives_its_bits() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        let x: Vec<f64> = (0..3 * tile::<f64>() + 2)
            .map(|i| ((i * 7919 % 1021) as f64).sin())
            .collect();
        let x = device.upload(&x).unwrap();
        let expected = device
            .scan_inclusive_by(&x, ops::Sum)
            .unwrap()
            .to_vec()
            .unwrap();
        let expected: Vec<u32> = expected.iter().map(|&sum| (sum as f32).to_bits()).collect();
        let mut found = device.uninit(x.len()).unwrap();
        module.scan_inclusive_into(narrow, &x, &mut found).unwrap();
        let found: Vec<u32> = found
            .to_vec()
            .unwrap()
            .iter()
            .map(|sum: &f32| sum.to_bits())
            .collect();
        assert!(found == expected);
    }
}

#[test]
fn names_of_the_calling_module_change_no_kernel() {
    assert_eq!(shadowing::size_of::<f64>(), 16);
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        let x: Vec<f64> = (0..3 * tile::<f64>()).map(|i| (i % 7) as f64).collect();
        let x = device.upload(&x).unwrap();
        let found = module.scan_inclusive(shadowing::shadowed, &x).unwrap();
        let expected = module.scan_inclusive(narrow, &x).unwrap();
        assert_eq!(found.to_vec().unwrap(), expected.to_vec().unwrap());
    }
}
