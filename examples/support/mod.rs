//! Shared parts of the programs: one-line failures, the option `--device`, timing.

#![allow(dead_code, reason = "each example uses a part of it")]

pub use tilewright_output::{self as output, Outcome};

use lexopt::Parser;
use output::{PrintError, print_line, tell};
use std::process::ExitCode;
use std::time::Duration;
use tilewright::{Device, DeviceChoice};

/// Runs an example. A failure becomes one line on stderr and exit code 1. If the reader of standard output has closed
/// it, there is no line.
pub fn run(example: fn(Parser) -> Outcome) -> ExitCode {
    match example(Parser::from_env()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let closed_pipe = failure
                .downcast_ref()
                .is_some_and(PrintError::is_closed_pipe);
            if !closed_pipe {
                tell(format_args!("error: {failure}"));
            }
            ExitCode::FAILURE
        }
    }
}

/// The options that all programs have, in the text of `--help`.
pub const DEVICE: &str = "
  --device DEVICE  sim is the simulator, cuda the first GPU, cuda:N another one; without it, the
                   device that TILEWRIGHT_DEVICE names, or a GPU if there is one
  -h, --help       prints this";

/// Prints the text of `--help`.
pub fn help(usage: &str) -> Outcome {
    Ok(print_line(usage)?)
}

/// The value of the option `--device`.
pub fn device_choice(parser: &mut Parser) -> Outcome<DeviceChoice> {
    let name = parser.value()?;
    let name = name.to_string_lossy();
    name.parse().map_err(|_| {
        format!("there is no device `{name}`: --device can be sim, cuda or cuda:N").into()
    })
}

/// The device of the option `--device`, or else of the environment.
pub fn open(choice: Option<DeviceChoice>) -> Outcome<Device> {
    let device = match choice {
        Some(choice) => Device::open(choice),
        None => Device::from_env(),
    };
    Ok(device.map_err(|error| for_users(&error, "--device sim"))?)
}

/// The message of an error, with the library's advice to programmers replaced by advice to users; `simulator` says
/// how to choose the simulator.
pub fn for_users(error: &tilewright::Error, simulator: &str) -> String {
    error
        .to_string()
        .replace("device `sim`, or Device::simulator() in code", simulator)
}

/// `count` numbers, those of the indices from 0 on; the count is none if it has more than 64 bits.
pub fn numbers<T>(count: Option<usize>, number: impl Fn(usize) -> T) -> Outcome<Vec<T>> {
    let too_many = || "there is no memory for so many numbers";
    let count = count.ok_or_else(too_many)?;
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(count).map_err(|_| too_many())?;
    numbers.extend((0..count).map(number));
    Ok(numbers)
}

/// Loads the kernels by summing one number: on CUDA, the first call compiles them, which no time should include.
pub fn load_kernels(device: &Device) -> tilewright::Result<()> {
    device.reduce_sum(&device.upload(&[1.0_f32])?)?;
    Ok(())
}

/// The result of `work`, and the time that it kept the device busy.
pub fn timed<R>(
    device: &Device,
    work: impl FnOnce() -> tilewright::Result<R>,
) -> tilewright::Result<(R, Duration)> {
    let start = device.record_event()?;
    let result = work()?;
    let time = device.record_event()?.elapsed_since(&start)?;
    Ok((result, time))
}
