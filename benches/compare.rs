//! This crate and its rivals, in turns, in one table: `cargo bench --bench compare`.
//!
//! Medians of samples that alternate between the contenders, so that clock drift affects all of
//! them. The benchmarks `sum` and `reductions` have Criterion's statistics.

mod common;
mod rivals;

use common::cases::Case;
use common::contest::{Contender, Contest};
use common::record::{self, Record, Times};
use common::{
    Result, copies, machine, open_device, reductions, reproducible, scans, segments, sums,
};
use rivals::{Rivals, nvcc};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tilewright::Device;
use tilewright_output::figures::Row;
use tilewright_test_support::selection::chosen;

const HELP: &str = "\
Compares copies, reductions and scans with those of CUB and torch on one device, and writes the figures as JSON.

Usage: cargo bench --bench compare -- [OPTIONS]

Options:
  --only TEXT    only contests whose name contains TEXT, such as `sum f32`. TEXT may be several texts
                 separated by commas; each must match a contest
  --samples N    samples of each contender [default: 30; on the simulator 3]
  --out FILE     the JSON file, relative to benches/ under cargo. Rows of other jobs are kept
                 [default: results/DEVICE-compare.json; on the simulator and with --only: none]
  --compile-rivals ARCH
                 without a device: compiles the C++ rivals for an architecture, such as sm_90, into the
                 folder TILEWRIGHT_RIVALS, and exits. Later runs with TILEWRIGHT_RIVALS set load them from there

TILEWRIGHT_CCCL is a folder with newer CCCL headers than nvcc's. CUB has fixed-size segments and reproducible
sums since 3.1.
  -h, --help     this text
";

/// Minimum duration of a sample: shorter ones would measure the events' resolution.
const SHORTEST_SAMPLE: Duration = Duration::from_millis(1);

/// Long enough for a device to raise its clocks.
const WARM_UP: Duration = Duration::from_millis(50);

/// Maximum calls per sample.
const MOST_CALLS: u64 = 1000;

fn main() -> ExitCode {
    common::exit(run())
}

fn run() -> Result {
    let Some(options) = Options::from_arguments()? else {
        print!("{HELP}");
        return Ok(());
    };
    if let Some(architecture) = &options.compile_rivals {
        return nvcc::compile_for_later(&rivals::sources(), architecture);
    }
    let device = open_device()?;
    let rivals = Rivals::of_reductions(&device);
    for (name, version) in rivals.versions() {
        println!("rival: {name} {}", version.unwrap_or_default());
    }
    let samples = options
        .samples
        .unwrap_or(if device.is_simulator() { 3 } else { 30 });
    let method = format!("medians of {samples} samples of at least {SHORTEST_SAMPLE:?}, in turns");
    let record = options
        .file(&device)
        .map(|path| Record::open(&path, "compare", (&device, 1), &method, rivals.versions()));
    let record = record.transpose()?;
    let cases = options.cases(&device)?;
    compare_all(&device, &rivals, &cases, samples, record.as_ref())
}

#[derive(Default)]
struct Options {
    only: Option<String>,
    samples: Option<usize>,
    out: Option<PathBuf>,
    compile_rivals: Option<String>,
}

impl Options {
    /// `None` for `--help`.
    fn from_arguments() -> Result<Option<Self>> {
        use lexopt::Arg::{Long, Short};
        use lexopt::ValueExt as _;
        let mut options = Self::default();
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                // Cargo passes this to every benchmark.
                Long("bench") => {}
                Long("only") => options.only = Some(arguments.value()?.string()?),
                Long("samples") => options.samples = Some(arguments.value()?.parse()?),
                Long("compile-rivals") => {
                    options.compile_rivals = Some(arguments.value()?.string()?);
                }
                Long("out") => options.out = Some(arguments.value()?.into()),
                Short('h') | Long("help") => return Ok(None),
                argument => return Err(argument.unexpected().into()),
            }
        }
        if options.samples == Some(0) {
            return Err("--samples has to be at least 1".into());
        }
        Ok(Some(options))
    }

    fn cases(&self, device: &Device) -> Result<Vec<Case>> {
        let mut cases = copies::cases(device);
        cases.extend(sums::cases(device));
        cases.extend(reproducible::cases(device));
        cases.extend(reductions::cases(device));
        cases.extend(segments::cases(device));
        cases.extend(scans::cases(device));
        if let Some(only) = &self.only {
            let names: Vec<_> = cases.iter().map(|case| case.name.as_str()).collect();
            let mut chosen = chosen(&names, only)?.into_iter();
            cases.retain(|_| chosen.next() == Some(true));
        }
        Ok(cases)
    }

    /// The JSON file, if any. Incomplete or simulated results are not kept.
    fn file(&self, device: &Device) -> Option<PathBuf> {
        if self.out.is_some() {
            return self.out.clone();
        }
        let complete = self.only.is_none() && !device.is_simulator();
        let name = machine::record(device, 1).file_name("compare");
        complete.then(|| Path::new("results").join(name))
    }
}

fn compare_all(
    device: &Device,
    rivals: &Rivals,
    cases: &[Case],
    samples: usize,
    record: Option<&Record>,
) -> Result {
    let width = width_of_names(cases);
    println!(
        "\n{:<width$} {:<23} {:>11} {:>14} {:>8}",
        "work", "by", "time", "speed", "of rival"
    );
    let mut rows: Vec<Row> = Vec::new();
    for case in cases {
        let Some(mut contest) = case.build(device, rivals)? else {
            continue;
        };
        let times = take_times(&mut contest, samples)?;
        print_rows(&contest, &times, width);
        let row = record::row(&contest, &times);
        let is_other_work = rows.last().is_some_and(|last| last.work != row.work);
        if let Some(record) = record.filter(|_| is_other_work) {
            // An interrupted run keeps its measurements.
            record.write(&rows)?;
        }
        rows.push(row);
        if let Some(torch) = &rivals.torch {
            torch
                .clear()
                .unwrap_or_else(|error| eprintln!("torch: {error}"));
        }
    }
    if let Some(record) = record {
        record.write(&rows)?;
    }
    println!("\n*: all operands fit into the L2 cache, for every contender.");
    println!("of rival: the fastest rival's time divided by this one; above 1 is faster.");
    Ok(())
}

/// The width of the column of names, including the mark of those that fit into the cache.
fn width_of_names(cases: &[Case]) -> usize {
    let names = cases.iter().map(|case| case.name.len() + 1);
    names.max().unwrap_or(0)
}

fn take_times(contest: &mut Contest, samples: usize) -> Result<Vec<Times>> {
    let device = contest.device.clone();
    let mut calls = Vec::new();
    for contender in &mut contest.contenders {
        calls.push(warm_up(contender, &device)?);
    }
    let mut seconds = vec![Vec::new(); calls.len()];
    for sample in 0..samples {
        for turn in 0..calls.len() {
            // In alternating order, so that no contender always follows the same one.
            let number = if sample % 2 == 0 {
                turn
            } else {
                calls.len() - 1 - turn
            };
            let time = contest.contenders[number].time(&device, calls[number])?;
            seconds[number].push(time.as_secs_f64() / calls[number] as f64);
        }
    }
    Ok(seconds.into_iter().map(Times::of).collect())
}

/// Warms the device up, and returns the number of calls that fill a sample.
fn warm_up(contender: &mut Contender, device: &Device) -> Result<u64> {
    let mut calls = 1;
    let mut total = Duration::ZERO;
    loop {
        let time = contender.time(device, calls)?;
        total += time;
        if time < SHORTEST_SAMPLE && calls < MOST_CALLS {
            calls = (calls * 2).min(MOST_CALLS);
        } else if total >= WARM_UP || device.is_simulator() {
            return Ok(calls);
        }
    }
}

/// The speed with its unit; empty for the simulator, whose time says nothing about a GPU's.
fn speed(contest: &Contest, times: &Times) -> String {
    if contest.device.is_simulator() {
        return String::new();
    }
    let (speed, unit) = (contest.work.speed(times.median), contest.work.unit());
    format!("{speed:.1} {:<7}", unit.symbol())
}

fn print_rows(contest: &Contest, times: &[Times], width: usize) {
    let rows = || contest.contenders.iter().zip(times);
    let rivals = rows().filter(|(contender, _)| !contender.ours);
    let rival = rivals.map(|(_, times)| times.median).min_by(f64::total_cmp);
    let mark = if contest.fits_cache() { "*" } else { "" };
    let mut name = contest.name() + mark;
    for (contender, times) in rows() {
        let ratio = rival
            .filter(|_| contender.ours)
            .map(|rival| rival / times.median);
        println!(
            "{name:<width$} {:<23} {:>8.1} us {:>14} {:>8}",
            contender.name,
            times.median * 1e6,
            speed(contest, times),
            ratio.map(|ratio| format!("{ratio:.3}")).unwrap_or_default(),
        );
        name.clear();
    }
}
