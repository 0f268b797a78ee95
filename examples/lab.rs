//! Runs a kernel of the crate on the simulator and says what it costs, line by line, and what
//! bounds it on a device of your choice. It needs no GPU.
//!
//! ```text
//! cargo run --release --example lab -- KERNEL [--profile h200] [--size N] [--html FILE] [--json]
//! ```
//!
//! Registers, which decide the occupancy, are those of `ptxas` (the variable PTXAS, or the PATH);
//! without it, the most that the kernel's launch bounds allow.

mod support;

use lexopt::prelude::*;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use support::workloads::{WORKLOADS, Workload};
use support::{Outcome, ptxas};
use tilewright::{Device, LaunchReport, Profile, SimulatorOptions};

const USAGE: &str = "usage: lab KERNEL [--profile NAME] [--size N] [--html FILE] [--json]";

/// What the command line asks for.
#[derive(Default)]
struct Arguments {
    kernel: Option<String>,
    profile: Profile,
    size: Option<usize>,
    html: Option<PathBuf>,
    json: bool,
}

fn main() -> ExitCode {
    support::run(lab)
}

fn lab(mut parser: lexopt::Parser) -> Outcome {
    let mut arguments = Arguments::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Value(name) if arguments.kernel.is_none() => arguments.kernel = Some(name.string()?),
            Long("profile") => arguments.profile = parser.value()?.string()?.parse()?,
            Long("size") => arguments.size = Some(parser.value()?.parse()?),
            Long("html") => arguments.html = Some(parser.value()?.into()),
            Long("json") => arguments.json = true,
            Short('h') | Long("help") => return support::help(&help()),
            other => return Err(other.unexpected().into()),
        }
    }
    let kernel = arguments.kernel.as_deref().ok_or_else(help)?;
    let report = measure(Workload::find(kernel)?, arguments.profile, arguments.size)?;
    if arguments.json {
        println!("{}", report.to_json());
    } else {
        print!("{report}");
    }
    match &arguments.html {
        Some(path) => write_page(&report, path),
        None => Ok(()),
    }
}

fn help() -> String {
    let kernels: Vec<_> = WORKLOADS.iter().map(|workload| workload.name).collect();
    let profiles: Vec<_> = Profile::ALL.iter().map(|profile| profile.name()).collect();
    format!(
        "{USAGE}\nkernels: {}\nprofiles: {}",
        kernels.join(", "),
        profiles.join(", ")
    )
}

fn measure(workload: &Workload, profile: Profile, size: Option<usize>) -> Outcome<LaunchReport> {
    let device = Device::simulator_with(SimulatorOptions::default().with_profile(profile));
    let size = size.unwrap_or(workload.size);
    let (outcome, mut report) = device.with_report(|| Ok(workload.launch(&device, size)))?;
    outcome?;
    let registers = profile
        .datasheet()
        .compute_capability
        .and_then(ptxas::registers);
    match registers {
        Some(registers) => report.set_registers(|kernel| registers.get(kernel).copied()),
        None => eprintln!("no ptxas: registers are the most that the launch bounds allow"),
    }
    Ok(report)
}

fn write_page(report: &LaunchReport, path: &Path) -> Outcome {
    std::fs::write(path, report.to_html())
        .map_err(|error| format!("{}: {error}", path.display()))?;
    eprintln!("{} is written", path.display());
    Ok(())
}
