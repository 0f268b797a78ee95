//! Parts and arrays of `ndarray`.

use crate::common::product::ORDERS;
use crate::common::{devices, random::Random};
use ndarray::{Array2, s};
use tilewright::{ErrorKind, Order};
use tilewright_test_support::assert_kind;

/// Arrays of one unit stride, in either order, and of none.
#[test]
fn arrays_of_every_layout_go_to_parts_and_back() {
    let mut random = Random::new(1);
    let storage = Array2::from_shape_simple_fn((8, 12), || random.wide());
    let row = storage.slice(s![3..4, 2..7]);
    let arrays = [
        storage.slice(s![1..4, 2..7]),
        storage.slice(s![1..6, 2..5]).reversed_axes(),
        storage.slice(s![..3, ..;-1]).slice_move(s![.., ..5]),
        storage.slice(s![..;3, ..;2]).slice_move(s![.., ..5]),
        row.broadcast((3, 5)).unwrap(),
    ];
    for device in devices() {
        for order in ORDERS {
            for array in &arrays {
                let mut matrix = device.matrix_zeros::<f64>((6, 9, order)).unwrap();
                let mut part = matrix.slice_mut(2..5, 1..6).unwrap();
                part.copy_from_array(array.view()).unwrap();
                assert_eq!(part.view().to_array2().unwrap(), array);
                let mut places = [
                    Array2::zeros((3, 5)),
                    Array2::zeros((3, 9)),
                    Array2::zeros((5, 4)),
                    Array2::zeros((6, 10)),
                ];
                let [packed, gaps, columns, steps] = &mut places;
                for place in [
                    packed.view_mut(),
                    gaps.slice_mut(s![.., 2..7]),
                    columns.slice_mut(s![.., ..3]).reversed_axes(),
                    steps.slice_mut(s![..;-2, ..;2]),
                ] {
                    part.view().copy_to_array(place).unwrap();
                }
                assert_eq!(places[0], array);
                assert_eq!(places[1].slice(s![.., 2..7]), array);
                assert_eq!(
                    places[1].iter().filter(|element| **element != 0.0).count(),
                    15
                );
                assert_eq!(places[2].slice(s![.., ..3]), array.t());
                assert_eq!(places[3].slice(s![..;-2, ..;2]), array);
                let all = matrix.to_array2().unwrap();
                assert_eq!(all.slice(s![2..5, 1..6]), array);
                assert_eq!(all.iter().filter(|element| **element != 0.0).count(), 15);
            }
        }
    }
}

#[test]
fn parts_of_arrays_keep_their_order() {
    let storage = Array2::from_shape_fn((6, 8), |(row, column)| (row * 8 + column) as f32);
    let part = storage.slice(s![1..5, 2..7]);
    for device in devices() {
        for (array, order) in [(part, Order::RowMajor), (part.t(), Order::ColumnMajor)] {
            let matrix = device.matrix_from_array(array).unwrap();
            assert_eq!((matrix.order(), matrix.shape()), (order, array.dim()));
            assert_eq!(matrix.to_array2().unwrap(), array);
        }
        let mut matrix = device.matrix_zeros::<f32>((4, 4)).unwrap();
        let error = matrix.view_mut().copy_from_array(part).unwrap_err();
        assert_kind!(error is ErrorKind::ShapeMismatch { .. });
    }
}
