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

use half::{bf16, f16};
use lexopt::prelude::*;
use ndarray::{ArrayD, CowArray, IxDyn};
use npy::{ElementType, NpyFile};
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

  FILE.npy         numbers of type b1 (which are counted), i1 to i8, u1 to u8, f2, f4, f8, or bf16
                   of ml_dtypes, in either byte order; f2 and bf16 are added as f4
  --device DEVICE  sim is the simulator, cuda the first GPU, cuda:N another one; without it, the
                   device that TILEWRIGHT_DEVICE names, or a GPU if there is one
  --json           prints an object: sum (null where it is not finite), elements, device, seconds
  -h, --help       prints this";

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
    let small = |elements: ArrayD<u32>| sum_of(&device, elements.into(), as_json);
    let signed = |elements: ArrayD<i32>| sum_of(&device, elements.into(), as_json);
    match file.element_type() {
        ElementType::Bool => small(file.array().mapv(|it: u8| u32::from(it != 0))),
        ElementType::U8 => small(file.array().mapv(|it: u8| it.into())),
        ElementType::U16 => small(file.array().mapv(|it: u16| it.into())),
        ElementType::I8 => signed(file.array().mapv(|it: i8| it.into())),
        ElementType::I16 => signed(file.array().mapv(|it: i16| it.into())),
        ElementType::U32 => sum_of::<u32>(&device, file.array().into(), as_json),
        ElementType::I32 => sum_of::<i32>(&device, file.array().into(), as_json),
        ElementType::U64 => sum_of::<u64>(&device, file.array().into(), as_json),
        ElementType::I64 => sum_of::<i64>(&device, file.array().into(), as_json),
        ElementType::F16 => sum_of::<f16>(&device, file.array().into(), as_json),
        ElementType::Bf16 => sum_of::<bf16>(&device, file.array().into(), as_json),
        ElementType::F32 => sum_of::<f32>(&device, file.array().into(), as_json),
        ElementType::F64 => sum_of::<f64>(&device, file.array().into(), as_json),
    }
}

fn sum_of<T>(device: &Device, array: CowArray<'_, T, IxDyn>, as_json: bool) -> Outcome
where
    T: ReduceElement<Sum: Display + Serialize>,
{
    // Row-major or column-major does not matter: the sum is over all elements.
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
