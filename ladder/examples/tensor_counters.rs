//! Launches each step of the tensor-core ladder once, to compare the simulator's counters with Nsight Compute's
//! (docs/counters.md).
//!
//! ```text
//! tensor_counters --metrics [AVAILABLE]     the metrics for `ncu`, those that AVAILABLE has
//! tensor_counters --device cuda             the launches, for `ncu`
//! tensor_counters --convert RAW             the columns of what `ncu` has printed
//! tensor_counters --measured FILE           a table of both
//! ```

#[path = "../../examples/support/ncu.rs"]
mod ncu;
#[path = "../../examples/support/ncu_tensor.rs"]
mod ncu_tensor;
#[path = "../../examples/support/mod.rs"]
mod support;

use lexopt::prelude::*;
use std::collections::BTreeSet;
use std::process::ExitCode;
use support::Outcome;
use support::output::{print, print_line, tell};
use tilewright::{Device, Profile, SimulatorOptions};

const USAGE: &str = "usage: tensor_counters --metrics [AVAILABLE] | --device cuda[:N] | --convert RAW | --measured FILE";

fn main() -> ExitCode {
    support::run(run)
}

fn run(mut parser: lexopt::Parser) -> Outcome {
    match parser.next()? {
        Some(Long("metrics")) => {
            let available = match parser.next()? {
                Some(Value(path)) => Some(std::fs::read_to_string(path)?),
                Some(other) => return Err(other.unexpected().into()),
                None => None,
            };
            metrics(available.as_deref())
        }
        Some(Long("device")) => {
            ncu_tensor::launch(&Device::open(support::device_choice(&mut parser)?)?)
        }
        Some(Long("convert")) => {
            let raw = std::fs::read_to_string(parser.value()?)?;
            Ok(print(ncu_tensor::convert(&raw)?)?)
        }
        Some(Long("measured")) => table(&std::fs::read_to_string(parser.value()?)?),
        Some(Short('h') | Long("help")) => support::help(USAGE),
        _ => Err(USAGE.into()),
    }
}

/// Prints the metrics, separated by commas. Those that `ncu --query-metrics` lacks are reported as unknown.
fn metrics(available: Option<&str>) -> Outcome {
    let wanted = ncu_tensor::metrics();
    let Some(available) = available else {
        return Ok(print_line(
            wanted.into_iter().collect::<Vec<_>>().join(","),
        )?);
    };
    // A line begins with a metric's name, without its aggregation, such as `.sum`.
    let names: BTreeSet<&str> = available
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let base = |metric: &str| metric.split('.').next().unwrap_or(metric).to_owned();
    let is_known = |metric: &&str| metric.starts_with("launch__") || names.contains(&*base(metric));
    let (known, unknown): (Vec<_>, Vec<_>) = wanted.into_iter().partition(is_known);
    for metric in unknown {
        tell(format_args!("unknown metric: {metric}"));
    }
    Ok(print_line(known.join(","))?)
}

fn table(measured: &str) -> Outcome {
    let device = Device::simulator_with(SimulatorOptions::default().with_profile(Profile::H200));
    let (outcome, report) = device.with_report(|| Ok(ncu_tensor::launch(&device)))?;
    outcome?;
    Ok(print(ncu::table(
        &ncu_tensor::COUNTERS,
        &report,
        &ncu::parse(measured)?,
    )?)?)
}
