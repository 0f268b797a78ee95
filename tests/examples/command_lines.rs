//! Command lines, right and wrong, and the output in JSON.

use crate::common;
use crate::common::programs::{assert_failed, fail, program, succeed};
use crate::files::folder_of_bad_files;
use crate::harness::Header;
use std::process::Command;
use tempfile::TempDir;
use tilewright::Device;

#[test]
fn usage_is_shown() {
    let folder = TempDir::new().unwrap();
    for example in [
        "sum",
        "matmul",
        "column_statistics",
        "power_iteration",
        "several_devices",
        "attention",
    ] {
        let output = succeed(example, folder.path(), &["--help"]);
        assert!(
            output.starts_with(&format!("usage: {example} ")),
            "{output}"
        );
        if ["sum", "matmul"].contains(&example) {
            for option in ["--device", "--json", "--help"] {
                assert_eq!(
                    output.matches(option).count(),
                    if option == "--help" { 1 } else { 2 }
                );
            }
            assert!(output.lines().all(|line| line.len() <= 100), "{output}");
        }
    }
}

#[test]
fn results_are_printed_as_json() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let numbers = [1.5_f32, 2.0, -0.25, 4.0];
    Header::new("'<f4'", "(2, 2)").write(path, "x.npy", numbers.map(f32::to_le_bytes));
    let infinite = [f64::INFINITY.to_le_bytes()];
    Header::new("'<f8'", "(1,)").write(path, "infinite.npy", infinite);
    let object = |example, arguments: &[&str]| {
        let output = succeed(
            example,
            path,
            &[arguments, &["--json", "--device", "sim"]].concat(),
        );
        serde_json::from_str::<serde_json::Value>(&output).unwrap()
    };
    let sum = object("sum", &["x.npy"]);
    assert_eq!(
        (&sum["sum"], &sum["elements"]),
        (&7.25.into(), &4.into()),
        "{sum}"
    );
    assert!(
        sum["seconds"].as_f64().unwrap() >= 0.0 && sum["device"].is_string(),
        "{sum}"
    );
    assert!(object("sum", &["infinite.npy"])["sum"].is_null());
    let product = object("matmul", &["x.npy", "x.npy", "-o", "c.npy"]);
    let expected = [
        ("product", "c.npy".into()),
        ("shape", vec![2, 2].into()),
        ("type", "f4 (float32)".into()),
    ];
    for (name, value) in expected {
        let value: serde_json::Value = value;
        assert_eq!(product[name], value, "{product}");
    }
    assert!(
        product["seconds"].is_number() && product["device"].is_string(),
        "{product}"
    );
}

#[test]
fn wrong_command_lines_are_refused_in_one_line() {
    let folder = folder_of_bad_files();
    for (example, arguments, parts) in [
        (
            "sum",
            &["f4.npy", "--device", "gpu"][..],
            &["gpu", "sim, cuda or cuda:N"][..],
        ),
        ("sum", &["f4.npy", "--device"], &["--device"]),
        ("sum", &[], &["usage: sum"]),
        ("sum", &["f4.npy", "f8.npy"], &["f8.npy"]),
        ("sum", &["f4.npy", "--kernel", "tiled"], &["--kernel"]),
        ("matmul", &["f4.npy", "f8.npy"], &["usage: matmul"]),
        ("matmul", &["f4.npy", "-o", "c.npy"], &["usage: matmul"]),
        ("matmul", &["f4.npy", "f8.npy", "-o"], &["-o"]),
        (
            "matmul",
            &["f4.npy", "f8.npy", "-o", "c.npy", "--kernel", "fast"],
            &["fast", "tiled or coarsened"],
        ),
        (
            "matmul",
            &["f4.npy", "f8.npy", "-o", "c.npy", "--memory", "much"],
            &["much"],
        ),
        (
            "matmul",
            &[
                "f4.npy", "f8.npy", "-o", "c.npy", "--memory", "1", "--device", "sim",
            ],
            &["a 2x2 product with K = 3", "exceed 1 bytes"],
        ),
    ] {
        fail(example, folder.path(), arguments, parts);
    }
}

#[test]
fn a_named_device_that_is_not_there_is_refused_in_one_line() {
    let Err(error) = Device::cuda(0) else {
        common::say("skipped: this machine has a CUDA device");
        return;
    };
    let folder = folder_of_bad_files();
    let advice = |simulator| {
        // Without the name of the call, which is another one in each program.
        let message = error.kind().to_string();
        let advice = message.replace("device `sim`, or Device::simulator() in code", simulator);
        assert_ne!(advice, message);
        advice
    };
    let arguments = ["f4.npy", "--device", "cuda"];
    fail("sum", folder.path(), &arguments, &[&advice("--device sim")]);
    let output = Command::new(program("several_devices"))
        .env("TILEWRIGHT_DEVICE", "cuda")
        .output()
        .unwrap();
    assert_failed(&output, &[&advice("TILEWRIGHT_DEVICE=sim")]);
}
