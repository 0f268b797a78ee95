//! Calls that are refused, after which the device still scans.

use crate::common::devices;
use tilewright::{Device, ErrorKind, SimulatorOptions};
use tilewright_test_support::assert_kind;

#[test]
fn sums_of_a_wrong_length_are_refused() {
    for device in devices() {
        let x = device.upload(&[1_u32, 2, 3]).unwrap();
        for len in [2, 4] {
            let mut sums = device.zeros::<u32>(len).unwrap();
            let error = device.scan_inclusive_into(&x, &mut sums).unwrap_err();
            assert_kind!(
                error is ErrorKind::WrongLength { expected: 3, found, .. } if *found == len
            );
            assert_eq!(error.operation(), "scan_inclusive_into");
            assert_eq!(sums.to_vec().unwrap(), vec![0; len]);
        }
        let mut sums = device.zeros::<u32>(3).unwrap();
        device.scan_exclusive_into(&x, &mut sums).unwrap();
        assert_eq!(sums.to_vec().unwrap(), [0, 1, 3]);
    }
}

#[test]
fn buffers_of_another_device_are_refused() {
    let other = Device::simulator();
    let foreign = other.upload(&[1.0_f32]).unwrap();
    let mut foreign_sums = other.zeros::<f32>(1).unwrap();
    for device in devices() {
        let x = device.upload(&[1.0_f32]).unwrap();
        for error in [
            device.scan_exclusive(&foreign).unwrap_err(),
            device
                .scan_exclusive_into(&x, &mut foreign_sums)
                .unwrap_err(),
        ] {
            assert_kind!(error is ErrorKind::WrongDevice { .. });
        }
    }
}

#[test]
fn without_memory_for_the_sums_the_scan_is_an_error() {
    const ELEMENTS: usize = 1 << 14;
    let options = SimulatorOptions::default().with_memory_bytes(6 * ELEMENTS as u64);
    let device = Device::simulator_with(options);
    let x = device.zeros::<u32>(ELEMENTS).unwrap();
    let error = device.scan_inclusive(&x).unwrap_err();
    assert_kind!(error is ErrorKind::OutOfMemory { .. });
    let sums = device.scan_inclusive(x.slice(..9).unwrap()).unwrap();
    assert_eq!(sums.to_vec().unwrap(), [0; 9]);
}
