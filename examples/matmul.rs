//! Writes the product of the matrices in two NumPy files to a third.
//!
//! ```text
//! cargo run --release --example matmul -- A.npy B.npy -o C.npy
//!     [--kernel tiled|coarsened] [--device sim|cuda|cuda:N]
//! ```

#[path = "support/npy/mod.rs"]
mod npy;
#[path = "support/progress.rs"]
mod progress;
mod support;

use lexopt::prelude::*;
use ndarray_npy::{ReadableElement, ViewElement, WritableElement};
use npy::NpyFile;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use support::output::print_line;
use support::{Outcome, timed};
use tilewright::{Device, DeviceChoice, GemmElement, Matrix};

const USAGE: &str =
    "usage: matmul A.npy B.npy -o C.npy [--kernel tiled|coarsened] [--device sim|cuda|cuda:N]";

const TYPES: &str = "<f4 (float32) or <f8 (float64)";

/// One of the library's products.
#[derive(Clone, Copy, Default)]
enum Kernel {
    Tiled,
    #[default]
    Coarsened,
}

impl Kernel {
    fn multiply<T: GemmElement>(
        self,
        device: &Device,
        a: &Matrix<T>,
        b: &Matrix<T>,
    ) -> tilewright::Result<Matrix<T>> {
        match self {
            Self::Tiled => device.matmul_tiled(a, b),
            Self::Coarsened => device.matmul_coarsened(a, b),
        }
    }
}

/// The command line.
#[derive(Default)]
struct Arguments {
    factors: Vec<PathBuf>,
    product: Option<PathBuf>,
    kernel: Kernel,
    device: Option<DeviceChoice>,
}

impl Arguments {
    /// `None` for `--help`.
    fn parse(mut parser: lexopt::Parser) -> Outcome<Option<Self>> {
        let mut arguments = Self::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Value(path) if arguments.factors.len() < 2 => arguments.factors.push(path.into()),
                Short('o') | Long("output") => arguments.product = Some(parser.value()?.into()),
                Long("kernel") => arguments.kernel = kernel(&parser.value()?.to_string_lossy())?,
                Long("device") => arguments.device = Some(support::device_choice(&mut parser)?),
                Short('h') | Long("help") => return Ok(None),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(Some(arguments))
    }
}

fn kernel(name: &str) -> Outcome<Kernel> {
    match name {
        "tiled" => Ok(Kernel::Tiled),
        "coarsened" => Ok(Kernel::Coarsened),
        _ => Err(format!("there is no kernel `{name}`: --kernel can be tiled or coarsened").into()),
    }
}

fn main() -> ExitCode {
    support::run(matmul)
}

fn matmul(parser: lexopt::Parser) -> Outcome {
    let Some(Arguments {
        factors,
        product,
        kernel,
        device,
    }) = Arguments::parse(parser)?
    else {
        return support::help(USAGE);
    };
    let ([a, b], Some(product)) = (factors.as_slice(), product) else {
        return Err(format!("two factors and a product must be named; {USAGE}").into());
    };
    let factors = [NpyFile::read(a)?, NpyFile::read(b)?];
    let device = support::open(device)?;
    match common_type(&factors)?.as_str() {
        "<f4" => multiply::<f32>(&device, kernel, &factors, &product),
        _ => multiply::<f64>(&device, kernel, &factors, &product),
    }
}

/// The type of both files' elements, which is one of [`TYPES`].
fn common_type([a, b]: &[NpyFile; 2]) -> Outcome<String> {
    let (of_a, of_b) = (a.element_type()?, b.element_type()?);
    for (file, found) in [(a, &of_a), (b, &of_b)] {
        if !["<f4", "<f8"].contains(&found.as_str()) {
            return Err(file.wrong_type(found, TYPES));
        }
    }
    if of_a == of_b {
        Ok(of_a)
    } else {
        Err(b.wrong_type(&of_b, &format!("{of_a}, as in the other file")))
    }
}

fn multiply<T>(device: &Device, kernel: Kernel, [a, b]: &[NpyFile; 2], product: &Path) -> Outcome
where
    T: GemmElement + ViewElement + ReadableElement + WritableElement,
{
    let (a, b) = (a.matrix::<T>()?, b.matrix::<T>()?);
    let (a, b) = progress::during("uploading", || -> tilewright::Result<_> {
        Ok((
            device.matrix_from_array(a.view())?,
            device.matrix_from_array(b.view())?,
        ))
    })?;
    support::load_kernels(device)?;
    let (c, time) = progress::during("multiplying", || {
        timed(device, || kernel.multiply(device, &a, &b))
    })?;
    npy::write(product, &progress::during("downloading", || c.to_array2())?)?;
    let (rows, cols) = c.shape();
    print_line(format_args!(
        "product  {rows}x{cols} in {}",
        product.display()
    ))?;
    print_line(format_args!("device   {}", device.name()))?;
    print_line(format_args!("time     {time:.1?}"))?;
    Ok(())
}
