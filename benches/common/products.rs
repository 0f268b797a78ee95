//! Products of square matrices: `matmul_coarsened`, `matmul_tiled`, and cuBLAS without TF32.

use super::Result;
use super::cases::Case;
use super::contest::{Contest, Work};
use super::samples::check_floating;
use crate::rivals::Rivals;
use crate::rivals::cublas::Gemm;
use std::rc::Rc;
use tilewright::{ChainElement, Device, Matrix};
use tilewright_test_support::random::Random;
use tilewright_test_support::rounding::{Rounding, gamma, row_of_product};

/// Rows and columns of f32 products on a GPU. Odd sizes have unaligned rows.
const F32_SIZES: [usize; 6] = [1024, 2048, 4095, 4096, 4097, 8192];
const F64_SIZES: [usize; 2] = [1024, 4096];

/// Sizes on the simulator.
const SIMULATOR_SIZES: [usize; 2] = [32, 65];

/// The largest size for the tiled kernel, which is educational and slow.
const LARGEST_TILED: usize = 4096;

/// Number of rows that are compared with a reference.
const CHECKED_ROWS: usize = 5;

/// An operand's type, and its arithmetic.
pub trait Number: ChainElement + Gemm + Rounding {
    const NAME: &'static str;
    /// Bits of the significand.
    const BITS: u32;
    /// The error bound in units of gamma_K |A||B|: 1 if the f64 reference is practically exact, 2
    /// if it has the same bound itself.
    const BOUND: f64;

    fn from_f64(value: f64) -> Self;
}

impl Number for f32 {
    const NAME: &'static str = "f32";
    const BITS: u32 = 24;
    const BOUND: f64 = 1.0;

    fn from_f64(value: f64) -> Self {
        value as Self
    }
}

impl Number for f64 {
    const NAME: &'static str = "f64";
    const BITS: u32 = 53;
    const BOUND: f64 = 2.0;

    fn from_f64(value: f64) -> Self {
        value
    }
}

/// The products to measure on `device`.
pub fn cases(device: &Device) -> Vec<Case> {
    if device.is_simulator() {
        return SIMULATOR_SIZES.map(case::<f32>).into();
    }
    let mut cases = F32_SIZES.map(case::<f32>).to_vec();
    cases.extend(F64_SIZES.map(case::<f64>));
    cases
}

fn case<T: Number>(size: usize) -> Case {
    /// The two operands, and a result of each contender.
    const MATRICES: usize = 5;
    Case {
        name: format!("product {} {size}", T::NAME),
        size,
        device_bytes: (MATRICES * size * size * size_of::<T>()) as u64,
        build: contest::<T>,
    }
}

/// The operands on the device, and some rows of the expected product.
struct Operands<T: Number> {
    a: Matrix<T>,
    b: Matrix<T>,
    reference: Vec<ReferenceRow>,
}

fn contest<T: Number>(device: &Device, rivals: &Rivals, size: usize) -> Result<Contest> {
    let operands = Rc::new(Operands::<T>::new(device, size)?);
    let cube = (size as u64).pow(3);
    let mut contest = Contest {
        device: device.clone(),
        operation: "simple product",
        element: T::NAME,
        size,
        size_label: size.to_string(),
        work: Work::Operations(2 * cube),
        operand_bytes: (3 * size * size * size_of::<T>()) as u64,
        contenders: Vec::new(),
    };
    admit_ours(
        &mut contest,
        "matmul_coarsened",
        &operands,
        |device, a, b, c| device.matmul_coarsened_into(a, b, c),
    )?;
    if size <= LARGEST_TILED {
        admit_ours(
            &mut contest,
            "matmul_tiled",
            &operands,
            |device, a, b, c| device.matmul_tiled_into(a, b, c),
        )?;
    }
    admit_cublas(&mut contest, rivals, operands);
    Ok(contest)
}

type MultiplyInto<T> =
    fn(&Device, &Matrix<T>, &Matrix<T>, &mut Matrix<T>) -> tilewright::Result<()>;

fn admit_ours<T: Number>(
    contest: &mut Contest,
    name: &'static str,
    operands: &Rc<Operands<T>>,
    multiply: MultiplyInto<T>,
) -> Result {
    let device = contest.device.clone();
    let shared = Rc::clone(operands);
    contest.admit(
        name,
        device.matrix_zeros::<T>((contest.size, contest.size))?,
        move |calls, product| {
            for _ in 0..calls {
                multiply(&device, &shared.a, &shared.b, product)?;
            }
            Ok(())
        },
        |product| operands.check(product),
    )
}

fn admit_cublas<T: Number>(contest: &mut Contest, rivals: &Rivals, operands: Rc<Operands<T>>) {
    let Some(cublas) = &rivals.cublas else { return };
    let cublas = Rc::clone(cublas);
    let product = match contest
        .device
        .matrix_zeros::<T>((contest.size, contest.size))
    {
        Ok(product) => product,
        Err(error) => return eprintln!("rival skipped: cuBLAS, {}: {error}", contest.name()),
    };
    let shared = Rc::clone(&operands);
    contest.admit_rival(
        "cuBLAS",
        product,
        move |calls, product| cublas.multiply(&shared.a, &shared.b, product, calls),
        |product| operands.check(product),
    );
}

impl<T: Number> Operands<T> {
    /// Two random matrices with elements from -1 to 1.
    fn new(device: &Device, size: usize) -> Result<Self> {
        let mut random = Random::new(size as u64);
        let mut elements = || -> Vec<T> {
            let numbers = (0..size * size).map(|_| T::from_f64(random.symmetric(T::BITS)));
            numbers.collect()
        };
        let (a, b) = (elements(), elements());
        Ok(Self {
            a: device.matrix((size, size), &a)?,
            b: device.matrix((size, size), &b)?,
            reference: reference_rows(&a, &b, size),
        })
    }

    /// Fails unless the rows of `product` with a reference satisfy |C' - C| <= gamma_K |A||B|
    /// (Higham, Accuracy and Stability of Numerical Algorithms, 3.13).
    fn check(&self, product: &Matrix<T>) -> Result {
        let elements = product.to_vec()?;
        let relative = T::BOUND * gamma::<T>(self.a.cols());
        for row in &self.reference {
            let found = &elements[row.number * product.cols()..][..product.cols()];
            for (column, (&found, (value, magnitude))) in
                found.iter().zip(&row.elements).enumerate()
            {
                check_floating(found.into(), *value, relative * magnitude)
                    .map_err(|error| format!("row {}, column {column}: {error}", row.number))?;
            }
        }
        Ok(())
    }
}

/// One row of A B and of |A||B|.
struct ReferenceRow {
    number: usize,
    /// Values and magnitudes.
    elements: Vec<(f64, f64)>,
}

/// The first and the last row of A B, and some between them.
fn reference_rows<T: Number>(a: &[T], b: &[T], size: usize) -> Vec<ReferenceRow> {
    let numbers = (0..CHECKED_ROWS).map(|i| i * (size - 1) / (CHECKED_ROWS - 1));
    let row = |number| ReferenceRow {
        number,
        elements: row_of_product(&a[number * size..][..size], b),
    };
    numbers.map(row).collect()
}
