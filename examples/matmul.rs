//! Writes the product of the arrays in two NumPy files to a third, by the rules of NumPy's `a @ b`.
//!
//! ```text
//! cargo run --release --example matmul -- A.npy B.npy -o C.npy
//!     [--kernel fastest|tiled|coarsened] [--memory BYTES] [--device sim|cuda|cuda:N] [--json]
//! ```

#[path = "support/large_product.rs"]
mod large_product;
#[path = "support/npy/mod.rs"]
mod npy;
#[path = "support/product_shape.rs"]
mod product_shape;
#[path = "support/progress.rs"]
mod progress;
mod support;

use bytemuck::{Pod, cast_slice};
use half::f16;
use large_product::LargeProduct;
use lexopt::prelude::*;
use ndarray::{CowArray, IxDyn};
use npy::stream::NumberFile;
use npy::{ElementType, NpyFile};
use product_shape::ProductShape;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use support::output::print_line;
use support::{Outcome, timed};
use tilewright::{
    ChainElement, Device, DeviceChoice, Element, Matmul, Matrix, MatrixBatch, MatrixView,
};

const USAGE: &str = "usage: matmul A.npy B.npy -o C.npy [--kernel KERNEL] [--memory BYTES] \
                     [--device DEVICE] [--json]";

const OPTIONS: &str = "
Writes a @ b as NumPy defines it: vectors, matrices and stacks of matrices, broadcast; the type is
NumPy's for the two, and f4 where one is bf16. f8 and integers are multiplied as f8, others as f4.
Two matrices may be larger than the memory of the host and of the device.

  A.npy B.npy      arrays of b1, i1 to i8, u1 to u8, f2, f4, f8 or bf16, in any order. Integers are
                   multiplied where the product is exact: it is an error where NumPy would wrap
                   around, or where sums could exceed 2^53
  -o, --output C   the file for the product; another file of the name is replaced when the product
                   is complete
  --kernel KERNEL  fastest, the default, is the library's choice for the device and the shape;
                   coarsened computes a block of outputs in each thread, tiled one output, both
                   with the same bits on every device
  --memory BYTES   two matrices that need more than this of the device, with their product, are read
                   and multiplied in parts, by the kernel fastest; a third of the free memory if it
                   is not given
  --device DEVICE  sim is the simulator, cuda the first GPU, cuda:N another one; without it, the
                   device that TILEWRIGHT_DEVICE names, or a GPU if there is one
  --json           prints an object: product, shape, type, device, seconds
  -h, --help       prints this";

/// 2^53: f64 represents all integers up to it.
const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

/// One of the library's products.
#[derive(Clone, Copy, Default)]
enum Kernel {
    #[default]
    Fastest,
    Tiled,
    Coarsened,
}

impl Kernel {
    /// The products of all matrices. Results, like factors, are stacked.
    fn multiply<T: ChainElement>(
        self,
        device: &Device,
        [a, b]: [&Matrix<T>; 2],
        shape: &ProductShape,
    ) -> tilewright::Result<Matrix<T>> {
        let (count, rows, inner, stacks) = (shape.count, shape.rows, shape.inner, shape.stacks);
        if let Self::Fastest = self {
            let (a, b) = (batch(a, stacks[0], count)?, batch(b, stacks[1], count)?);
            return Matmul::new(a, b).run();
        }
        let mut c = device.matrix_uninit((count * rows, shape.columns))?;
        for index in 0..count {
            let a = matrix(a, stacks[0].then_some(rows), index)?;
            let b = matrix(b, stacks[1].then_some(inner), index)?;
            let mut c = c.slice_mut(index * rows..(index + 1) * rows, ..)?;
            match self {
                Self::Tiled => device.matmul_tiled_into(a, b, &mut c)?,
                _ => device.matmul_coarsened_into(a, b, &mut c)?,
            }
        }
        Ok(c)
    }
}

/// The matrices of a stack, or the one matrix that all products share. The rows do not tell: a stack of matrices
/// without rows has as many as one of them.
fn batch<T: Element>(
    stacked: &Matrix<T>,
    is_stack: bool,
    count: usize,
) -> tilewright::Result<MatrixBatch<'_, T>> {
    match is_stack {
        true => stacked.view().batch_rows(count),
        false => Ok(stacked.into()),
    }
}

/// Matrix number `index` of a stack of matrices of `rows` rows each, or the matrix that all products share.
fn matrix<T: Element>(
    stacked: &Matrix<T>,
    rows: Option<usize>,
    index: usize,
) -> tilewright::Result<MatrixView<'_, T>> {
    match rows {
        Some(rows) => stacked.slice(index * rows..(index + 1) * rows, ..),
        None => Ok(stacked.view()),
    }
}

/// The command line.
#[derive(Default)]
struct Arguments {
    factors: Vec<PathBuf>,
    product: Option<PathBuf>,
    kernel: Kernel,
    memory: Option<u64>,
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
                Long("memory") => arguments.memory = Some(parser.value()?.parse()?),
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
    let names = format!("{} and {}", a.display(), b.display());
    let files = [NumberFile::open(a)?, NumberFile::open(b)?];
    let shape = ProductShape::of(files[0].shape(), files[1].shape())
        .map_err(|reason| format!("{names} cannot be multiplied: {reason}"))?;
    let element = files[0].element_type().product(files[1].element_type());
    let device = support::open(arguments.device)?;
    let task = Task {
        arguments: &arguments,
        device: &device,
        names,
        shape: &shape,
        element,
    };
    let large = LargeProduct {
        device: &device,
        memory: match arguments.memory {
            Some(memory) => memory,
            None => device.memory()?.free / 3,
        },
        factors: files,
        shape: &shape,
    };
    let is_one = shape.count == 1 && matches!(arguments.kernel, Kernel::Fastest);
    let time = match is_one && large.is_large(task.bytes()) {
        true => task.multiply_large(large, product)?,
        false => task.multiply_whole([NpyFile::read(a)?, NpyFile::read(b)?], product)?,
    };
    report(&arguments, &shape.result, element, &device, time)
}

/// A product to be written to a file.
struct Task<'a> {
    arguments: &'a Arguments,
    device: &'a Device,
    /// The files of the factors.
    names: String,
    shape: &'a ProductShape,
    /// The type of the product.
    element: ElementType,
}

impl Task<'_> {
    /// Whether numbers are multiplied in f32.
    fn is_single(&self) -> bool {
        matches!(self.element, ElementType::F16 | ElementType::F32)
    }

    /// The bytes of a number that is multiplied.
    fn bytes(&self) -> usize {
        match self.is_single() {
            true => size_of::<f32>(),
            false => size_of::<f64>(),
        }
    }

    /// Multiplies arrays of any number of axes in memory.
    fn multiply_whole(&self, [a, b]: [NpyFile; 2], path: &Path) -> Outcome<Duration> {
        let (c, time) = match self.is_single() {
            true => {
                let factors = [a.to_f32(), b.to_f32()];
                let (c, time) = multiply(self.device, self.arguments, factors, self.shape)?;
                (stored(&c, self.element), time)
            }
            false => {
                let factors = [a.to_f64(), b.to_f64()];
                self.check_exact(|| {
                    let greatest = |it: &CowArray<'_, f64, IxDyn>| {
                        it.fold(0.0_f64, |greatest, x| greatest.max(x.abs()))
                    };
                    Ok(factors.each_ref().map(greatest))
                })?;
                let (c, time) = multiply(self.device, self.arguments, factors, self.shape)?;
                (stored(&c, self.element), time)
            }
        };
        let c = c.ok_or_else(|| self.beyond())?;
        npy::write(path, self.element, &self.shape.result, &c)?;
        Ok(time)
    }

    /// Multiplies two matrices panel by panel.
    fn multiply_large(&self, mut product: LargeProduct<'_>, path: &Path) -> Outcome<Duration> {
        support::load_kernels(self.device)?;
        if self.is_single() {
            return product.write(path, self.element, stored::<f32>, || self.beyond());
        }
        self.check_exact(|| progress::during("checking", || product.greatest()))?;
        product.write(path, self.element, stored::<f64>, || self.beyond())
    }

    /// Fails if sums of integers can exceed 2^53. `greatest` finds the greatest magnitude in each factor.
    fn check_exact(&self, greatest: impl FnOnce() -> Outcome<[f64; 2]>) -> Outcome {
        if self.element.is_float() {
            return Ok(());
        }
        let [a, b] = greatest()?;
        match self.shape.inner as f64 * a * b < EXACT {
            true => Ok(()),
            false => Err(format!(
                "{}: sums of these products of integers can exceed 2^53, up to which f64 is exact; \
                 save a.astype(\"f8\") for a product that is rounded",
                self.names
            )
            .into()),
        }
    }

    fn beyond(&self) -> String {
        format!(
            "{}: the product has elements beyond {}, NumPy's type for it; save a.astype(\"i8\")",
            self.names,
            self.element.name()
        )
    }
}

/// The elements of the product, row by row, and the device's time.
fn multiply<T: ChainElement>(
    device: &Device,
    arguments: &Arguments,
    [a, b]: [CowArray<'_, T, IxDyn>; 2],
    shape: &ProductShape,
) -> Outcome<(Vec<T>, Duration)> {
    if shape.result.contains(&0) {
        return Ok((Vec::new(), Duration::ZERO));
    }
    let (a, b) = progress::during("uploading", || -> tilewright::Result<_> {
        Ok((
            device.matrix_from_array(shape.left(&a.view()).view())?,
            device.matrix_from_array(shape.right(&b.view()).view())?,
        ))
    })?;
    support::load_kernels(device)?;
    let (c, time) = progress::during("multiplying", || {
        timed(device, || {
            arguments.kernel.multiply(device, [&a, &b], shape)
        })
    })?;
    Ok((progress::during("downloading", || c.to_vec())?, time))
}

/// The product's bytes in its element type; `None` if the type cannot hold an integer.
fn stored<T: Pod + Into<f64>>(c: &[T], element: ElementType) -> Option<Vec<u8>> {
    match element {
        ElementType::Bool => Some(c.iter().map(|&it| (it.into() != 0.0).into()).collect()),
        ElementType::I8 => integers::<T, i8>(c),
        ElementType::U8 => integers::<T, u8>(c),
        ElementType::I16 => integers::<T, i16>(c),
        ElementType::U16 => integers::<T, u16>(c),
        ElementType::I32 => integers::<T, i32>(c),
        ElementType::U32 => integers::<T, u32>(c),
        ElementType::I64 => integers::<T, i64>(c),
        ElementType::U64 => integers::<T, u64>(c),
        ElementType::F16 => {
            let halves: Vec<f16> = c.iter().map(|&it| f16::from_f64(it.into())).collect();
            Some(cast_slice(&halves).to_vec())
        }
        ElementType::Bf16 | ElementType::F32 | ElementType::F64 => Some(cast_slice(c).to_vec()),
    }
}

fn integers<T: Pod + Into<f64>, I: TryFrom<i64> + Pod>(c: &[T]) -> Option<Vec<u8>> {
    let integers = c.iter().map(|&it| I::try_from(it.into() as i64).ok());
    Some(cast_slice(&integers.collect::<Option<Vec<I>>>()?).to_vec())
}

fn report(
    arguments: &Arguments,
    shape: &[usize],
    element: ElementType,
    device: &Device,
    time: Duration,
) -> Outcome {
    let product = arguments.product.as_deref().unwrap_or(Path::new(""));
    let (product, element, device) = (product.display(), element.name(), device.name());
    if arguments.as_json {
        let (product, seconds) = (product.to_string(), time.as_secs_f64());
        print_line(json!({
            "product": product, "shape": shape, "type": element, "device": device, "seconds": seconds,
        }))?;
        return Ok(());
    }
    let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
    let shape = if shape.is_empty() {
        "a number".to_owned()
    } else {
        extents.join("x")
    };
    print_line(format_args!("product  {shape} in {product}"))?;
    print_line(format_args!("type     {element}"))?;
    print_line(format_args!("device   {device}"))?;
    print_line(format_args!("time     {time:.1?}"))?;
    Ok(())
}
