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

/// A driver whose calls return configured results.
#[derive(Clone, Copy)]
struct FakeDriver {
    /// The result of every function except those below.
    status: u32,
    /// The status that `cuInit` returns.
    init: u32,
    /// The result and the version of `cuDriverGetVersion`.
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

/// The output of a process about its device, with `TILEWRIGHT_DEVICE` set to `choice` and a loader that searches
/// `folder` first.
fn device_of_process(folder: &Path, choice: Option<&str>) -> String {
    let mut process = process_of("the_device_of_this_process", folder);
    if let Some(choice) = choice {
        process.env("TILEWRIGHT_DEVICE", choice);
    }
    told_by(process)
}

/// The process of an ignored test, without `TILEWRIGHT_DEVICE`, where the loader looks into `folder` first.
fn process_of(test: &str, folder: &Path) -> Command {
    let mut process = Command::new(env::current_exe().unwrap());
    process
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env("LD_LIBRARY_PATH", folder)
        .env_remove("TILEWRIGHT_DEVICE");
    process
}

/// The output of a process after `DEVICE`.
fn told_by(mut process: Command) -> String {
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

/// Compares the device of a process with this driver with the expected one: without `TILEWRIGHT_DEVICE`, and with
/// `cuda`.
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
    // It also lacks later functions.
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

#[test]
#[ignore = "the other tests run it in child processes"]
fn the_devices_of_this_process() {
    match Device::list() {
        Ok(devices) => {
            let lines = devices.iter().map(ToString::to_string);
            println!("DEVICE {}", Vec::from_iter(lines).join(" | "));
        }
        Err(error) => println!("DEVICE {error}"),
    }
}

/// A driver with a GPU that can be used, one that prohibits programs, an old one and a MIG instance.
const FOUR_DEVICES: &str = r#"
#include <stdio.h>
#include <string.h>
int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) { *count = 4; return 0; }
int cuDeviceGet(int *device, int number) { *device = number; return 0; }
int cuDeviceGetName(char *name, int capacity, int device) {
  snprintf(name, capacity, "number %d", device);
  return 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = 80ul << 30; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
    case 20: *value = device == 1 ? 2 : 0; break;  // compute mode
    case 75: *value = device == 2 ? 7 : 9; break;  // compute capability
    case 76: *value = 0; break;
    default: *value = 1024;
  }
  return 0;
}
int cuDeviceGetUuid(char *uuid, int device) { memset(uuid, 0x11 * device, 16); return 0; }
int cuDeviceGetUuid_v2(char *uuid, int device) {
  memset(uuid, device == 3 ? 0x8f : 0x11 * device, 16);
  return 0;
}
"#;

#[test]
fn a_list_says_which_devices_cannot_be_used_and_why() {
    let others = fake_driver::other_functions(FOUR_DEVICES, 999, None);
    let Some(folder) = fake_driver::folder_with(&(FOUR_DEVICES.to_owned() + &others)) else {
        return;
    };
    let list = told_by(process_of("the_devices_of_this_process", folder.path()));
    let uuid = |kind: &str, digit: &str| {
        let groups = [8, 4, 4, 4, 12].map(|digits| digit.repeat(digits / digit.len()));
        format!("{kind}-{}", groups.join("-"))
    };
    let expected = [
        format!(
            "cuda:0: number 0, compute capability 9.0, 80 GiB, {}",
            uuid("GPU", "0")
        ),
        format!(
            "cuda:1: number 1, compute capability 9.0, 80 GiB, {}; not usable: its compute mode is `prohibited`; an \
             administrator allows programs with `nvidia-smi -c DEFAULT`",
            uuid("GPU", "1")
        ),
        format!(
            "cuda:2: number 2, compute capability 7.0, 80 GiB, {}; not usable: its compute capability is 7.0, and \
             kernels need 7.5",
            uuid("GPU", "2")
        ),
        format!(
            "cuda:3: number 3, compute capability 9.0, 80 GiB, {}",
            uuid("MIG", "8f")
        ),
    ];
    assert_eq!(list, expected.join(" | "));

    // No device opens, and the error tells which of them was found.
    for (choice, parts) in [
        ("GPU-111", "CUDA error 999"),
        ("MIG-8f8f8f8f-8f", "CUDA error 999"),
        (
            "GPU-8f",
            "there is no CUDA device GPU-8f: the driver lists GPU-00000000-",
        ),
        ("cuda:4", "the driver lists 4 devices, numbered from 0"),
    ] {
        let found = device_of_process(folder.path(), Some(choice));
        assert!(found.contains(parts), "{choice}: {found}");
    }
}

/// The driver hides devices, so numbers and lists are of the others.
#[test]
fn hidden_devices_are_neither_listed_nor_opened() {
    let Some(last) = Device::list().ok().and_then(|all| all.last().cloned()) else {
        common::say("skipped: this machine has no device");
        return;
    };
    // The driver of this process.
    let folders = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let told = |test, visible: &str| {
        let mut process = process_of(test, Path::new(&folders));
        process.env("CUDA_VISIBLE_DEVICES", visible);
        process.env("TILEWRIGHT_DEVICE", "cuda");
        told_by(process)
    };
    let list = told("the_devices_of_this_process", &last.uuid.to_string());
    assert!(list.starts_with("cuda:0: "), "{list}");
    assert!(
        list.contains(&last.uuid.to_string()) && !list.contains(" | "),
        "{list}"
    );
    for test in ["the_devices_of_this_process", "the_device_of_this_process"] {
        let error = told(test, "");
        assert!(error.contains("CUDA_VISIBLE_DEVICES"), "{error}");
    }
}
