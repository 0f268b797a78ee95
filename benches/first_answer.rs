//! The time from the start of a process to its first results.

use crate::common::Result;
use crate::rivals::driver;
use crate::row;
use std::process::Command;
use std::time::{Duration, Instant};
use tilewright::{Device, DeviceChoice};
use tilewright_output::figures::{Figure, Row};

/// Number of process starts. The table has the medians.
const STARTS: usize = 5;

/// The prefix of lines with times.
const PHASE: &str = "phase ";

/// The times from a process's start, with an empty and with a full driver cache.
pub fn table() -> Result<Vec<Row>> {
    println!("\nFrom the start of a process, medians of {STARTS}, in ms:");
    println!("{:<44} {:>12} {:>12}", "until", "empty cache", "full cache");
    let mut columns = Vec::new();
    for is_empty in [true, false] {
        let cache = tempfile::tempdir()?;
        if !is_empty {
            phases_of_process(cache.path())?;
        }
        let mut starts = Vec::new();
        for _ in 0..STARTS {
            let fresh = tempfile::tempdir()?;
            let cache = if is_empty { fresh.path() } else { cache.path() };
            starts.push(phases_of_process(cache)?);
        }
        columns.push(medians(&starts));
    }
    let mut records = Vec::new();
    for ((phase, empty), (_, full)) in columns[0].iter().zip(&columns[1]) {
        println!("{phase:<44} {empty:>12.1} {full:>12.1}");
        let figure = |name: &str, ms: f64| Figure::new(name, Some(ms * 1e-3));
        records.push(Row {
            ours: vec![
                figure("empty cache of the driver", *empty),
                figure("full cache of the driver", *full),
            ],
            ..row("from a process's start", phase)
        });
    }
    Ok(records)
}

type Phases = Vec<(String, f64)>;

fn medians(starts: &[Phases]) -> Phases {
    let median = |number: usize| {
        let mut times: Vec<f64> = starts.iter().map(|phases| phases[number].1).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let names = starts[0].iter().enumerate();
    names
        .map(|(number, (name, _))| (name.clone(), median(number)))
        .collect()
}

/// The phases of a process whose driver caches compiled kernels in `cache`.
fn phases_of_process(cache: &std::path::Path) -> Result<Phases> {
    let start = Instant::now();
    let output = Command::new(std::env::current_exe()?)
        .arg("--answer-and-exit")
        .env("CUDA_CACHE_PATH", cache)
        .env_remove("CUDA_CACHE_DISABLE")
        .stderr(std::process::Stdio::inherit())
        .output()?;
    let end = milliseconds(start.elapsed());
    if !output.status.success() {
        return Err("the process for the first answer failed".into());
    }
    let text = String::from_utf8(output.stdout)?;
    let lines = text.lines().filter_map(|line| line.strip_prefix(PHASE));
    let mut phases = Vec::new();
    for line in lines {
        let (time, name) = line.split_once(' ').ok_or("a phase without a name")?;
        phases.push((name.to_owned(), time.parse()?));
    }
    phases.push(("the end of the process, from outside".to_owned(), end));
    Ok(phases)
}

/// Prints the completion time of each step of a process's first sum and product.
pub fn answer() -> Result {
    let start = Instant::now();
    let until = |name: &str| println!("{PHASE}{} {name}", milliseconds(start.elapsed()));
    if DeviceChoice::from_env()? != Some(DeviceChoice::Simulator) {
        driver::init()?;
        until("cuInit");
        driver::retain_context()?;
        until("the primary context");
    }
    let device = Device::from_env()?;
    until("the device is open");
    let x = device.upload(&[1.0_f32; 1000])?;
    until("the first upload");
    let sum = device.reduce_sum(&x)?;
    until("the first sum");
    device.reduce_sum(&x)?;
    until("the second sum");
    let a = device.matrix((64, 64), &[1.0_f32; 64 * 64])?;
    let c = device.matmul_coarsened(&a, &a)?.to_vec()?;
    until("the first product");
    if sum != 1000.0 || c[0] != 64.0 {
        return Err(format!("wrong answers: {sum} and {}", c[0]).into());
    }
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
