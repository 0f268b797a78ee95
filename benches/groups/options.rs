//! The command line.

use crate::common::{Result, numbers};
use std::path::PathBuf;
use std::time::Duration;

pub const HELP: &str = "\
Compares sums and products on all devices of a group with those on its first device, and products with torch and NCCL
where Python has them: each rank gathers the columns of B and multiplies its rows of A.

Usage: cargo bench --bench groups -- [OPTIONS]

Options:
  --ranks N         the first N devices; without it, all that TILEWRIGHT_DEVICE allows. Where it is sim they are
                    simulated
  --only TEXT       only work whose name contains TEXT, such as `sum`, `bf16 16384`
  --warm-up SECS    of each contender, before it is timed [default: 1]
  --elements N,...  elements of the sums
                    [default: 268435456,1073741824,4294967296; on the simulator 100000]
  --sizes N,N,...   rows and columns of the square matrices
                    [default: 4096,8192,16384,32768; on the simulator 96]
  --out FILE        results as JSON
  -h, --help        this text
";

pub struct Options {
    pub ranks: Option<usize>,
    pub only: String,
    pub warm_up: Duration,
    pub elements: Option<Vec<usize>>,
    pub sizes: Option<Vec<usize>>,
    pub out: Option<PathBuf>,
}

impl Options {
    /// `None` for `--help`.
    pub fn from_arguments() -> Result<Option<Self>> {
        use lexopt::Arg::{Long, Short};
        use lexopt::ValueExt as _;
        let mut options = Self {
            ranks: None,
            only: String::new(),
            warm_up: Duration::from_secs(1),
            elements: None,
            sizes: None,
            out: None,
        };
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                // Cargo passes this to every benchmark.
                Long("bench") => {}
                Long("ranks") => options.ranks = Some(arguments.value()?.parse()?),
                Long("only") => options.only = arguments.value()?.string()?,
                Long("warm-up") => {
                    options.warm_up = Duration::try_from_secs_f64(arguments.value()?.parse()?)?;
                }
                Long("elements") => {
                    options.elements = Some(numbers(&arguments.value()?.string()?)?)
                }
                Long("sizes") => options.sizes = Some(numbers(&arguments.value()?.string()?)?),
                Long("out") => options.out = Some(arguments.value()?.into()),
                Short('h') | Long("help") => return Ok(None),
                argument => return Err(argument.unexpected().into()),
            }
        }
        Ok(Some(options))
    }
}
