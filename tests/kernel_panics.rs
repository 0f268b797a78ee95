//! A kernel that panics: the error says which assertion of which kernel, in which thread. This file
//! has one test, as a panic on a GPU costs the process its device.

mod common;

use common::cuda_device;
use cuda_std_test_kernels::{IMAGES, output};
use simt::DefectKind;
use tilewright::{Device, Error, ErrorKind, LaunchConfig, ModuleSource};

// SAFETY: (1) the images are built from the crate that the test takes the kernel from.
static MODULE: ModuleSource = unsafe { ModuleSource::new("cuda_std_test_kernels", IMAGES) };

/// The line of the assertion in the kernel's file.
fn line() -> usize {
    let source = include_str!("../crates/cuda_std/tests/kernels/output.rs");
    let is_marked = |line: &str| line.ends_with("// panic: assert_in_one_thread");
    1 + source.lines().position(is_marked).unwrap()
}

fn launch(device: &Device, limit: u32) -> Result<(), Error> {
    let module = device.load(&MODULE)?;
    // Another kernel runs first: the report names the one that panics.
    let values = (0_i8, 0_u64, 0.0_f32, 0.0_f64);
    module.launch(output::print_values, LaunchConfig::new(1, 1), values)?;
    module.launch(
        output::assert_in_one_thread,
        LaunchConfig::new(3, 32),
        (limit,),
    )?;
    device.synchronize()
}

#[test]
fn the_error_names_the_assertion_the_kernel_and_the_thread() {
    let place = format!("output.rs:{}:5", line());
    let simulator = Device::simulator();
    launch(&simulator, 1000).unwrap();
    let error = launch(&simulator, 5).unwrap_err();
    let ErrorKind::KernelDefect(defect) = error.kind() else {
        panic!("{error}");
    };
    assert_eq!(defect.kind, DefectKind::Panic);
    for part in ["assert_in_one_thread", "too far", &place, "block (1, 0, 0)"] {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }

    let Some(device) = cuda_device().filter(|_| !IMAGES.is_empty()) else {
        return;
    };
    launch(&device, 1000).unwrap();
    let error = launch(&device, 5).unwrap_err();
    let ErrorKind::DeviceLost { cause, .. } = error.kind() else {
        panic!("{error}");
    };
    for part in [
        "kernel `assert_in_one_thread` panicked: too far",
        &format!("at crates/cuda_std/tests/kernels/{place}"),
        "of block (",
    ] {
        let workspace = cause.replace("/workspace/", "");
        assert!(workspace.contains(part), "{part}: {error}");
    }
}
