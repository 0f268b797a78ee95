//! The sum of all numbers in a file, which may be larger than the memory of the host and of the device.
//!
//! ```text
//! cargo run --release --example sum -- FILE [--raw TYPE] [--device sim|cuda|cuda:N] [--json]
//! ```

#[path = "support/npy/mod.rs"]
mod npy;
#[path = "support/progress.rs"]
mod progress;
mod support;

use bytemuck::Pod;
use half::{bf16, f16};
use lexopt::prelude::*;
use npy::ElementType;
use npy::stream::NumberFile;
use serde::Serialize;
use serde_json::json;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use support::Outcome;
use support::output::{Failure, print_line};
use tilewright::{Device, ReduceElement, ops};

const USAGE: &str = "usage: sum FILE [--raw TYPE] [--device sim|cuda|cuda:N] [--json]";

const OPTIONS: &str = "
Adds all numbers of an array of any shape. The file may be larger than the memory of the host and
of the device. The sum has the same bits on every device.

  FILE             a NumPy file (.npy) of type b1 (which is counted), i1 to i8, u1 to u8, f2, f4,
                   f8, or bf16 of ml_dtypes, in either byte order; f2 and bf16 are added as f4
  --raw TYPE       the file has no header, and little-endian numbers of this type
  --device DEVICE  sim is the simulator, cuda the first GPU, cuda:N another one; without it, the
                   device that TILEWRIGHT_DEVICE names, or a GPU if there is one
  --json           prints an object: sum (null where it is not finite), elements, device, seconds
  -h, --help       prints this";

/// Bytes of a chunk that is copied to the device, or more: a 256th of the file.
const CHUNK_BYTES: usize = 64 << 20;

fn main() -> ExitCode {
    support::run(sum)
}

fn sum(mut parser: lexopt::Parser) -> Outcome {
    let (mut path, mut raw, mut choice, mut as_json) = (None, None, None, false);
    while let Some(argument) = parser.next()? {
        match argument {
            Value(value) if path.is_none() => path = Some(PathBuf::from(value)),
            Long("raw") => raw = Some(element_type(&mut parser)?),
            Long("device") => choice = Some(support::device_choice(&mut parser)?),
            Long("json") => as_json = true,
            Short('h') | Long("help") => return support::help(&[USAGE, OPTIONS].concat()),
            other => return Err(other.unexpected().into()),
        }
    }
    let path = path.ok_or_else(|| format!("no file is named; {USAGE}"))?;
    let file = match raw {
        Some(element) => NumberFile::open_raw(&path, element)?,
        None => NumberFile::open(&path)?,
    }
    .with_progress("adding");
    let sum = Sum {
        device: support::open(choice)?,
        as_json,
        file,
    };
    match sum.file.element_type() {
        ElementType::Bool => sum.converted(|it: u8| u32::from(it != 0)),
        ElementType::U8 => sum.converted(|it: u8| u32::from(it)),
        ElementType::U16 => sum.converted(|it: u16| u32::from(it)),
        ElementType::I8 => sum.converted(|it: i8| i32::from(it)),
        ElementType::I16 => sum.converted(|it: i16| i32::from(it)),
        ElementType::U32 => sum.of::<u32>(),
        ElementType::I32 => sum.of::<i32>(),
        ElementType::U64 => sum.of::<u64>(),
        ElementType::I64 => sum.of::<i64>(),
        ElementType::F16 => sum.of::<f16>(),
        ElementType::Bf16 => sum.of::<bf16>(),
        ElementType::F32 => sum.of::<f32>(),
        ElementType::F64 => sum.of::<f64>(),
    }
}

/// The value of the option `--raw`.
fn element_type(parser: &mut lexopt::Parser) -> Outcome<ElementType> {
    let name = parser.value()?;
    let name = name.to_string_lossy();
    ElementType::named(&name).ok_or_else(|| {
        format!(
            "there is no type `{name}`: --raw can be b1, i1 to i8, u1 to u8, f2, f4, f8 or bf16"
        )
        .into()
    })
}

struct Sum {
    device: Device,
    as_json: bool,
    file: NumberFile,
}

impl Sum {
    /// Adds numbers of a type that the device adds.
    fn of<T>(self) -> Outcome
    where
        T: ReduceElement<Sum: Display + Serialize>,
    {
        self.read(|file, start, elements: &mut [T]| file.read(start, elements))
    }

    /// Adds numbers that are converted first.
    fn converted<N: Pod, T>(self, convert: impl Fn(N) -> T) -> Outcome
    where
        T: ReduceElement<Sum: Display + Serialize>,
    {
        self.read(|file, start, elements: &mut [T]| file.read_as(start, elements, &convert))
    }

    /// Adds the numbers that `read` reads. Their order is that of the file: for a sum over all elements, row-major or
    /// column-major does not matter.
    fn read<T>(
        mut self,
        mut read: impl FnMut(&mut NumberFile, usize, &mut [T]) -> Outcome,
    ) -> Outcome
    where
        T: ReduceElement<Sum: Display + Serialize>,
    {
        support::load_kernels(&self.device)?;
        let len = self.file.len();
        let chunk = (CHUNK_BYTES / size_of::<T>()).max(len / 256).min(len);
        let mut reducer = self.device.host_reducer::<T>(chunk)?;
        let start = Instant::now();
        let sum = reducer.reduce_from::<_, Failure>(len, ops::Sum, |start, elements| {
            read(&mut self.file, start, elements)
        })?;
        let time = start.elapsed();
        // The progress ends before the result is printed.
        drop(self.file);
        let device = self.device.name();
        if self.as_json {
            let seconds = time.as_secs_f64();
            print_line(
                json!({ "sum": sum, "elements": len, "device": device, "seconds": seconds }),
            )?;
            return Ok(());
        }
        print_line(format_args!("sum       {sum}"))?;
        print_line(format_args!("elements  {len}"))?;
        print_line(format_args!("device    {device}"))?;
        print_line(format_args!("time      {time:.1?}"))?;
        Ok(())
    }
}
