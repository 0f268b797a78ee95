//! Element-wise maps: shapes, orders, gaps, repeated operands, and every size of results.

use crate::simulators;
use tilewright::{Device, ErrorKind, MatrixView, ModuleSource};
use tilewright_kernels::map::Map;
use tilewright_test_support::assert_kind;

/// a + 10 b + 100 c + 1000 d, wrapping.
pub struct Digits;

impl Map<u32, 4> for Digits {
    type Output = u32;

    fn map([a, b, c, d]: [u32; 4], _index: usize) -> u32 {
        let high = c.wrapping_add(d.wrapping_mul(10)).wrapping_mul(10);
        a.wrapping_add(b.wrapping_add(high).wrapping_mul(10))
    }
}

/// x and the index of its result.
pub struct Indexed;

impl Map<u32, 1> for Indexed {
    type Output = [u64; 3];

    fn map([x]: [u32; 1], index: usize) -> [u64; 3] {
        [u64::from(x), index as u64, 7]
    }
}

/// Whether an element is the smaller one.
pub struct IsLess;

impl Map<f64, 2> for IsLess {
    type Output = u8;

    fn map([x, y]: [f64; 2], _index: usize) -> u8 {
        u8::from(x < y)
    }
}

/// The difference in a wider type.
pub struct Difference;

impl Map<u8, 2> for Difference {
    type Output = i16;

    fn map([x, y]: [u8; 2], _index: usize) -> i16 {
        i16::from(x) - i16::from(y)
    }
}

tilewright_kernels::maps! {
    /// Sums of digits.
    digits: Digits of [u32; 4];
    /// Elements with indices.
    indexed: Indexed of [u32; 1];
    /// Comparisons.
    is_less: IsLess of [f64; 2];
    /// Differences.
    difference: Difference of [u8; 2];
}

// SAFETY: (1) there are no images.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("custom_maps", &[]) };

fn numbers(count: usize, seed: usize) -> Vec<u32> {
    (0..count)
        .map(|i| ((i + seed) * 7919 % 1021) as u32)
        .collect()
}

/// The element of a view of a matrix of `data` of `shape`, repeated.
fn at(view: &MatrixView<'_, u32>, data: &[u32], row: usize, column: usize) -> u32 {
    let (row, column) = (row.min(view.rows() - 1), column.min(view.cols() - 1));
    data[row * view.cols() + column]
}

const SHAPES: [(usize, usize); 8] = [
    (1, 1),
    (3, 4),
    (2, 5),
    (7, 64),
    (5, 1027),
    (40, 128),
    (1, 9000),
    (3000, 1),
];

#[test]
fn operands_of_either_order_with_gaps_are_mapped_and_repeated() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        for (rows, cols) in SHAPES {
            let full = numbers(rows * cols, 1);
            let a = device.matrix((rows, cols), &full).unwrap();
            let (of_columns, of_rows) = (numbers(cols, 2), numbers(rows, 3));
            let b = device.matrix((1, cols), &of_columns).unwrap();
            let c = device.matrix((rows, 1), &of_rows).unwrap();
            let gaps = device.matrix((rows + 1, cols + 3), &numbers((rows + 1) * (cols + 3), 4));
            let gaps = gaps.unwrap();
            let d = gaps.slice(1.., 3..).unwrap();
            let dense = d.to_vec().unwrap();
            let turned: Vec<u32> = (0..cols * rows)
                .map(|i| full[i % rows * cols + i / rows])
                .collect();
            let turned = device.matrix((cols, rows), &turned).unwrap();
            let one = device.matrix((1, 1), &[9_u32]).unwrap();
            for (views, data) in [
                (
                    [a.view(), b.view(), c.view(), d],
                    [&full, &of_columns, &of_rows, &dense],
                ),
                ([a.view(); 4], [&full; 4]),
                (
                    [turned.t(), a.view(), one.view(), turned.t()],
                    [&full, &full, &vec![9], &full],
                ),
                (
                    [one.view(), b.view(), c.view(), one.view()],
                    [&vec![9], &of_columns, &of_rows, &vec![9]],
                ),
            ] {
                let expected: Vec<u32> = (0..rows * cols)
                    .map(|i| {
                        let elements: Vec<u32> = (0..4)
                            .map(|k| at(&views[k], data[k], i / cols, i % cols))
                            .collect();
                        Digits::map(elements.try_into().unwrap(), i)
                    })
                    .collect();
                let found = module.map(digits, views).unwrap();
                assert_eq!(found.shape(), (rows, cols));
                assert_eq!(found.to_vec().unwrap(), expected, "{rows} x {cols}");

                let mut into = device.matrix_zeros((rows, cols + 5)).unwrap();
                let mut part = into.slice_mut(.., 2..cols + 2).unwrap();
                module.map_into(digits, views, &mut part).unwrap();
                let part = into.slice(.., 2..cols + 2).unwrap();
                assert_eq!(part.to_vec().unwrap(), expected, "into a part");
                assert!(
                    into.slice(.., ..2)
                        .unwrap()
                        .to_vec()
                        .unwrap()
                        .iter()
                        .all(|&it| it == 0)
                );
            }
        }
    }
}

#[test]
fn buffers_are_mapped_with_indices_and_results_of_every_size() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        for len in [1, 3, 4, 1023, 4096, 5001] {
            let data = numbers(len + 1, 5);
            let x = device.upload(&data).unwrap();
            for start in [0, 1] {
                let part = x.slice(start..start + len).unwrap();
                let found = module.map_buffers(indexed, [part]).unwrap();
                let expected: Vec<_> = (0..len)
                    .map(|i| Indexed::map([data[start + i]], i))
                    .collect();
                assert_eq!(found.to_vec().unwrap(), expected, "{len}");
            }
            let floats: Vec<f64> = data.iter().map(|&x| f64::from(x)).collect();
            let y = device.upload(&floats).unwrap();
            let limit = device.upload(&[500.0]).unwrap();
            let found = module
                .map_buffers(is_less, [y.view(), limit.view()])
                .unwrap();
            let expected: Vec<u8> = floats.iter().map(|&x| u8::from(x < 500.0)).collect();
            assert_eq!(found.to_vec().unwrap(), expected, "{len}");
            let bytes: Vec<u8> = data.iter().map(|&x| x as u8).collect();
            let z = device.upload(&bytes).unwrap();
            let mut found = device.zeros(len + 1).unwrap();
            let operands = [z.view(), z.view()];
            module
                .map_buffers_into(difference, operands, &mut found)
                .unwrap();
            assert_eq!(found.to_vec().unwrap(), vec![0; len + 1]);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_nothing() {
    let (device, other) = (Device::simulator(), Device::simulator());
    let module = device.load(&KERNELS).unwrap();
    let x = device.matrix((2, 3), &numbers(6, 0)).unwrap();
    let y = device.matrix((3, 2), &numbers(6, 0)).unwrap();
    let error = module
        .map(digits, [x.view(), x.view(), x.view(), y.view()])
        .unwrap_err();
    assert_kind!(error is ErrorKind::ShapeMismatch { .. });
    assert_eq!(error.operation(), "map");
    let mut results = device.matrix_zeros((3, 3)).unwrap();
    let error = module
        .map_into(digits, [x.view(); 4], &mut results)
        .unwrap_err();
    assert_kind!(error is ErrorKind::ShapeMismatch { .. });
    let foreign = other.matrix((2, 3), &numbers(6, 0)).unwrap();
    let error = module.map(indexed, [foreign.view()]).unwrap_err();
    assert_kind!(error is ErrorKind::WrongDevice { .. });
    let (two, three) = (
        device.upload(&[1.0, 2.0]).unwrap(),
        device.upload(&[1.0; 3]).unwrap(),
    );
    let error = module
        .map_buffers(is_less, [two.view(), three.view()])
        .unwrap_err();
    assert_kind!(error is ErrorKind::WrongLength { .. });

    let none = device.matrix::<u32>((0, 3), &[]).unwrap();
    assert_eq!(module.map(indexed, [none.view()]).unwrap().shape(), (0, 3));
    let none = device.upload::<f64>(&[]).unwrap();
    let one = device.upload(&[1.0]).unwrap();
    let found = module
        .map_buffers(is_less, [none.view(), one.view()])
        .unwrap();
    assert!(found.is_empty());
}
