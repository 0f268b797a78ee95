//! The host reads what nothing has written: an error on the simulator, where memory is checked.

use tilewright::{Device, ErrorKind, SimulatorError, SimulatorOptions};

#[test]
fn a_buffer_that_nothing_has_written() {
    let device = Device::simulator();
    let mut buffer = device.uninit::<u32>(1000).unwrap();
    let error = buffer.to_vec().unwrap_err();
    assert!(
        matches!(
            error.kind(),
            ErrorKind::Simulator(SimulatorError::NeverWritten {
                bytes: 4000,
                first: 0,
                ..
            })
        ),
        "{error}"
    );
    assert!(buffer.copy_to_slice(&mut [0; 1000]).is_err());
    buffer.copy_from_slice(&[7; 1000]).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), vec![7; 1000]);
}

/// A copy on the device hands on that its source was never written.
#[test]
fn a_copy_of_what_nothing_has_written() {
    let device = Device::simulator();
    let source = device.uninit::<u8>(300).unwrap();
    let mut copy = device.zeros::<u8>(300).unwrap();
    assert_eq!(copy.to_vec().unwrap(), vec![0; 300]);
    let clone = source.try_clone().unwrap();
    let error = clone.to_vec().unwrap_err();
    assert!(
        matches!(
            error.kind(),
            ErrorKind::Simulator(SimulatorError::NeverWritten { .. })
        ),
        "{error}"
    );
    copy.fill_zero().unwrap();
    assert_eq!(copy.to_vec().unwrap(), vec![0; 300]);
}

#[test]
fn nothing_is_said_without_checks() {
    let mut options = SimulatorOptions::default();
    options.checks = false;
    let device = Device::simulator_with(options);
    let buffer = device.uninit::<u32>(10).unwrap();
    assert_eq!(buffer.to_vec().unwrap().len(), 10);
}
