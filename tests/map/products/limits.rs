//! Parts of matrices, and calls that are refused.

use super::*;
use tilewright::{ErrorKind, Profile, SimulatorOptions};
use tilewright_test_support::assert_kind;

#[test]
fn results_and_operands_can_be_parts_of_matrices() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        let a = matrix::<f16>(&device, (20, 50), Order::RowMajor);
        let b = matrix::<f16>(&device, (50, 30), Order::ColumnMajor);
        // Rows that start at no multiple of 16 bytes.
        let (of_a, of_b) = (
            a.slice(1..18, 3..44).unwrap(),
            b.slice(3..44, 2..27).unwrap(),
        );
        let up = matrix::<f16>(&device, (17, 25), Order::RowMajor);
        let mut whole = device.matrix_zeros::<f16>((19, 40)).unwrap();
        let mut part = whole.slice_mut(1..18, 5..30).unwrap();
        module
            .map_product_into(gate_f16, (of_a, of_b), [up.view()], &0, &mut part)
            .unwrap();
        let packed = module
            .map_product(gate_f16, (of_a, of_b), [up.view()], &0)
            .unwrap();
        let (packed, whole) = (packed.to_vec().unwrap(), whole.to_vec().unwrap());
        for (i, &found) in whole.iter().enumerate() {
            let (row, column) = (i / 40, i % 40);
            let is_inside = (1..18).contains(&row) && (5..30).contains(&column);
            let expected = match is_inside {
                true => packed[(row - 1) * 25 + column - 5],
                false => f16::ZERO,
            };
            assert_eq!(found, expected, "at ({row}, {column})");
        }
        assert!(packed.iter().any(|&it| it != f16::ZERO));
    }
}

/// Operands whose rows start at no multiple of 16 bytes are copied in the stream of the call.
#[test]
fn operands_of_other_streams_are_copied_in_order() {
    for device in simulators() {
        let [of_a, of_b, of_other] = [(); 3].map(|()| device.new_stream().unwrap());
        let module = device.load(&KERNELS).unwrap();
        let a = matrix::<f16>(&of_a, (17, 41), Order::RowMajor);
        let b = matrix::<f16>(&of_b, (41, 25), Order::ColumnMajor);
        let up = matrix::<f16>(&of_other, (17, 25), Order::RowMajor);
        let found = module.map_product(gate_f16, (&a, &b), [up.view()], &0);
        let found = found.unwrap().to_vec().unwrap();
        let a = matrix::<f16>(&device, (17, 41), Order::RowMajor);
        let b = matrix::<f16>(&device, (41, 25), Order::ColumnMajor);
        let expected = module.map_product(gate_f16, (&a, &b), [up.view()], &0);
        assert_eq!(found, expected.unwrap().to_vec().unwrap());
    }
}

/// Columns without elements start any number of elements apart.
#[test]
fn more_results_than_a_grid_has_are_an_error() {
    let device = Device::simulator();
    let module = device.load(&KERNELS).unwrap();
    let a = device.matrix_zeros((1 << 63, 0, Order::ColumnMajor));
    let b = device.matrix_zeros((0, 1)).unwrap();
    let error = module.map_product(nothing, (&a.unwrap(), &b), [], &0);
    let error = error.unwrap_err();
    assert_kind!(error is ErrorKind::TooLarge { .. });
}

#[test]
fn what_does_not_fit_is_an_error() {
    let device = Device::simulator();
    let module = device.load(&KERNELS).unwrap();
    let a = matrix::<f32>(&device, (4, 6), Order::RowMajor);
    let other = matrix::<f32>(&device, (4, 4), Order::RowMajor);
    let error = module
        .map_product(gate_small, (&a, &a), [other.view()], &0)
        .unwrap_err();
    assert_kind!(error is ErrorKind::ShapeMismatch { .. });
    let error = module
        .map_product(gate_small, (&a, a.t()), [a.view()], &0)
        .unwrap_err();
    assert_kind!(error is ErrorKind::ShapeMismatch { .. });
    let mut across = device
        .matrix_zeros::<f32>((4, 4, Order::ColumnMajor))
        .unwrap();
    let error = module
        .map_product_into(gate_small, (&a, a.t()), [other.view()], &0, &mut across)
        .unwrap_err();
    assert_kind!(error is ErrorKind::NoKernel { .. });
    let elsewhere = matrix::<f32>(&Device::simulator(), (4, 4), Order::RowMajor);
    let error = module
        .map_product(gate_small, (&a, a.t()), [elsewhere.view()], &0)
        .unwrap_err();
    assert_kind!(error is ErrorKind::WrongDevice { .. });
    // A result without elements takes no launch.
    let nothing = device.matrix_zeros::<f32>((0, 6)).unwrap();
    let up = device.matrix_zeros::<f32>((0, 4)).unwrap();
    let found = module
        .map_product(gate_small, (&nothing, a.t()), [up.view()], &0)
        .unwrap();
    assert_eq!(found.shape(), (0, 4));
}

#[test]
fn warpgroups_read_operands_along_k() {
    let device = Device::simulator();
    let module = device.load(&KERNELS).unwrap();
    let a = matrix::<f16>(&device, (8, 8), Order::RowMajor);
    let error = module
        .map_product(gate_f16_warpgroup_large, (&a, &a), [a.view()], &0)
        .unwrap_err();
    assert_kind!(error is ErrorKind::NoKernel { .. });
    assert!(error.to_string().contains("column-major B"), "{error}");
    let old = Device::simulator_with(SimulatorOptions::default().with_profile(Profile::A100));
    let module = old.load(&KERNELS).unwrap();
    let a = matrix::<f16>(&old, (8, 8), Order::RowMajor);
    let error = module
        .map_product(gate_f16_warpgroup_large, (&a, a.t()), [a.view()], &0)
        .unwrap_err();
    assert!(error.to_string().contains("sm_90a"), "{error}");
    module
        .map_product(gate_f16, (&a, a.t()), [a.view()], &0)
        .unwrap();
}

#[test]
fn tensor_cores_need_warps_of_32_threads() {
    let options = SimulatorOptions::default().with_warp_width(64);
    let device = Device::simulator_with(options);
    let module = device.load(&KERNELS).unwrap();
    let a = matrix::<f16>(&device, (4, 4), Order::RowMajor);
    let error = module
        .map_product(gate_f16, (&a, &a), [a.view()], &0)
        .unwrap_err();
    assert_kind!(error is ErrorKind::NoKernel { .. });
    assert!(
        error.to_string().contains("is for warps of 32 threads"),
        "{error}"
    );
    // Those of f32 run anywhere.
    let a = matrix::<f32>(&device, (4, 4), Order::RowMajor);
    module
        .map_product(gate_small, (&a, &a), [a.view()], &0)
        .unwrap();
}
