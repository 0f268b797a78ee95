//! Calls that are refused, after which the device still multiplies.

use crate::cases::{Kernel, Operands, Real, Shape, ways};
use tilewright::{Device, ErrorKind, Matmul, MatmulGroup, SimulatorOptions};
use tilewright_test_support::assert_kind;

for_each_type! {
    [f32 f64]
    mismatched_shapes_are_refused
    results_of_a_wrong_shape_are_refused
    operands_of_another_device_are_refused
    without_memory_the_product_is_an_error_and_the_next_works
    products_that_cannot_be_counted_are_refused
}

/// Fails unless the device multiplies as it should: after an error, to show that it still does.
#[track_caller]
fn assert_works<T: Real>(device: &Device, kernel: Kernel) {
    let operands = Operands::<T>::random(Shape::new(5, 7, 9));
    assert_eq!(operands.multiply(device, kernel), operands.naive());
}

fn mismatched_shapes_are_refused<T: Real>() {
    for (device, kernel) in ways::<T>() {
        let (a, b) = (
            device.matrix_zeros::<T>((3, 4)).unwrap(),
            device.matrix_zeros((5, 6)).unwrap(),
        );
        let mut c = device.matrix_zeros((3, 6)).unwrap();
        for (error, operation) in [
            (
                kernel.multiply(&device, &a, &b).unwrap_err(),
                kernel.name().to_owned(),
            ),
            (
                kernel.multiply_into(&device, &a, &b, &mut c).unwrap_err(),
                format!("{}_into", kernel.name()),
            ),
        ] {
            let ErrorKind::ShapeMismatch {
                left: (3, 4),
                right: (5, 6),
                ..
            } = error.kind()
            else {
                panic!("another error: {error}");
            };
            assert_eq!(error.operation(), operation);
        }
        assert_works::<T>(&device, kernel);
    }
}

fn results_of_a_wrong_shape_are_refused<T: Real>() {
    for (device, kernel) in ways::<T>() {
        let (a, b) = (
            device.matrix_zeros::<T>((3, 4)).unwrap(),
            device.matrix_zeros((4, 6)).unwrap(),
        );
        for (rows, columns) in [(6, 3), (3, 5), (2, 6), (0, 0)] {
            let mut c = device.matrix_zeros((rows, columns)).unwrap();
            let error = kernel.multiply_into(&device, &a, &b, &mut c).unwrap_err();
            let ErrorKind::ShapeMismatch {
                left: (3, 6),
                right,
                ..
            } = error.kind()
            else {
                panic!("another error: {error}");
            };
            assert_eq!(*right, (rows, columns));
        }
        assert_works::<T>(&device, kernel);
    }
}

fn operands_of_another_device_are_refused<T: Real>() {
    let square = |device: &Device| device.matrix_zeros::<T>((4, 4)).unwrap();
    let other = Device::simulator();
    let (foreign, mut foreign_result) = (square(&other), square(&other));
    for (device, kernel) in ways::<T>() {
        let (own, mut own_result) = (square(&device), square(&device));
        for (error, operand) in [
            (kernel.multiply(&device, &foreign, &own).unwrap_err(), "A"),
            (kernel.multiply(&device, &own, &foreign).unwrap_err(), "B"),
            (
                kernel
                    .multiply_into(&device, &foreign, &own, &mut own_result)
                    .unwrap_err(),
                "A",
            ),
            (
                kernel
                    .multiply_into(&device, &own, &own, &mut foreign_result)
                    .unwrap_err(),
                "C",
            ),
        ] {
            let ErrorKind::WrongDevice { what, .. } = error.kind() else {
                panic!("another error: {error}");
            };
            assert!(what.ends_with(operand), "{what} instead of {operand}");
        }
        assert_works::<T>(&device, kernel);
    }
}

fn without_memory_the_product_is_an_error_and_the_next_works<T: Real>() {
    let device = Device::simulator_with(SimulatorOptions::default().with_memory_bytes(1 << 16));
    for &kernel in T::METHODS {
        let (a, b) = (
            device.matrix_zeros::<T>((200, 1)).unwrap(),
            device.matrix_zeros((1, 200)).unwrap(),
        );
        let error = kernel.multiply(&device, &a, &b).unwrap_err();
        let ErrorKind::OutOfMemory { requested, .. } = error.kind() else {
            panic!("another error: {error}");
        };
        assert_eq!(
            (error.operation(), *requested),
            (kernel.name(), 200 * 200 * size_of::<T>() as u64)
        );
        assert_works::<T>(&device, kernel);
    }
}

fn products_that_cannot_be_counted_are_refused<T: Real>() {
    for (device, kernel) in ways::<T>() {
        let (a, b) = (
            device.matrix_zeros::<T>((1 << 40, 0)).unwrap(),
            device.matrix_zeros((0, 1 << 40)).unwrap(),
        );
        let error = kernel.multiply(&device, &a, &b).unwrap_err();
        assert_kind!(error is ErrorKind::TooLarge { .. });
        assert_works::<T>(&device, kernel);
    }
}

#[test]
fn errors_name_the_call_of_a_request() {
    let device = Device::simulator();
    let (a, b) = (
        device.matrix_zeros::<f32>((3, 4)).unwrap(),
        device.matrix_zeros((5, 6)).unwrap(),
    );
    let mut c = device.matrix_zeros((3, 6)).unwrap();
    let (product, group) = (Matmul::new(&a, &b), MatmulGroup::new([(&a, &b)]));
    for (error, operation) in [
        (product.run().unwrap_err(), "Matmul::run"),
        (product.run_as::<f32>().unwrap_err(), "Matmul::run_as"),
        (product.run_into(&mut c).unwrap_err(), "Matmul::run_into"),
        (product.plan().unwrap_err(), "Matmul::plan"),
        (product.plan_as::<f32>().unwrap_err(), "Matmul::plan_as"),
        (device.gram_into(&a, &mut c).unwrap_err(), "gram_into"),
        (
            device.matmul_grouped([(&a, &b)]).unwrap_err(),
            "matmul_grouped",
        ),
        (group.run().unwrap_err(), "MatmulGroup::run"),
        (
            group.run_into(&mut [c.view_mut()]).unwrap_err(),
            "MatmulGroup::run_into",
        ),
    ] {
        assert_kind!(error is ErrorKind::ShapeMismatch { .. });
        assert_eq!(error.operation(), operation);
    }
}
