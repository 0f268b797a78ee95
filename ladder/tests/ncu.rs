//! Compares the simulator's counters with Nsight Compute's, for tensor-core kernels on an H200 (docs/counters.md).

#[path = "../../examples/support/ncu.rs"]
mod ncu;
#[path = "../../examples/support/ncu_tensor.rs"]
mod ncu_tensor;
#[path = "../../examples/support/mod.rs"]
mod support;

use ncu_tensor::COUNTERS;
use std::io::Write as _;
use support::Outcome;
use tilewright::{Device, LaunchReport, Profile, SimulatorOptions};

/// The measurements; docs/counters.md has the command.
const MEASURED: &str = include_str!("../../benches/results/ncu-tensor-h200.csv");

/// The page with the same comparison as a table.
const PAGE: &str = include_str!("../../docs/counters.md");

/// The simulator's counters of each step.
fn simulated() -> Outcome<LaunchReport> {
    let options = SimulatorOptions::default()
        .with_profile(Profile::H200)
        .with_checks(false);
    let device = Device::simulator_with(options);
    let (outcome, report) = device.with_report(|| Ok(ncu_tensor::launch(&device)))?;
    outcome?;
    Ok(report)
}

/// Not `eprintln!`: the test harness would hide it.
fn say(line: &str) -> Outcome {
    Ok(writeln!(std::io::stderr(), "{line}")?)
}

#[test]
fn the_counters_of_tensor_cores_agree_with_an_h200() -> Outcome {
    let measured = ncu::parse(MEASURED)?;
    if measured.is_empty() {
        return say("skipped: Nsight Compute has not measured the steps on tensor cores");
    }
    for metric in ncu::unknown(&COUNTERS, &measured) {
        say(&format!("unknown metric: {metric}"))?;
    }
    let report = simulated()?;
    let disagreements = ncu::disagreements(&COUNTERS, &report, &measured)?;
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
    let table = ncu::table(&COUNTERS, &report, &measured)?;
    assert!(
        PAGE.contains(&table),
        "docs/counters.md has another table than\n{table}"
    );
    Ok(())
}

/// What follows from the shape alone: 512 x 512 outputs of 512 products.
#[test]
fn each_step_counts_what_its_shape_needs() -> Outcome {
    let reports = simulated()?.by_kernel();
    assert_eq!(reports.len(), 10);
    for report in reports {
        let count = |title: &str| {
            let counter = COUNTERS.iter().find(|counter| counter.title == title);
            (counter.expect("a counter").count)(&report)
        };
        let kernel = &report.kernel;
        assert_eq!(
            count("tensor operations"),
            2.0 * 512_f64.powi(3),
            "{kernel}"
        );
        let instructions = count("tensor instructions");
        let operations = match kernel.as_str() {
            "tensor_warps_nt" | "tensor_warps_nn" => 16.0 * 8.0 * 16.0,
            "tensor_warpgroup_nt" | "tensor_bulk_nt" | "tensor_specialised_nt" => {
                16.0 * 128.0 * 16.0
            }
            _ => 16.0 * 256.0 * 16.0,
        };
        assert_eq!(instructions, 512_f64.powi(3) / operations, "{kernel}");
        assert_eq!(count("bank conflicts of matrices"), 0.0, "{kernel}");
    }
    Ok(())
}
