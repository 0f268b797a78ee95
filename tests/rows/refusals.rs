//! Operands that do not fit together are refused, and nothing is written.

use crate::common::devices;
use tilewright::{Device, ErrorKind, Order};
use tilewright_test_support::assert_kind;

#[test]
fn operands_that_do_not_fit_are_refused() {
    for device in devices() {
        let x = device.matrix((2, 3), &[1.0_f32; 6]).unwrap();
        let mut transposed = device.matrix((3, 2), &[5.0_f32; 6]).unwrap();
        let error = device.softmax_into(&x, &mut transposed).unwrap_err();
        assert_kind!(error is ErrorKind::ShapeMismatch { .. });
        assert_eq!(error.operation(), "softmax_into");
        assert_eq!(transposed.to_vec().unwrap(), [5.0; 6]);

        let mut values = device.zeros(3).unwrap();
        let error = device.logsumexp_into(&x, &mut values).unwrap_err();
        assert_kind!(error is ErrorKind::WrongLength { expected: 2, found: 3, .. });
        let classes = device.zeros::<u32>(1).unwrap();
        let error = device.cross_entropy(&x, &classes).unwrap_err();
        assert_kind!(error is ErrorKind::WrongLength { expected: 2, found: 1, .. });
    }
}

#[test]
fn rows_that_are_not_contiguous_are_refused() {
    for device in devices() {
        let x = device
            .matrix((2, 3, Order::ColumnMajor), &[1.0_f32; 6])
            .unwrap();
        let error = device.softmax(&x).unwrap_err();
        assert_kind!(error is ErrorKind::NoKernel { .. });
        assert!(error.to_string().contains("row-major"), "{error}");
        // One row or one column is in both orders.
        let row = device
            .matrix((1, 3, Order::ColumnMajor), &[0.0_f32; 3])
            .unwrap();
        assert_eq!(
            device.softmax(&row).unwrap().to_vec().unwrap(),
            [1.0 / 3.0; 3]
        );
    }
}

#[test]
fn operands_of_another_device_are_refused() {
    let elsewhere = Device::simulator().matrix((1, 1), &[1.0_f32]).unwrap();
    for device in devices() {
        let error = device.softmax(&elsewhere).unwrap_err();
        assert_kind!(error is ErrorKind::WrongDevice { .. });
        assert_eq!(error.operation(), "softmax");
    }
}
