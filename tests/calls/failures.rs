//! The state after a failed call of the driver, and the launches of kernels that print.

use super::observed::{self, observe};
use super::with_driver;
use cuda_std::kernel::{Kernel, LaunchBounds};
use tilewright::{Device, DeviceGroup, ErrorKind, LaunchConfig, ModuleSource};

/// A copy whose source's device is lost meanwhile: the error names that device, the other one goes on, and the copies
/// are over when the call returns.
#[test]
fn a_peer_that_is_lost_is_named_and_its_copies_are_over() {
    const TEST: &str = "failures::a_peer_that_is_lost_is_named_and_its_copies_are_over";
    with_driver(TEST, || {
        let group = DeviceGroup::new([0, 1]).unwrap();
        let [one, other] = group.devices() else {
            panic!("{group:?}")
        };
        let mut buffers = [one.upload(&[1, 2]).unwrap(), other.upload(&[3, 4]).unwrap()];
        observed::lose_by_copies(1);
        let mut error = None;
        let calls = observe(|| error = group.broadcast(1, &mut buffers).err()).driver_calls;
        let error = error.unwrap();
        let ErrorKind::DeviceLost { device, .. } = error.kind() else {
            panic!("{error}")
        };
        assert_eq!(device, "host 1 (cuda:1)");
        assert!(calls.contains(&"cuStreamSynchronize"), "{calls:?}");
        assert_eq!(buffers[0].to_vec().unwrap(), [3, 4]);
        assert_eq!(one.upload(&[5]).unwrap().to_vec().unwrap(), [5]);
        let lost = |device: &Device| device.synchronize().unwrap_err();
        assert!(matches!(lost(other).kind(), ErrorKind::DeviceLost { .. }));
    });
}

/// Dropped memory is freed after the work of other streams, even if no stream can wait for another.
#[test]
fn a_driver_without_events_is_waited_for() {
    with_driver("failures::a_driver_without_events_is_waited_for", || {
        let device = Device::cuda(0).unwrap();
        let other = device.new_stream().unwrap();
        let x = other.upload(&[1_u32, 2]).unwrap();
        let mut sum = device.zeros::<u64>(1).unwrap();
        other.reduce_sum_into(&x, &mut sum).unwrap();
        observed::refuse_events();
        let waits_before = |calls: &[&str], name: &str| {
            let place = |name| calls.iter().position(|call| *call == name).unwrap();
            assert!(place("cuStreamSynchronize") < place(name), "{calls:?}");
        };
        let mut copy = device.zeros::<u32>(2).unwrap();
        let calls = observe(|| copy.copy_from_buffer(&x).unwrap()).driver_calls;
        waits_before(&calls, "cuMemcpyDtoDAsync_v2");
        let calls = observe(|| drop(sum)).driver_calls;
        waits_before(&calls, "cuMemFreeAsync");
    });
}

#[derive(Clone, Copy)]
struct Prints;

impl Kernel for Prints {
    type Params<'launch> = ();

    const NAME: &'static str = "prints";

    const BOUNDS: LaunchBounds = LaunchBounds::new(None, None, None);

    unsafe fn run((): Self::Params<'_>) {
        unreachable!("the driver runs no such kernel");
    }
}

// SAFETY: (1) the driver of this test compares no entries.
static PRINTING: ModuleSource = unsafe {
    ModuleSource::new(
        "printing",
        &[(
            "sm_75",
            ".version 6.3\n.target sm_75\n.visible .global .align 16 .b8 __tilewright_output[32] = \
             {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};\n",
        )],
    )
};

/// A copy from the stack of the call could be read after it has returned.
#[test]
fn the_number_of_a_printing_kernel_goes_to_the_device_by_value() {
    const TEST: &str = "failures::the_number_of_a_printing_kernel_goes_to_the_device_by_value";
    with_driver(TEST, || {
        let device = Device::cuda(0).unwrap();
        let module = device.load(&PRINTING).unwrap();
        // SAFETY: (1) the driver does nothing for it.
        let launch = || unsafe { module.launch_unsafe(Prints, LaunchConfig::new(1, 1), ()) };
        let calls = observe(|| launch().unwrap()).driver_calls;
        let count = |name: &str| calls.iter().filter(|call| **call == name).count();
        assert_eq!(count("cuMemsetD32Async"), 1, "{calls:?}");
        assert_eq!(count("cuMemcpyHtoDAsync_v2"), 0, "{calls:?}");
        assert_eq!(count("cuLaunchKernel"), 1, "{calls:?}");
    });
}
