//! The simulator counts what Nsight Compute counted on an H200 (docs/counters.md).

#![cfg(feature = "ndarray")]

#[path = "../examples/support/ncu.rs"]
mod ncu;
#[path = "../examples/support/mod.rs"]
mod support;
#[path = "../examples/support/workloads.rs"]
mod workloads;

use support::Outcome;
use tilewright::{Device, Profile, SimulatorOptions};

/// The measurements; docs/counters.md has the command.
const MEASURED: &str = include_str!("../benches/results/ncu-h200.csv");

/// The page with the same comparison as a table.
const PAGE: &str = include_str!("../docs/counters.md");

#[test]
fn the_counters_agree_with_an_h200() -> Outcome {
    let measured = ncu::parse(MEASURED)?;
    assert!(measured.len() >= 10, "{} kernels", measured.len());
    let unknown = ncu::unknown(&ncu::COUNTERS, &measured);
    assert!(unknown.is_empty(), "not measured: {unknown:?}");
    let options = SimulatorOptions::default()
        .with_profile(Profile::H200)
        .with_checks(false);
    let device = Device::simulator_with(options);
    let (outcome, report) = device.with_report(|| Ok(workloads::launch_for_ncu(&device)))?;
    outcome?;
    let disagreements = ncu::disagreements(&ncu::COUNTERS, &report, &measured)?;
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
    let table = ncu::table(&ncu::COUNTERS, &report, &measured)?;
    assert!(
        PAGE.contains(&table),
        "docs/counters.md has another table than\n{table}"
    );
    Ok(())
}
