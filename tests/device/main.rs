//! Devices, buffers, matrices and events, on every device at hand.

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "ndarray")]
mod arrays;
mod buffers;
mod environment;
mod memory;

use common::devices;
use std::time::Duration;
use tilewright::{Buffer, Device, Error, ErrorKind, Event, Matrix, Module};
use tilewright_test_support::assert_kind;

#[test]
fn operands_of_another_device_are_refused() {
    let other = Device::simulator();
    let foreign = other.upload(&[1_u8]).unwrap();
    for device in devices() {
        let mut own = device.upload(&[2_u8]).unwrap();
        let error = own.copy_from_buffer(&foreign).unwrap_err();
        assert_kind!(error is ErrorKind::WrongDevice { .. });
        assert_eq!(own.to_vec().unwrap(), [2]);

        let earlier = other.record_event().unwrap();
        let error = device.record_event().unwrap().elapsed_since(&earlier);
        assert!(matches!(
            error.as_ref().map_err(Error::kind),
            Err(ErrorKind::WrongDevice { .. })
        ));
    }
}

#[test]
fn clones_are_the_same_device() {
    for device in devices() {
        let clone = device.clone();
        assert!(clone.is_same(&device));
        let mut buffer = device.upload(&[0_u8]).unwrap();
        buffer
            .copy_from_buffer(&clone.upload(&[9_u8]).unwrap())
            .unwrap();
        drop((device, clone));
        assert_eq!(buffer.to_vec().unwrap(), [9]);
    }
    assert!(!Device::simulator().is_same(&Device::simulator()));
}

#[test]
fn events_measure_time_that_passes() {
    for device in devices() {
        let earlier = device.record_event().unwrap();
        device.synchronize().unwrap();
        std::thread::sleep(Duration::from_millis(2));
        let later = device.record_event().unwrap();
        later.synchronize().unwrap();
        assert!(earlier.is_done().unwrap() && later.is_done().unwrap());
        let elapsed = later.elapsed_since(&earlier).unwrap();
        assert!(elapsed >= Duration::from_millis(1), "{elapsed:?}");
        assert_eq!(earlier.elapsed_since(&later).unwrap(), Duration::ZERO);
    }
}

#[test]
fn devices_and_buffers_are_shared_between_threads() {
    for device in devices() {
        let buffer = device.upload(&[1_u32; 4096]).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8_u32 {
                let (device, buffer) = (&device, &buffer);
                scope.spawn(move || {
                    assert_eq!(buffer.to_vec().unwrap(), vec![1; 4096]);
                    let own = device.upload(&vec![thread; 1000]).unwrap();
                    assert_eq!(own.to_vec().unwrap(), vec![thread; 1000]);
                });
            }
        });
    }
}

#[test]
fn all_types_can_be_sent_and_shared() {
    fn is_send_and_sync<T: Send + Sync + 'static>() {}
    is_send_and_sync::<Device>();
    is_send_and_sync::<Buffer<f32>>();
    is_send_and_sync::<Matrix<f64>>();
    is_send_and_sync::<Module>();
    is_send_and_sync::<Event>();
    is_send_and_sync::<Error>();
}

#[test]
fn with_current_gives_the_result_of_its_body() {
    for device in devices() {
        let name = device.with_current(|| device.name().to_owned()).unwrap();
        assert_eq!(name, device.name());
        assert_eq!(device.raw_stream().is_none(), device.is_simulator());
    }
}
