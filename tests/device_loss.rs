//! A kernel that kills its CUDA context. This file has one test, as the loss is the process's.

#![cfg(feature = "cuda")]

mod common;

use common::cuda_device;
use cuda_std::kernel::{Kernel, LaunchBounds};
use tilewright::{Device, ErrorKind, LaunchConfig, ModuleSource};
use tilewright_test_support::assert_kind;

#[derive(Clone, Copy)]
struct Trap;

impl Kernel for Trap {
    type Params<'launch> = ();

    const NAME: &'static str = "trap_all";

    const BOUNDS: LaunchBounds = LaunchBounds::new(None, None, None);

    unsafe fn run((): Self::Params<'_>) {
        unreachable!("this file has tests for CUDA only");
    }
}

// SAFETY: (1) the image's only entry is `trap_all`.
static MODULE: ModuleSource = unsafe {
    ModuleSource::new(
        "trap",
        &[(
            "sm_75",
            ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry trap_all() { trap; }\n",
        )],
    )
};

#[test]
fn a_lost_device_is_remembered_and_nothing_panics() {
    let Some(device) = cuda_device() else { return };
    let buffer = device.upload(&[1_u32; 100]).unwrap();
    let event = device.record_event().unwrap();
    let module = device.load(&MODULE).unwrap();
    // SAFETY: (1) a trap ends the context, as the test intends.
    unsafe { module.launch_unsafe(Trap, LaunchConfig::new(1, 1), ()) }.unwrap();

    let first = device.synchronize().unwrap_err();
    let ErrorKind::DeviceLost { cause, .. } = first.kind() else {
        panic!("another error: {first}");
    };
    assert_eq!(first.operation(), "synchronize");
    // A panic without a record is also a trap.
    assert!(cause.contains("panic_locations(true)"), "{cause}");
    let later = [
        buffer.to_vec().unwrap_err(),
        device.upload(&[1_u8]).unwrap_err(),
        device.record_event().unwrap_err(),
        event.synchronize().unwrap_err(),
        device.load(&MODULE).unwrap_err(),
        device.with_current(|| ()).unwrap_err(),
    ];
    for error in later {
        assert_kind!(error is ErrorKind::DeviceLost { .. });
        assert!(error.to_string().contains(cause), "{error}");
    }
    drop((buffer, event, module, device));

    // The simulator does not care.
    let simulator = Device::simulator();
    assert_eq!(simulator.upload(&[3_u8]).unwrap().to_vec().unwrap(), [3]);
}
