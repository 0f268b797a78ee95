//! Shared parts of the benchmarks: jobs, contenders, timing.

#![allow(dead_code, reason = "each benchmark uses a part of it")]

pub mod cases;
pub mod contest;
pub mod copies;
pub mod criterion;
pub mod host_time;
pub mod lines;
pub mod machine;
pub mod products;
pub mod record;
pub mod reductions;
pub mod reproducible;
pub mod row_values;
pub mod rows;
pub mod samples;
pub mod scans;
pub mod segments;
pub mod selections;
pub mod steady;
pub mod sums;

use std::error::Error;
use std::process::ExitCode;
use tilewright::Device;

/// The result of a benchmark's step; the error is one line.
pub type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// Prints the error, if any, and returns the exit code.
pub fn exit(result: Result) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Opens the device from the environment, and prints its description.
pub fn open_device() -> Result<Device> {
    let device = Device::from_env().map_err(|error| {
        format!("{error}\n(TILEWRIGHT_DEVICE=sim runs the benchmarks on the simulator)")
    })?;
    println!("device: {}", machine::describe(&device));
    if device.is_simulator() {
        println!("The simulator runs a few tiny sizes: its times say nothing about a GPU's.");
    }
    Ok(device)
}

/// The numbers of an option's comma-separated list.
pub fn numbers(list: &str) -> Result<Vec<usize>> {
    let numbers = list.split(',').map(str::parse);
    Ok(numbers.collect::<std::result::Result<_, _>>()?)
}
