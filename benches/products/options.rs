//! The command line.

use crate::common::{Result, numbers};
use std::path::PathBuf;
use std::time::Duration;

pub const HELP: &str = "\
Compares matmul with cuBLAS and cuBLASLt on one device: speed, and for f32 the error.

Usage: cargo bench --bench products -- [OPTIONS]

Options:
  --only TEXT       only products whose name contains TEXT, such as `bf16 4096`, `layer bf16`, `batch-invariant`,
                    `product f32`, `gram`; may be repeated, to match one of several texts
  --as-selected     only rows with the kernels that `matmul` selects: no other tiles or arithmetic, no prepared
                    operands
  --warm-up SECS    warm-up of each contender before it is timed [default: 1]
  --sizes N,N,...   rows and columns of the square matrices
                    [default: 512,1024,1536,2048,4096,6144,8192; on the simulator 256]
  --out FILE        figures as JSON; keeps the rows of other products for the same device and driver
  -h, --help        this text
";

pub struct Options {
    /// None for all products.
    only: Vec<String>,
    pub as_selected: bool,
    pub warm_up: Duration,
    pub sizes: Option<Vec<usize>>,
    pub out: Option<PathBuf>,
}

impl Options {
    /// `None` for `--help`.
    pub fn from_arguments() -> Result<Option<Self>> {
        use lexopt::Arg::{Long, Short};
        use lexopt::ValueExt as _;
        let mut options = Self {
            only: Vec::new(),
            as_selected: false,
            warm_up: Duration::from_secs(1),
            sizes: None,
            out: None,
        };
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                // Cargo passes this to every benchmark.
                Long("bench") => {}
                Long("only") => options.only.push(arguments.value()?.string()?),
                Long("as-selected") => options.as_selected = true,
                Long("warm-up") => {
                    options.warm_up = Duration::try_from_secs_f64(arguments.value()?.parse()?)?;
                }
                Long("sizes") => options.sizes = Some(numbers(&arguments.value()?.string()?)?),
                Long("out") => options.out = Some(arguments.value()?.into()),
                Short('h') | Long("help") => return Ok(None),
                argument => return Err(argument.unexpected().into()),
            }
        }
        Ok(Some(options))
    }

    /// Whether the product of this name is to run.
    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|text| name.contains(text))
    }
}
