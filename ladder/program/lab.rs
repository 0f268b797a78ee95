//! Runs a kernel of the crate on the simulator and shows its cost, line by line, and its bottleneck
//! on a device of your choice. It needs no GPU.
//!
//! ```text
//! cargo lab KERNEL [--profile h200] [--size N] [--html FILE] [--json]
//! cargo lab LADDER/STEP [--parameter N] [--profile h200] [--html FILE]
//! ```
//!
//! With `--baseline FILE`, the JSON of an earlier run, it shows the change of each counter.
//!
//! A kernel is one of the library's (`matmul_tiled`) or a step of a ladder (`sum/interleaved`). A step's parameter is
//! its number of threads, its distance or its factor.
//!
//! Occupancy depends on the registers per thread. They are those of the checked-in PTX, from a table that `cargo
//! xtask ptxas` keeps up to date, or from the `ptxas` in the environment variable PTXAS. The report states which, and
//! whether the sources have changed since.

mod common;
mod ladders;
mod registers;
#[path = "../../benches/rivals/mod.rs"]
mod rivals;
#[path = "../../examples/support/mod.rs"]
mod support;
#[path = "../../examples/support/workloads.rs"]
mod workloads;

use ladders::LADDERS;
use ladders::case::{Case, Scale};
use lexopt::prelude::*;
use std::path::PathBuf;
use std::process::ExitCode;
use support::Outcome;
use support::output::{print, print_line, style, terminal_width, write_text};
use tilewright::{Device, LaunchReport, Profile, SimulatorOptions};
use workloads::{WORKLOADS, Workload};

const USAGE: &str = "usage: lab KERNEL|LADDER/STEP [--profile NAME] [--size N] [--parameter N]\n\
                     \x20          [--html FILE] [--json] [--baseline FILE]";

/// The command line.
#[derive(Default)]
struct Arguments {
    kernel: Option<String>,
    profile: Profile,
    size: Option<usize>,
    parameter: Option<u32>,
    html: Option<PathBuf>,
    json: bool,
    baseline: Option<PathBuf>,
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
            Long("parameter") => arguments.parameter = Some(parser.value()?.parse()?),
            Long("html") => arguments.html = Some(parser.value()?.into()),
            Long("baseline") => arguments.baseline = Some(parser.value()?.into()),
            Long("json") => arguments.json = true,
            Short('h') | Long("help") => return support::help(&help()),
            other => return Err(other.unexpected().into()),
        }
    }
    let kernel = arguments.kernel.as_deref().ok_or_else(help)?;
    let report = measure(kernel, &arguments)?;
    if let Some(path) = &arguments.html {
        write_text(path, &tilewright_report::html(&report))?;
    }
    if let Some(path) = &arguments.baseline {
        let failure = |error: String| format!("{}: {error}", path.display());
        let baseline = std::fs::read_to_string(path).map_err(|it| failure(it.to_string()))?;
        let columns = terminal_width();
        let text = tilewright_report::comparison(&baseline, &report, columns).map_err(failure)?;
        print(text)?;
    } else if arguments.json {
        print_line(tilewright_report::json(&report))?;
    } else {
        let table = tilewright_report::table_within(&report, terminal_width());
        print(emphasised(&table, |line| style(line).bold().to_string()))?;
    }
    Ok(())
}

/// A report's table with kernel names and column heads formatted by `emphasis`, like the titles of a ladder.
fn emphasised(table: &str, emphasis: impl Fn(&str) -> String) -> String {
    let is_kernel = |line: &str| line.starts_with(|first: char| !first.is_whitespace());
    let is_head = |line: &str| line.starts_with(" line, instruction");
    let lines = table.lines().map(|line| match line {
        line if is_kernel(line) || is_head(line) => emphasis(line) + "\n",
        line => format!("{line}\n"),
    });
    lines.collect()
}

fn help() -> String {
    let kernels: Vec<_> = WORKLOADS.iter().map(|workload| workload.name).collect();
    let ladders: Vec<_> = LADDERS.iter().map(|ladder| ladder.name).collect();
    let profiles: Vec<_> = Profile::ALL.iter().map(|profile| profile.name()).collect();
    format!(
        "{USAGE}\nkernels: {}\nladders: {}\nprofiles: {}",
        kernels.join(", "),
        ladders.join(", "),
        profiles.join(", ")
    )
}

/// The report of one launch of `kernel`.
fn measure(kernel: &str, arguments: &Arguments) -> Outcome<LaunchReport> {
    let profile = arguments.profile;
    let device = Device::simulator_with(SimulatorOptions::default().with_profile(profile));
    let mut report = match kernel.split_once('/') {
        Some((ladder, step)) => step_report(&device, ladder, step, arguments.parameter)?,
        None => kernel_report(&device, Workload::find(kernel)?, arguments.size)?,
    };
    registers::set(&mut report)?;
    Ok(report)
}

fn kernel_report(
    device: &Device,
    workload: &Workload,
    size: Option<usize>,
) -> Outcome<LaunchReport> {
    let size = size.unwrap_or(workload.size);
    let (outcome, report) = device.with_report(|| Ok(workload.launch(device, size)))?;
    outcome?;
    Ok(report)
}

/// The report of a step of a ladder. Its result is checked.
fn step_report(
    device: &Device,
    ladder: &str,
    step: &str,
    parameter: Option<u32>,
) -> Outcome<LaunchReport> {
    let cases = ladders::find(ladder)?.counted_cases(device)?;
    let is_chosen =
        |case: &&Case| case.slug() == step && (parameter.is_none() || parameter == case.parameter);
    let case = cases.iter().find(is_chosen).ok_or_else(|| {
        let mut steps: Vec<_> = cases.iter().map(Case::slug).collect();
        steps.dedup();
        format!("the ladder has no such step; it has {}", steps.join(", "))
    })?;
    let mut trial = (case.prepare)(device, Scale::Counted)?;
    let (outcome, report) = device.with_report(|| Ok(trial.launch()))?;
    outcome?;
    trial.check()?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_and_heads_are_emphasised_and_no_character_changes_otherwise() -> Outcome {
        let device = Device::simulator();
        let x = device.upload(&[1.0_f32; 1000])?;
        let (_, report) = device.with_report(|| device.reduce_sum(&x))?;
        let table = tilewright_report::table_within(&report, 80);
        let text = emphasised(&table, |line| format!("<{line}>"));
        let marked: Vec<&str> = text.lines().filter(|it| it.starts_with('<')).collect();
        assert_eq!(marked.len(), 2, "{text}");
        assert!(marked[0].starts_with("<reduce_sum_f32 on "), "{text}");
        assert!(marked[1].contains("requests"), "{text}");
        assert_eq!(emphasised(&table, str::to_owned), table);
        Ok(())
    }
}
