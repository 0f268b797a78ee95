//! Launches each kernel of the crate once, for a comparison of the simulator's counters with those
//! of Nsight Compute (docs/counters.md).
//!
//! ```text
//! cargo run --release --example counters_for_ncu > counters.json
//! ncu --csv --metrics ... target/release/examples/counters_for_ncu --device cuda
//! ```
//!
//! On the simulator it prints the counters as JSON; on a CUDA device `ncu` does.

mod support;

use lexopt::prelude::*;
use std::process::ExitCode;
use support::Outcome;
use support::workloads::WORKLOADS;
use tilewright::{Device, DeviceChoice, Profile, SimulatorOptions};

const USAGE: &str = "usage: counters_for_ncu [--device sim|cuda|cuda:N] [--profile NAME]";

/// Sizes that are no multiples of tiles, so that edges count, too.
const ELEMENTS: usize = 1_000_003;
const ROWS: usize = 200;

fn main() -> ExitCode {
    support::run(counters)
}

fn counters(mut parser: lexopt::Parser) -> Outcome {
    let (mut choice, mut profile) = (DeviceChoice::Simulator, Profile::H200);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("device") => choice = support::device_choice(&mut parser)?,
            Long("profile") => profile = parser.value()?.string()?.parse()?,
            Short('h') | Long("help") => return support::help(USAGE),
            other => return Err(other.unexpected().into()),
        }
    }
    if choice != DeviceChoice::Simulator {
        return launch_all(&Device::open(choice)?);
    }
    let options = SimulatorOptions::default().with_profile(profile);
    let device = Device::simulator_with(options);
    let (outcome, report) = device.with_report(|| Ok(launch_all(&device)))?;
    outcome?;
    println!("{}", report.to_json());
    Ok(())
}

fn launch_all(device: &Device) -> Outcome {
    for workload in &WORKLOADS {
        let is_sum = workload.name.starts_with("reduce_sum");
        workload.launch(device, if is_sum { ELEMENTS } else { ROWS })?;
    }
    Ok(())
}
