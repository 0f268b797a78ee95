//! Machines without a driver, and with drivers that fail: which device a program gets there, or
//! which error.
//!
//! The drivers are made by `fake_driver`.

#![cfg(all(feature = "cuda", target_os = "linux"))]

mod common;
#[path = "common/fake_driver.rs"]
mod fake_driver;

use fake_driver::LIBRARY;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use tilewright::{Device, Error, ErrorKind};

/// A driver that says of every call what it is made to say.
#[derive(Clone, Copy)]
struct FakeDriver {
    /// What every function returns but the ones below.
    status: u32,
    /// What `cuInit` returns.
    init: u32,
    /// What `cuDriverGetVersion` returns and says.
    version: (u32, u32),
    /// The devices that there are.
    devices: u32,
    /// A function that is not there.
    without: Option<&'static str>,
}

/// A driver for CUDA 13.0 with a device that does not open.
const FAKE: FakeDriver = FakeDriver {
    status: 999,
    init: 0,
    version: (0, 13_000),
    devices: 1,
    without: None,
};

impl FakeDriver {
    fn source(&self) -> String {
        let (status, version) = self.version;
        let source = format!(
            "int cuInit(unsigned flags) {{ return {}; }}
             int cuDriverGetVersion(int *version) {{ *version = {version}; return {status}; }}
             int cuDeviceGetCount(int *count) {{ *count = {}; return 0; }}
            ",
            self.init, self.devices
        );
        let others = fake_driver::other_functions(&source, self.status, self.without);
        source + &others
    }
}

/// What a process prints of the device that it gets with `TILEWRIGHT_DEVICE` as `choice`, where
/// the loader looks into `folder` first.
fn device_of_process(folder: &Path, choice: Option<&str>) -> String {
    let mut process = Command::new(env::current_exe().unwrap());
    process
        .args(["--exact", "the_device_of_this_process", "--ignored"])
        .arg("--nocapture")
        .env("LD_LIBRARY_PATH", folder)
        .env_remove("TILEWRIGHT_DEVICE");
    if let Some(choice) = choice {
        process.env("TILEWRIGHT_DEVICE", choice);
    }
    let output = process.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let line = text.lines().find_map(|line| line.split_once("DEVICE "));
    line.unwrap_or_else(|| panic!("no device in: {text}"))
        .1
        .to_owned()
}

#[test]
#[ignore = "the other tests run it in child processes"]
fn the_device_of_this_process() {
    match Device::from_env() {
        Ok(device) if device.is_simulator() => println!("DEVICE simulator"),
        Ok(device) => println!("DEVICE {}", device.name()),
        Err(error) => {
            let kind = match error.kind() {
                ErrorKind::NoDriver { .. } => "NoDriver",
                ErrorKind::UnusableDriver { .. } => "UnusableDriver",
                ErrorKind::DriverTooOld { .. } => "DriverTooOld",
                ErrorKind::NoDevice { .. } => "NoDevice",
                ErrorKind::Cuda { .. } => "Cuda",
                _ => "another error",
            };
            println!("DEVICE {kind}: {error}");
        }
    }
}

/// Holds what a process gets where `driver` is the driver against the expected: without
/// `TILEWRIGHT_DEVICE`, and with `cuda`.
#[track_caller]
fn check(driver: FakeDriver, unnamed: &[&str], named: &[&str]) {
    let Some(folder) = fake_driver::folder_with(&driver.source()) else {
        return;
    };
    for (choice, parts) in [(None, unnamed), (Some("cuda"), named)] {
        let found = device_of_process(folder.path(), choice);
        for part in parts {
            assert!(found.contains(part), "{choice:?}: {part} not in: {found}");
        }
    }
    assert_eq!(device_of_process(folder.path(), Some("sim")), "simulator");
}

#[test]
fn without_a_driver_the_simulator_is_the_default_and_cuda_is_an_error() {
    if !matches!(
        Device::cuda(0).map_err(Error::into_kind),
        Err(ErrorKind::NoDriver { .. })
    ) {
        common::say("skipped: this machine has a driver");
        return;
    }
    let folder = TempDir::new().unwrap();
    assert_eq!(device_of_process(folder.path(), None), "simulator");
    for choice in ["cuda", "cuda:1"] {
        let error = device_of_process(folder.path(), Some(choice));
        for part in ["NoDriver", LIBRARY, "No such file", "Device::simulator()"] {
            assert!(error.contains(part), "{choice}: {part} not in: {error}");
        }
    }
}

#[test]
fn a_driver_without_devices_is_like_none() {
    let no_device = FakeDriver { init: 100, ..FAKE };
    check(no_device, &["simulator"], &["NoDevice", "nvidia-smi"]);
    let none_shown = FakeDriver { devices: 0, ..FAKE };
    check(
        none_shown,
        &["simulator"],
        &["NoDevice", "lists no device", "nvidia-smi"],
    );
}

#[test]
fn a_driver_that_fails_is_an_error_whether_cuda_was_named_or_not() {
    // A mismatch of driver and library, and a code that no bindings know.
    for init in [803, 987_654] {
        let error = format!("Cuda: cuda: CUDA error {init}");
        check(FakeDriver { init, ..FAKE }, &[&error], &[&error]);
    }
    let error = "Cuda: cuda: CUDA error 999";
    let version = (999, 0);
    check(FakeDriver { version, ..FAKE }, &[error], &[error]);
}

#[test]
fn a_device_that_does_not_open_is_an_error() {
    let error = "CUDA error 999";
    check(FAKE, &["Cuda: ", error], &["Cuda: ", error]);
}

#[test]
fn an_old_driver_is_named_with_the_needed_version() {
    let old = FakeDriver {
        version: (0, 11_030),
        ..FAKE
    };
    let parts = ["DriverTooOld", "CUDA 11.3", "needs CUDA 11.4"];
    check(old, &parts, &parts);
    // It lacks what came later, too.
    let without = Some("cuMemAllocFromPoolAsync");
    check(FakeDriver { without, ..old }, &parts, &parts);
}

#[test]
fn a_function_that_a_new_driver_lacks_is_named() {
    let without = Some("cuMemPoolTrimTo");
    let parts = ["UnusableDriver", LIBRARY, "no function `cuMemPoolTrimTo`"];
    check(FakeDriver { without, ..FAKE }, &parts, &parts);
}

#[test]
fn a_stub_is_no_driver_and_no_reason_for_the_simulator() {
    let stub = FakeDriver {
        status: 34,
        init: 34,
        version: (34, 0),
        ..FAKE
    };
    let parts = ["UnusableDriver", "stub", "LD_LIBRARY_PATH"];
    check(stub, &parts, &parts);
}

#[test]
fn a_file_that_is_no_library_is_an_error() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join(LIBRARY), "not a library\n").unwrap();
    for choice in [None, Some("cuda")] {
        let error = device_of_process(folder.path(), choice);
        for part in ["UnusableDriver", LIBRARY] {
            assert!(error.contains(part), "{choice:?}: {part} not in: {error}");
        }
    }
}
