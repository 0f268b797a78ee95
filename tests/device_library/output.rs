//! Lines that kernels print: in a process of its own for each machine, whose standard output is read.

use super::{MODULE, common};
use cuda_std_test_kernels::{IMAGES, output};
use half::{bf16, f16};
use std::env;
use std::process::Command;
use tilewright::{Device, LaunchConfig};

/// Marks the child process, and names its machine.
const CHILD: &str = "TILEWRIGHT_TEST_OUTPUT";

/// The output of `body`, in the test `test`, on a machine of this name; none in the process that prints.
fn printed(test: &str, machine: &str, body: fn(&Device)) -> Option<Vec<String>> {
    if let Ok(machine) = env::var(CHILD) {
        let device = match machine.as_str() {
            "cuda" => Device::cuda(0).unwrap(),
            _ => Device::simulator(),
        };
        println!("\nbegin");
        body(&device);
        device.synchronize().unwrap();
        println!("end");
        return None;
    }
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, machine)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    let lines = text.lines().skip_while(|line| *line != "begin").skip(1);
    let lines = lines.take_while(|line| *line != "end");
    Some(lines.map(str::to_owned).collect())
}

/// The names of the machines at hand.
fn machines() -> Vec<&'static str> {
    let has_gpu = !IMAGES.is_empty() && common::cuda_device().is_some();
    let names = ["simulator", "cuda"];
    names[..if has_gpu { 2 } else { 1 }].to_vec()
}

const VALUES: (i8, u64, f32, f64) = (-7, 0xFFFF_FFFF_FF12, 1.0 / 3.0, 1e300);

#[test]
fn values_are_formatted_as_by_the_standard_library() {
    let test = "output::values_are_formatted_as_by_the_standard_library";
    for machine in machines() {
        let lines = printed(test, machine, |device| {
            let module = device.load(&MODULE).unwrap();
            let config = LaunchConfig::new(2, 32);
            module.launch(output::print_values, config, VALUES).unwrap();
        });
        let Some(lines) = lines else { return };
        let (small, large, x, y) = VALUES;
        let expected = [
            "no value".to_owned(),
            format!("{small} {large} {x} {y:?}"),
            format!("{:*>8.3}|{:<6}|{:#06x}|{:$^+9}", x, small, large & 0xFF, y),
            "false x false".to_owned(),
            format!("{} {} {{}}", f16::from_f32(x), bf16::from_f32(x)),
        ];
        assert_eq!(lines, expected, "{machine}");
    }
}

#[test]
fn each_thread_prints_once_and_lines_without_room_are_counted() {
    let test = "output::each_thread_prints_once_and_lines_without_room_are_counted";
    for machine in machines() {
        let lines = printed(test, machine, |device| {
            let module = device.load(&MODULE).unwrap();
            for blocks in [3, 40] {
                let config = LaunchConfig::new(blocks, 32);
                module.launch(output::print_threads, config, ()).unwrap();
                device.synchronize().unwrap();
            }
        });
        let Some(lines) = lines else { return };
        let line = |i: u32| format!("thread {i} of block {}: {}", i / 32, i * i);
        let mut first: Vec<_> = lines[..96].to_vec();
        let mut all: Vec<_> = (0..96).map(line).collect();
        first.sort();
        all.sort();
        assert_eq!(first, all, "{machine}");
        let later = &lines[96..];
        match machine {
            "cuda" => {
                assert_eq!(later.len(), 1024 + 1, "{later:?}");
                let lost = "(256 more lines of kernels are lost: wait more often)";
                assert_eq!(later.last().unwrap(), lost);
            }
            _ => assert_eq!(later.len(), 40 * 32),
        }
    }
}
