//! Writes the product of the matrices in two NumPy files to a third.
//!
//! ```text
//! cargo run --release --example matmul -- A.npy B.npy -o C.npy
//!     [--kernel fastest|tiled|coarsened] [--device sim|cuda|cuda:N] [--json]
//! ```

#[path = "support/npy/mod.rs"]
mod npy;
#[path = "support/progress.rs"]
mod progress;
mod support;

use half::f16;
use lexopt::prelude::*;
use ndarray::{CowArray, Ix2};
use ndarray_npy::WritableElement;
use npy::NpyFile;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use support::output::print_line;
use support::{Outcome, timed};
use tilewright::{Device, DeviceChoice, GemmElement, MatmulElement, Matrix};

const USAGE: &str = "usage: matmul A.npy B.npy -o C.npy [--kernel KERNEL] \
                     [--device sim|cuda|cuda:N] [--json]";

const OPTIONS: &str = "
Writes A B, whose elements are within the bound of a sum of so many products.

  A.npy B.npy      matrices of f8, or of f2, f4 and u1, which are multiplied as f4; in either order
                   and either byte order
  -o, --output C   the file for the product, of type f4 or f8; another file of the name is replaced
                   when the product is complete
  --kernel KERNEL  fastest, the default, is the library's choice for the device and the shape;
                   coarsened computes a block of outputs in each thread, tiled one output, both
                   with the same bits on every device
  --device DEVICE  sim is the simulator, cuda the first GPU, cuda:N another one; without it, the
                   device that TILEWRIGHT_DEVICE names, or a GPU if there is one
  --json           prints an object: product, rows, columns, device, seconds
  -h, --help       prints this";

const TYPES: &str = "f2 (float16), f4 (float32), f8 (float64) or u1 (uint8)";

/// One of the library's products.
#[derive(Clone, Copy, Default)]
enum Kernel {
    #[default]
    Fastest,
    Tiled,
    Coarsened,
}

impl Kernel {
    fn multiply<T: GemmElement + MatmulElement<Product = T>>(
        self,
        device: &Device,
        a: &Matrix<T>,
        b: &Matrix<T>,
    ) -> tilewright::Result<Matrix<T>> {
        match self {
            Self::Fastest => device.matmul(a, b),
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
    as_json: bool,
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
                Long("json") => arguments.as_json = true,
                Short('h') | Long("help") => return Ok(None),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(Some(arguments))
    }
}

fn kernel(name: &str) -> Outcome<Kernel> {
    match name {
        "fastest" => Ok(Kernel::Fastest),
        "tiled" => Ok(Kernel::Tiled),
        "coarsened" => Ok(Kernel::Coarsened),
        _ => Err(format!(
            "there is no kernel `{name}`: --kernel can be fastest, tiled or coarsened"
        )
        .into()),
    }
}

fn main() -> ExitCode {
    support::run(matmul)
}

fn matmul(parser: lexopt::Parser) -> Outcome {
    let Some(arguments) = Arguments::parse(parser)? else {
        return support::help(&[USAGE, OPTIONS].concat());
    };
    let ([a, b], Some(product)) = (arguments.factors.as_slice(), &arguments.product) else {
        return Err(format!("two factors and a product must be named; {USAGE}").into());
    };
    let factors = [NpyFile::read(a)?, NpyFile::read(b)?];
    let device = support::open(arguments.device)?;
    let [a, b] = &factors;
    match [is_double(a)?, is_double(b)?] {
        [false, false] => multiply(&device, &arguments, [single(a)?, single(b)?], product),
        [true, true] => multiply::<f64>(&device, &arguments, [a.matrix()?, b.matrix()?], product),
        [true, false] => Err(b.wrong_type(&b.element_type()?, "<f8, as in the other file")),
        [false, true] => Err(b.wrong_type("<f8", "f2, f4 or u1, as in the other file")),
    }
}

/// Whether the elements of a file are f64; an error where they are none of [`TYPES`].
fn is_double(file: &NpyFile) -> Outcome<bool> {
    match file.element_type()?.as_str() {
        "<f8" => Ok(true),
        "<f2" | "<f4" | "|u1" => Ok(false),
        other => Err(file.wrong_type(other, TYPES)),
    }
}

/// A matrix of f32, into which f16 and u8 go exactly.
fn single(file: &NpyFile) -> Outcome<CowArray<'_, f32, Ix2>> {
    Ok(match file.element_type()?.as_str() {
        "<f2" => file.matrix()?.mapv(|it| f16::from_bits(it).to_f32()).into(),
        "|u1" => file.matrix()?.mapv(|it: u8| f32::from(it)).into(),
        _ => file.matrix()?,
    })
}

fn multiply<T: GemmElement + MatmulElement<Product = T> + WritableElement>(
    device: &Device,
    arguments: &Arguments,
    [a, b]: [CowArray<'_, T, Ix2>; 2],
    product: &Path,
) -> Outcome {
    let (a, b) = progress::during("uploading", || -> tilewright::Result<_> {
        Ok((
            device.matrix_from_array(a.view())?,
            device.matrix_from_array(b.view())?,
        ))
    })?;
    support::load_kernels(device)?;
    let (c, time) = progress::during("multiplying", || {
        timed(device, || arguments.kernel.multiply(device, &a, &b))
    })?;
    npy::write(product, &progress::during("downloading", || c.to_array2())?)?;
    let ((rows, columns), device) = (c.shape(), device.name());
    let product = product.display();
    if arguments.as_json {
        let (product, seconds) = (product.to_string(), time.as_secs_f64());
        print_line(json!({
            "product": product, "rows": rows, "columns": columns, "device": device, "seconds": seconds,
        }))?;
        return Ok(());
    }
    print_line(format_args!("product  {rows}x{columns} in {product}"))?;
    print_line(format_args!("device   {device}"))?;
    print_line(format_args!("time     {time:.1?}"))?;
    Ok(())
}
