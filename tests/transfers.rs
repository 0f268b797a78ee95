//! Copies that do not block, copies of large slices, and the use of memory.

mod common;

use common::{devices, say};
use std::mem;
use tilewright::{Device, DeviceChoice, ErrorKind};
use tilewright_test_support::assert_kind;

#[test]
fn a_transfer_gives_its_memory_back() {
    for device in devices() {
        let other = device.new_stream().unwrap();
        let mut host = device.pinned::<u32>(100_000).unwrap();
        let mut x = device.uninit::<u32>(100_000).unwrap();
        let mut back = device.pinned::<u32>(50_000).unwrap();
        for round in 1..=5 {
            host.fill(round);
            let upload = x.view_mut().start_copy_from(host).unwrap();
            // In another stream, after the upload.
            let sum = other.reduce_sum(&x).unwrap();
            assert_eq!(sum, 100_000 * u64::from(round));
            let download = x.slice(50_000..).unwrap().start_copy_to(back).unwrap();
            // After the download.
            x.fill_zero().unwrap();
            back = download.wait().unwrap();
            assert_eq!(back[..], [round; 50_000]);
            host = upload.wait().unwrap();
            assert_eq!(host[..], [round; 100_000]);
        }
    }
}

#[test]
fn transfers_may_be_dropped_or_forgotten() {
    for device in devices() {
        let mut x = device.zeros::<u32>(1 << 20).unwrap();
        for round in 0..20 {
            let mut host = device.pinned::<u32>(1 << 20).unwrap();
            host.fill(round);
            let transfer = x.view_mut().start_copy_from(host).unwrap();
            if round % 5 == 0 {
                mem::forget(transfer);
            } else if round % 5 == 1 {
                // The buffer goes first.
                let _gone = mem::replace(&mut x, device.zeros(1 << 20).unwrap());
                continue;
            } else {
                drop(transfer);
            }
            assert_eq!(device.reduce_max(&x).unwrap(), round);
        }
        let transfer = x
            .view()
            .start_copy_to(device.pinned(1 << 20).unwrap())
            .unwrap();
        drop(x);
        drop(device);
        assert_eq!(transfer.wait().unwrap()[..9], [19; 9]);
    }
}

#[test]
fn a_transfer_has_as_many_elements() {
    let device = Device::simulator();
    let mut x = device.zeros::<u32>(10).unwrap();
    let errors = [
        x.view_mut().start_copy_from(device.pinned(9).unwrap()),
        x.view().start_copy_to(device.pinned(11).unwrap()),
    ];
    for error in errors.map(Result::unwrap_err) {
        assert_kind!(error is ErrorKind::WrongLength { expected: 10, .. });
    }
    assert!(
        x.view_mut()
            .slice_mut(..0)
            .unwrap()
            .start_copy_from(device.pinned(0).unwrap())
            .is_ok()
    );
}

/// Several threads copy such slices through page-locked chunks on CUDA.
#[test]
fn large_slices_are_copied_whole() {
    for device in devices() {
        let lens: &[usize] = match device.is_simulator() {
            true => &[1 << 20],
            false => &[(16 << 20) - 1, 16 << 20, (100 << 20) + 12_345, 400 << 20],
        };
        for &len in lens {
            let data: Vec<u8> = (0..len).map(|at| ((at * 31) >> 5) as u8).collect();
            let x = device.upload(&data).unwrap();
            let back = x.to_vec().unwrap();
            assert!(back == data, "{len} bytes");
            let part = x.slice(1..).unwrap().to_vec().unwrap();
            assert!(part == data[1..], "{len} bytes but one");
        }
    }
}

#[test]
fn the_use_of_memory_is_told() {
    for device in devices() {
        let other = device.new_stream().unwrap();
        device.trim_memory(0).unwrap();
        let before = device.memory().unwrap();
        let x = other.zeros::<u8>(256 << 20).unwrap();
        other.synchronize().unwrap();
        let during = device.memory().unwrap();
        assert!(
            during.used >= before.used + (256 << 20),
            "{before:?} {during:?}"
        );
        drop(x);
        other.synchronize().unwrap();
        let after = device.memory().unwrap();
        assert_eq!(after.used, before.used);
        assert_eq!(device.free_memory().unwrap(), after.free + after.kept);
        device.trim_memory(0).unwrap();
        let trimmed = device.memory().unwrap();
        assert!(
            trimmed.kept <= before.kept + (64 << 20),
            "{before:?} {trimmed:?}"
        );
        device.keep_memory(0).unwrap();
        device.keep_memory(u64::MAX).unwrap();
    }
}

#[test]
fn devices_are_listed_and_opened_by_uuid() {
    match Device::list() {
        Ok(devices) => {
            for it in devices {
                let line = it.to_string();
                say(&line);
                assert!(line.starts_with("cuda:"), "{line}");
                let by_number = Device::open(it.choice).unwrap();
                let by_uuid = Device::open(DeviceChoice::Uuid(it.uuid)).unwrap();
                assert!(by_uuid.is_same(&by_number));
                let name = it.uuid.to_string();
                let named: DeviceChoice = name.parse().unwrap();
                assert_eq!(named, DeviceChoice::Uuid(it.uuid));
                // All digits but the last tell devices apart.
                let abbreviated = name[..name.len() - 1].parse().unwrap();
                assert!(Device::open(abbreviated).unwrap().is_same(&by_number));
            }
            let unknown: DeviceChoice = "GPU-00000000-0000-0000-0000-000000000000".parse().unwrap();
            let error = Device::open(unknown).unwrap_err();
            assert_kind!(error is ErrorKind::NoDeviceWithUuid { .. });
            assert!(error.to_string().contains("the driver lists "), "{error}");
        }
        Err(error) => say(&format!("no devices: {error}")),
    }
}
