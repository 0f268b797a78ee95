//! Kernels without `unsafe`: no two threads have one index, in launches of any shape.

use crate::{launch, machines, try_launch};
use cuda_std_test_kernels::own::{
    add_neighbours, apply_all_operations, count_owners, count_owners_2d, histogram, last_of_rows,
    transpose_rows,
};
use tilewright::{ErrorKind, LaunchConfig, Order};

/// Launches of one, two and three dimensions, with fewer and with more threads than elements.
fn shapes() -> [LaunchConfig; 5] {
    [
        LaunchConfig::new(1, 1),
        LaunchConfig::new(3, 7),
        LaunchConfig::new((2, 2), (5, 3)),
        LaunchConfig::new((2, 1, 2), (3, 2, 2)),
        LaunchConfig::new(2, 64),
    ]
}

#[test]
fn each_element_belongs_to_one_thread() {
    for device in machines() {
        for config in shapes() {
            let mut out = device.upload(&[0_u32; 100]).unwrap();
            launch(&device, count_owners, config, (&mut out,));
            assert_eq!(out.to_vec().unwrap(), [1; 100], "{device:?} {config:?}");
        }
    }
}

#[test]
fn each_element_of_a_matrix_belongs_to_one_thread() {
    for device in machines() {
        for config in [
            LaunchConfig::for_matrix((13, 9), (4, 3)),
            LaunchConfig::new((1, 1, 3), (16, 5)),
            LaunchConfig::new((2, 1, 2), (5, 1, 7)),
        ] {
            let mut out = device.matrix_zeros::<u32>((13, 9)).unwrap();
            launch(&device, count_owners_2d, config, (&mut out,));
            assert_eq!(out.to_vec().unwrap(), [1; 117], "{device:?} {config:?}");
        }
    }
}

#[test]
fn matrices_are_transposed_in_place_of_a_larger_one() {
    let values: Vec<f32> = (0..35).map(|i| i as f32).collect();
    for device in machines() {
        let x = device.matrix((5, 7), &values).unwrap();
        let mut y = device.matrix((9, 6), &[-1.0_f32; 54]).unwrap();
        let config = LaunchConfig::for_matrix((7, 4), (4, 4));
        // Rows 1.. of x, to rows 1..8 and columns 2.. of y.
        let from = x.slice(1.., ..).unwrap();
        let to = y.slice_mut(1..8, 2..).unwrap();
        launch(&device, transpose_rows, config, (from, to));
        let found = y.to_vec().unwrap();
        for (place, found) in found.into_iter().enumerate() {
            let (row, column) = (place / 6, place % 6);
            let inside = (1..8).contains(&row) && column >= 2;
            let expected = if inside {
                values[(column - 1) * 7 + row - 1]
            } else {
                -1.0
            };
            assert_eq!(found, expected, "{device:?} {row} {column}");
        }
    }
}

#[test]
fn neighbours_are_added() {
    for device in machines() {
        let x = device.matrix((3, 4), &[1.0_f32; 12]).unwrap();
        let mut y = device.matrix_zeros::<f32>((3, 4)).unwrap();
        let config = LaunchConfig::for_matrix(x.shape(), (8, 2));
        launch(&device, add_neighbours, config, (&x, &mut y));
        let expected = [3, 4, 4, 3, 4, 5, 5, 4, 3, 4, 4, 3].map(|sum| sum as f32);
        assert_eq!(y.to_vec().unwrap(), expected, "{device:?}");
    }
}

#[test]
fn rows_are_views() {
    for device in machines() {
        let x = device
            .matrix((3, 4), &(0..12).collect::<Vec<u32>>())
            .unwrap();
        let mut out = device.upload(&[0_u32; 4]).unwrap();
        let left = x.slice(.., ..3).unwrap();
        launch(
            &device,
            last_of_rows,
            LaunchConfig::new(1, 4),
            (left, &mut out),
        );
        assert_eq!(out.to_vec().unwrap(), [2, 6, 10, 7], "{device:?}");
        let none = x.slice(.., 1..1).unwrap();
        launch(
            &device,
            last_of_rows,
            LaunchConfig::new(1, 4),
            (none, &mut out),
        );
        assert_eq!(out.to_vec().unwrap(), [7; 4], "{device:?}");
    }
}

#[test]
fn columns_are_refused_where_kernels_take_rows() {
    for device in machines() {
        let x = device
            .matrix((2, 3, Order::ColumnMajor), &[0.0_f32; 6])
            .unwrap();
        let mut y = device.matrix_zeros::<f32>((3, 2)).unwrap();
        let config = LaunchConfig::for_matrix((3, 2), (4, 4));
        let error = try_launch(&device, transpose_rows, config, (&x, &mut y)).unwrap_err();
        let ErrorKind::LaunchConfig { kernel, reason } = error.kind() else {
            panic!("{error}");
        };
        assert_eq!(*kernel, "transpose_rows");
        assert!(
            reason.starts_with("argument 1 is a column-major matrix"),
            "{reason}"
        );
        // The transpose has rows, as has a column in either order.
        launch(
            &device,
            transpose_rows,
            config,
            (x.t().slice(..2, ..).unwrap(), &mut y),
        );
        let column = device
            .matrix((3, 1, Order::ColumnMajor), &[1.0_f32, 2.0, 3.0])
            .unwrap();
        let mut row = device.matrix_zeros::<f32>((1, 3)).unwrap();
        launch(&device, transpose_rows, config, (&column, &mut row));
        assert_eq!(row.to_vec().unwrap(), [1.0, 2.0, 3.0]);
    }
}

#[test]
fn values_are_counted() {
    let values: Vec<u32> = (0..200).map(|i| i * i % 11).collect();
    let mut expected = [5_u32; 10];
    for value in &values {
        // The value 10 has no bin.
        if let Some(bin) = expected.get_mut(*value as usize) {
            *bin += 1;
        }
    }
    for device in machines() {
        for config in shapes() {
            let x = device.upload(&values).unwrap();
            let mut bins = device.upload(&[5_u32; 10]).unwrap();
            launch(&device, histogram, config, (&x, &mut bins));
            assert_eq!(bins.to_vec().unwrap(), expected, "{device:?} {config:?}");
        }
    }
}

#[test]
fn atomic_views_have_all_operations() {
    for device in machines() {
        let start = [1, 50, 2, u32::MAX, 0, 0, 3, 0, 4];
        let mut words = device.upload(&start).unwrap();
        let mut missing = device.upload(&[0_u32]).unwrap();
        let config = LaunchConfig::new(2, 16);
        launch(
            &device,
            apply_all_operations,
            config,
            (&mut words, &mut missing),
        );
        let sum = (0..32).sum::<u32>();
        let expected = [1 + sum, 0, 31, !31, 31, 0, 9, 5, 36];
        assert_eq!(words.to_vec().unwrap(), expected, "{device:?}");
        assert_eq!(missing.to_vec().unwrap(), [4 * 32], "{device:?}");
    }
}
