//! The contests: each operation twice, on the same elements.

use crate::common::Result;
use crate::common::cases::Case;
use crate::common::contest::{Contest, Work};
use crate::common::samples::{self, Sample as _};
use crate::common::sums::label;
use crate::common::{copies, scans, sums};
use crate::rivals::Rivals;
use half::bf16;
use std::rc::Rc;
use tilewright::{
    Buffer, Device, Matrix, ModuleSource, Order, ops, reduce_sum_height, scan_height,
};
use tilewright_benches_kernels as kernels;
use tilewright_test_support::rounding::gamma;

/// The PTX from the build script, with the architecture of each image.
#[cfg(feature = "custom")]
const IMAGES: &[(&str, &str)] = include!(env!("KERNEL_IMAGES"));

/// The simulator needs no PTX.
#[cfg(not(feature = "custom"))]
const IMAGES: &[(&str, &str)] = &[];

// SAFETY: the build script compiles the images from the same crate that is used here.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("benches", IMAGES) };

/// The name of the contender.
const CUSTOM: &str = "custom";

/// Columns of the matrices whose rows are reduced or mapped.
const COLUMNS: usize = 4096;

type Build = fn(&Device, &Rivals, usize) -> Result<Contest>;

/// The operations to measure on `device`: of elements, and of squares of matrices.
pub fn cases(device: &Device) -> Vec<Case> {
    let (lengths, squares): (&[usize], &[usize]) = match device.is_simulator() {
        true => (&[1 << 14], &[128]),
        false => (&[1 << 24, 1 << 28], &[2048, 4096]),
    };
    let of_elements: [(&str, Build); 5] = [
        ("sum", custom_sums),
        ("row sums", row_sums),
        ("scan", custom_scans),
        ("softmax", softmax),
        ("copy", custom_copies),
    ];
    let of_elements = of_elements
        .iter()
        .flat_map(|it| lengths.iter().map(move |&size| (it, size)))
        .map(|(&(name, build), size)| Case {
            name: format!("custom {name} f32 {}", label(size)),
            size,
            device_bytes: 6 * 4 * size as u64,
            build,
        });
    let of_squares = squares.iter().map(|&size| Case {
        name: format!("custom product bf16 {size}"),
        size,
        device_bytes: 4 * 2 * (size * size) as u64,
        build: products,
    });
    of_elements.chain(of_squares).collect()
}

/// Whole numbers from 0 to 3, which repeat.
fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|i| (i % 1021 % 4) as f32).collect()
}

fn contest(device: &Device, operation: &'static str, len: usize, bytes: usize) -> Contest {
    let label = (len, label(len));
    Contest::of_bytes(device, operation, "f32", label, bytes as u64)
}

/// Repeats a call, as a contender does.
fn repeated<O>(mut call: impl FnMut(&mut O) -> Result) -> impl FnMut(u64, &mut O) -> Result {
    move |calls, output| (0..calls).try_for_each(|_| call(output))
}

/// Adds the library's operation, and then the custom one, which has to have near results.
fn admit_both<O: 'static>(
    contest: &mut Contest,
    mut outputs: impl FnMut() -> Result<O>,
    values: impl Fn(&O) -> Result<Vec<f32>>,
    built_in: impl FnMut(&mut O) -> Result + 'static,
    custom: impl FnMut(&mut O) -> Result + 'static,
) -> Result {
    let mut expected = Vec::new();
    contest.admit("library", outputs()?, repeated(built_in), |output| {
        expected = values(output)?;
        Ok(())
    })?;
    contest.admit(CUSTOM, outputs()?, repeated(custom), |output| {
        let found = values(output)?;
        let is_near = |(x, y): (&f32, &f32)| (x - y).abs() <= 1e-5 * y.abs();
        match found.len() == expected.len() && found.iter().zip(&expected).all(is_near) {
            true => Ok(()),
            false => Err("wrong answer: not what the library computes".into()),
        }
    })
}

fn custom_sums(device: &Device, rivals: &Rivals, len: usize) -> Result<Contest> {
    let mut contest = sums::contest::<f32>(device, rivals, len)?;
    contest.operation = "custom sum";
    // None is negative.
    let (elements, numerators) = samples::elements::<f32>(len);
    let (x, module) = (device.upload(&elements)?, device.load(&KERNELS)?);
    contest.admit(
        CUSTOM,
        device.zeros::<f32>(1)?,
        repeated(move |sum| Ok(module.reduce_into(kernels::magnitudes, &x, sum)?)),
        |sum| f32::check(sum.to_vec()?[0], numerators, reduce_sum_height::<f32>(len)),
    )?;
    Ok(contest)
}

fn row_sums(device: &Device, _rivals: &Rivals, len: usize) -> Result<Contest> {
    let columns = COLUMNS.min(len);
    let x = Rc::new(device.matrix((len / columns, columns), &numbers(len))?);
    let mut contest = contest(device, "custom row sums", len, 4 * len);
    let (module, of_custom, of_device) = (device.load(&KERNELS)?, Rc::clone(&x), device.clone());
    admit_both(
        &mut contest,
        || Ok(device.zeros::<f32>(len / columns)?),
        |sums: &Buffer<f32>| Ok(sums.to_vec()?),
        move |sums| Ok(of_device.reduce_rows_into(&*x, ops::Sum, sums)?),
        move |sums| Ok(module.reduce_rows_into(kernels::row_magnitudes, &*of_custom, sums)?),
    )?;
    Ok(contest)
}

fn custom_scans(device: &Device, rivals: &Rivals, len: usize) -> Result<Contest> {
    let mut contest = scans::contest::<f32>(device, rivals, len)?;
    contest.operation = "custom scan";
    let numbers = scans::numbers(len);
    let elements: Vec<f32> = numbers.iter().copied().map(f32::from).collect();
    let (x, module) = (device.upload(&elements)?, device.load(&KERNELS)?);
    let error = gamma::<f32>(scan_height::<f32>(len) as usize);
    contest.admit(
        CUSTOM,
        device.zeros::<f32>(len)?,
        repeated(move |sums| {
            Ok(module.scan_inclusive_into(kernels::scanned_magnitudes, &x, sums)?)
        }),
        |sums| scans::check(sums, &numbers, error),
    )?;
    Ok(contest)
}

fn softmax(device: &Device, _rivals: &Rivals, len: usize) -> Result<Contest> {
    let columns = COLUMNS.min(len);
    let shape = (len / columns, columns);
    let x = Rc::new(device.matrix(shape, &numbers(len))?);
    let mut contest = contest(device, "custom softmax", len, 8 * len);
    let (module, of_custom, of_device) = (device.load(&KERNELS)?, Rc::clone(&x), device.clone());
    admit_both(
        &mut contest,
        || Ok(device.matrix_zeros::<f32>(shape)?),
        |y: &Matrix<f32>| Ok(y.to_vec()?),
        move |y| Ok(of_device.softmax_into(&*x, y)?),
        move |y| Ok(module.map_rows_into(kernels::softmax, &*of_custom, y)?),
    )?;
    Ok(contest)
}

fn custom_copies(device: &Device, rivals: &Rivals, len: usize) -> Result<Contest> {
    let mut contest = copies::contest(device, rivals, len)?;
    contest.operation = "custom copy";
    let (elements, _) = samples::elements::<f32>(len);
    let (x, module) = (device.upload(&elements)?, device.load(&KERNELS)?);
    contest.admit(
        CUSTOM,
        device.zeros::<f32>(len)?,
        repeated(move |y| Ok(module.map_buffers_into(kernels::copy, [x.view()], y)?)),
        |y: &Buffer<f32>| match y.to_vec()? == elements {
            true => Ok(()),
            false => Err("wrong answer: another array".into()),
        },
    )?;
    Ok(contest)
}

/// By warpgroups, where the device has them: A and B along K.
fn products(device: &Device, _rivals: &Rivals, size: usize) -> Result<Contest> {
    let numbers: Vec<bf16> = numbers(size * size)
        .into_iter()
        .map(bf16::from_f32)
        .collect();
    let a = Rc::new(device.matrix((size, size), &numbers)?);
    let b = Rc::new(device.matrix((size, size, Order::ColumnMajor), &numbers)?);
    let mut contest = Contest {
        element: "bf16",
        work: Work::Operations(2 * (size as u64).pow(3)),
        ..contest(device, "custom product", size, 3 * 2 * size * size)
    };
    let module = device.load(&KERNELS)?;
    let (of_custom, of_device) = ((Rc::clone(&a), Rc::clone(&b)), device.clone());
    admit_both(
        &mut contest,
        || Ok(device.matrix_zeros::<bf16>((size, size))?),
        // The custom one is limited.
        |c: &Matrix<bf16>| {
            Ok(c.to_vec()?
                .into_iter()
                .map(|x| x.to_f32().min(1000.0))
                .collect())
        },
        move |c| Ok(of_device.matmul_into(&*a, &*b, c)?),
        move |c| {
            let (a, b) = &of_custom;
            Ok(module.map_product_into(kernels::limited, (&**a, &**b), [], &1000.0, c)?)
        },
    )?;
    Ok(contest)
}
