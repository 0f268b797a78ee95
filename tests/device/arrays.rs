//! Arrays of `ndarray`.

use crate::common::devices;
use ndarray::{Array2, s};

#[test]
fn arrays_of_every_layout_keep_their_elements() {
    let array = Array2::from_shape_fn((6, 5), |(row, column)| (row * 5 + column) as f32);
    let views = [
        array.view(),
        array.t(),
        array.slice(s![1..4, ..]),
        array.slice(s![.., 1..;2]),
        array.slice(s![..;-1, ..;-2]),
        array.slice(s![2..2, ..]),
        array.slice(s![.., 5..]),
    ];
    for device in devices() {
        for view in &views {
            let matrix = device.matrix_from_array(view.view()).unwrap();
            assert_eq!(matrix.shape(), view.dim());
            assert_eq!(matrix.to_array2().unwrap(), view);
            let buffer = device.upload_array(view.view()).unwrap();
            let elements: Vec<f32> = view.iter().copied().collect();
            assert_eq!(buffer.to_array1().unwrap().to_vec(), elements);
        }
    }
}
