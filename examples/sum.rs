//! The sum of all numbers in a NumPy file.
//!
//! ```text
//! cargo run --release --example sum -- FILE.npy [--device sim|cuda|cuda:N]
//! ```

#[path = "support/npy/mod.rs"]
mod npy;
#[path = "support/progress.rs"]
mod progress;
mod support;

use lexopt::prelude::*;
use ndarray_npy::{ReadableElement, ViewElement};
use npy::NpyFile;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;
use support::output::print_line;
use support::{Outcome, timed};
use tilewright::{Device, ReduceElement};

const USAGE: &str = "usage: sum FILE.npy [--device sim|cuda|cuda:N]";

const TYPES: &str = "<f4 (float32), <f8 (float64), <i4 (int32) or <i8 (int64)";

fn main() -> ExitCode {
    support::run(sum)
}

fn sum(mut parser: lexopt::Parser) -> Outcome {
    let (mut path, mut choice) = (None, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Value(value) if path.is_none() => path = Some(PathBuf::from(value)),
            Long("device") => choice = Some(support::device_choice(&mut parser)?),
            Short('h') | Long("help") => return support::help(USAGE),
            other => return Err(other.unexpected().into()),
        }
    }
    let path = path.ok_or_else(|| format!("no file is named; {USAGE}"))?;
    let file = NpyFile::read(&path)?;
    let device = support::open(choice)?;
    match file.element_type()?.as_str() {
        "<f4" => sum_of::<f32>(&device, &file),
        "<f8" => sum_of::<f64>(&device, &file),
        "<i4" => sum_of::<i32>(&device, &file),
        "<i8" => sum_of::<i64>(&device, &file),
        other => Err(file.wrong_type(other, TYPES)),
    }
}

fn sum_of<T>(device: &Device, file: &NpyFile) -> Outcome
where
    T: ReduceElement<Sum: Display> + ViewElement + ReadableElement,
{
    let array = file.array::<T>()?;
    // Row-major or column-major: the sum is over all elements.
    let elements = array
        .as_slice_memory_order()
        .expect("an array in a file has no gaps");
    let x = progress::during("uploading", || device.upload(elements))?;
    support::load_kernels(device)?;
    let (sum, time) = progress::during("adding", || timed(device, || device.reduce_sum(&x)))?;
    print_line(format_args!("sum       {sum}"))?;
    print_line(format_args!("elements  {}", elements.len()))?;
    print_line(format_args!("device    {}", device.name()))?;
    print_line(format_args!("time      {time:.1?}"))?;
    Ok(())
}
