//! The sum of all numbers in a NumPy file.
//!
//! ```text
//! cargo run --release --example sum -- FILE.npy [--device sim|cuda|cuda:N] [--json]
//! ```

#[path = "support/npy/mod.rs"]
mod npy;
#[path = "support/progress.rs"]
mod progress;
mod support;

use half::f16;
use lexopt::prelude::*;
use ndarray::{CowArray, IxDyn};
use npy::NpyFile;
use serde::Serialize;
use serde_json::json;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;
use support::output::print_line;
use support::{Outcome, timed};
use tilewright::{Device, ReduceElement};

const USAGE: &str = "usage: sum FILE.npy [--device sim|cuda|cuda:N] [--json]";

const OPTIONS: &str = "
Adds all numbers of an array of any shape. The sum has the same bits on every device.

  FILE.npy         numbers of type f2, f4, f8, u1, i4 or i8, in either byte order; f2 is added as f4
  --device DEVICE  sim is the simulator, cuda the first GPU, cuda:N another one; without it, the
                   device that TILEWRIGHT_DEVICE names, or a GPU if there is one
  --json           prints an object: sum (null where it is not finite), elements, device, seconds
  -h, --help       prints this";

const TYPES: &str =
    "f2 (float16), f4 (float32), f8 (float64), u1 (uint8), i4 (int32) or i8 (int64)";

fn main() -> ExitCode {
    support::run(sum)
}

fn sum(mut parser: lexopt::Parser) -> Outcome {
    let (mut path, mut choice, mut as_json) = (None, None, false);
    while let Some(argument) = parser.next()? {
        match argument {
            Value(value) if path.is_none() => path = Some(PathBuf::from(value)),
            Long("device") => choice = Some(support::device_choice(&mut parser)?),
            Long("json") => as_json = true,
            Short('h') | Long("help") => return support::help(&[USAGE, OPTIONS].concat()),
            other => return Err(other.unexpected().into()),
        }
    }
    let path = path.ok_or_else(|| format!("no file is named; {USAGE}"))?;
    let file = NpyFile::read(&path)?;
    let device = support::open(choice)?;
    match file.element_type()?.as_str() {
        "<f2" => sum_of(&device, file.array()?.mapv(f16::from_bits).into(), as_json),
        "<f4" => sum_of::<f32>(&device, file.array()?, as_json),
        "<f8" => sum_of::<f64>(&device, file.array()?, as_json),
        "|u1" => sum_of(
            &device,
            file.array()?.mapv(|it: u8| u32::from(it)).into(),
            as_json,
        ),
        "<i4" => sum_of::<i32>(&device, file.array()?, as_json),
        "<i8" => sum_of::<i64>(&device, file.array()?, as_json),
        other => Err(file.wrong_type(other, TYPES)),
    }
}

fn sum_of<T>(device: &Device, array: CowArray<'_, T, IxDyn>, as_json: bool) -> Outcome
where
    T: ReduceElement<Sum: Display + Serialize>,
{
    // Row-major or column-major: the sum is over all elements.
    let elements = array
        .as_slice_memory_order()
        .expect("an array in a file has no gaps");
    let x = progress::during("uploading", || device.upload(elements))?;
    support::load_kernels(device)?;
    let (sum, time) = progress::during("adding", || timed(device, || device.reduce_sum(&x)))?;
    let (elements, device) = (elements.len(), device.name());
    if as_json {
        let seconds = time.as_secs_f64();
        print_line(
            json!({ "sum": sum, "elements": elements, "device": device, "seconds": seconds }),
        )?;
        return Ok(());
    }
    print_line(format_args!("sum       {sum}"))?;
    print_line(format_args!("elements  {elements}"))?;
    print_line(format_args!("device    {device}"))?;
    print_line(format_args!("time      {time:.1?}"))?;
    Ok(())
}
