//! The memory of devices and page-locked memory: sizes, and where it ends.

use crate::common::devices;
use tilewright::{Device, ErrorKind, SimulatorOptions};

#[test]
fn sizes_that_overflow_are_refused() {
    for device in devices() {
        let error = device.zeros::<f64>(usize::MAX / 4).unwrap_err();
        assert!(matches!(
            (error.operation(), error.kind()),
            ("zeros", ErrorKind::TooLarge { .. })
        ));
        let error = device.matrix::<f32>((usize::MAX, 2), &[]).unwrap_err();
        assert!(matches!(
            (error.operation(), error.kind()),
            ("matrix", ErrorKind::TooLarge { .. })
        ));
    }
}

#[test]
fn after_running_out_of_memory_the_next_call_works() {
    for device in devices() {
        let memory = device.properties().memory_bytes;
        let requested = usize::try_from(memory).unwrap() + 1;
        let error = device.uninit::<u8>(requested).unwrap_err();
        match error.kind() {
            ErrorKind::OutOfMemory {
                requested: named,
                total,
                ..
            } => assert_eq!((*named, *total), (requested as u64, memory)),
            _ => panic!("another error: {error}"),
        }
        assert_eq!(device.upload(&[5_i64]).unwrap().to_vec().unwrap(), [5]);
    }
}

#[test]
fn simulated_memory_is_given_back() {
    let device = Device::simulator_with(SimulatorOptions::default().with_memory_bytes(1000));
    for _ in 0..10 {
        let _buffer = device.zeros::<u8>(1000).unwrap();
        let error = device.zeros::<u8>(1).unwrap_err();
        assert!(matches!(
            error.kind(),
            ErrorKind::OutOfMemory {
                requested: 1,
                free: 0,
                total: 1000,
                ..
            }
        ));
    }
}

#[test]
fn pinned_memory_is_host_memory() {
    for device in devices() {
        let data: Vec<f64> = (0..100_003).map(f64::from).collect();
        let mut host = device.pinned::<f64>(data.len()).unwrap();
        assert_eq!(host.as_ptr().addr() % 256, 0);
        assert!(host.iter().all(|value| value.to_bits() == 0));
        host.copy_from_slice(&data);
        let mut buffer = device.upload(&host).unwrap();
        host.fill(-1.0);
        buffer.copy_to_slice(&mut host).unwrap();
        assert_eq!(*host, data);
        host.reverse();
        buffer.copy_from_slice(&host).unwrap();
        // The copy is complete: later changes of the host's memory do not matter.
        host.fill(f64::NAN);
        drop(host);
        assert!(buffer.to_vec().unwrap().iter().eq(data.iter().rev()));
    }
}

#[test]
fn pinned_memory_may_be_empty_and_not_endless() {
    for device in devices() {
        assert!(device.pinned::<u16>(0).unwrap().is_empty());
        let error = device.pinned::<f64>(usize::MAX / 4).unwrap_err();
        assert!(matches!(
            (error.operation(), error.kind()),
            ("pinned", ErrorKind::TooLarge { .. })
        ));
        let error = device.pinned::<u8>(isize::MAX as usize).unwrap_err();
        assert!(
            matches!(
                (error.operation(), error.kind()),
                ("pinned", ErrorKind::OutOfHostMemory { .. })
            ),
            "{error}"
        );
        let mut host = device.pinned::<u8>(3).unwrap();
        host[1] = 7;
        assert_eq!(*host, [0, 7, 0]);
    }
}

/// The pages of this process that are in memory, in bytes.
#[cfg(target_os = "linux")]
fn resident_bytes() -> usize {
    let sizes = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages = sizes.split_whitespace().nth(1).unwrap();
    pages.parse::<usize>().unwrap() * 4096
}

/// Untouched memory takes none of the host's, so a program may allocate all of the device's memory.
#[cfg(target_os = "linux")]
#[test]
fn simulated_memory_that_nothing_touches_costs_nothing() {
    const BYTES: usize = 3 << 30;
    let device = Device::simulator();
    let before = resident_bytes();
    let uninitialised = device.uninit::<u8>(BYTES).unwrap();
    let zeros = device.zeros::<u8>(BYTES).unwrap();
    let pinned = device.pinned::<u8>(BYTES).unwrap();
    let taken = resident_bytes().saturating_sub(before);
    assert!(taken < BYTES / 2, "{taken} bytes of {BYTES}");
    assert_eq!(zeros.slice(BYTES - 2..).unwrap().to_vec().unwrap(), [0, 0]);
    assert_eq!(pinned[BYTES - 1], 0);
    let error = uninitialised.slice(BYTES - 2..).unwrap().to_vec();
    assert!(matches!(error.unwrap_err().kind(), ErrorKind::Simulator(_)));
}
