//! Launches each kernel of the crate once, to compare the simulator's counters with Nsight Compute's
//! (docs/counters.md).
//!
//! ```text
//! cargo run --release --example counters_for_ncu > counters.json
//! ncu --csv --metrics ... target/release/examples/counters_for_ncu --device cuda
//! ```
//!
//! On the simulator it prints the counters as JSON; on a CUDA device `ncu` does. With `--measured FILE` it prints a
//! table of both, with the measurements of `ncu` from that file, as in `benches/results`.

#[path = "support/ncu.rs"]
mod ncu;
mod support;
#[path = "support/workloads.rs"]
mod workloads;

use lexopt::prelude::*;
use std::process::ExitCode;
use support::Outcome;
use support::output::{print, print_line};
use tilewright::{Device, DeviceChoice, Profile, SimulatorOptions};

const USAGE: &str =
    "usage: counters_for_ncu [--device sim|cuda|cuda:N] [--profile NAME] [--measured FILE]";

fn main() -> ExitCode {
    support::run(counters)
}

fn counters(mut parser: lexopt::Parser) -> Outcome {
    let (mut choice, mut profile) = (DeviceChoice::Simulator, Profile::H200);
    let mut measured = None;
    while let Some(argument) = parser.next()? {
        match argument {
            Long("device") => choice = support::device_choice(&mut parser)?,
            Long("profile") => profile = parser.value()?.string()?.parse()?,
            Long("measured") => measured = Some(std::fs::read_to_string(parser.value()?)?),
            Short('h') | Long("help") => return support::help(USAGE),
            other => return Err(other.unexpected().into()),
        }
    }
    if choice != DeviceChoice::Simulator {
        return workloads::launch_for_ncu(&Device::open(choice)?);
    }
    let options = SimulatorOptions::default().with_profile(profile);
    let device = Device::simulator_with(options);
    let (outcome, report) = device.with_report(|| Ok(workloads::launch_for_ncu(&device)))?;
    outcome?;
    match measured {
        Some(measured) => print(ncu::table(
            &ncu::COUNTERS,
            &report,
            &ncu::parse(&measured)?,
        )?)?,
        None => print_line(tilewright_report::json(&report))?,
    }
    Ok(())
}
