//! Operations on rows that write fewer bytes than they read: logarithms of sums, and quantisation.

use super::Result;
use super::cases::Case;
use super::contest::Contest;
use super::rows::{COMPARED, Sample, elements, label, rows, terms};
use super::samples::check_each;
use crate::rivals::Rivals;
use crate::rivals::torch::Job;
use half::bf16;
use std::rc::Rc;
use tilewright::{Device, ReducibleLines, ops};

/// Columns of the operations that do not write as many bytes as they read.
const COLUMNS: usize = 4096;

/// The operations to measure on `device`.
pub fn cases(device: &Device) -> [Case; 3] {
    [
        case::<f32>(device, "logsumexp", 4, logsumexp::<f32>),
        case::<bf16>(device, "logsumexp", 2, logsumexp::<bf16>),
        case::<bf16>(device, "quantize_rows", 3, quantize_rows),
    ]
}

/// An operation that moves `bytes` bytes for each element of [`COLUMNS`] columns.
fn case<T: Sample>(
    device: &Device,
    name: &str,
    bytes: usize,
    build: fn(&Device, &Rivals, usize) -> Result<Contest>,
) -> Case {
    Case {
        name: format!("{name} {} {}", T::NAME, label::<T>(device, COLUMNS)),
        size: COLUMNS,
        device_bytes: (bytes * rows::<T>(device, COLUMNS) * COLUMNS) as u64,
        build,
    }
}

/// Beside the row sums, which read as many bytes.
fn logsumexp<T: Sample + ReducibleLines<ops::Sum>>(
    device: &Device,
    rivals: &Rivals,
    len: usize,
) -> Result<Contest> {
    let (elements, period) = elements::<T>(device, len);
    let count = rows::<T>(device, len);
    let expected: Vec<f64> = elements
        .chunks(len)
        .take(COMPARED / len)
        .map(|row| {
            let row: Vec<f64> = row.iter().map(|x| x.wide()).collect();
            let (largest, sum) = terms(&row);
            largest + sum.ln()
        })
        .collect();
    let check = |found: &[f64]| check_each(found, &expected, |y| T::ERROR * y.abs());
    let x = Rc::new(device.matrix((count, len), &elements)?);
    let size = (len, label::<T>(device, len));
    let bytes = (count * len * size_of::<T>()) as u64;
    let mut contest = Contest::of_bytes(device, "logsumexp", T::NAME, size, bytes);
    let (of_device, of_sums) = (device.clone(), Rc::clone(&x));
    contest.admit(
        "reduce_rows",
        device.zeros::<T::Output>(count)?,
        move |calls, sums| {
            for _ in 0..calls {
                of_device.reduce_rows_into(&*of_sums, ops::Sum, &mut *sums)?;
            }
            Ok(())
        },
        |_| Ok(()),
    )?;
    let of_device = device.clone();
    contest.admit(
        "logsumexp",
        device.zeros::<f32>(count)?,
        move |calls, values| {
            for _ in 0..calls {
                of_device.logsumexp_into(&*x, &mut *values)?;
            }
            Ok(())
        },
        |values| {
            let found: Vec<f64> = values.to_vec()?.into_iter().map(f64::from).collect();
            check(&found)
        },
    )?;
    let (shape, kind) = ([count, len], ("logsumexp", T::NAME));
    let job = Job {
        compared: Some(expected.len()),
        ..Job::of_period(kind, &shape, &period)
    };
    contest.admit_torch(rivals, &job, check);
    Ok(contest)
}

/// To e4m3, with a scale for each 128 elements of a row.
fn quantize_rows(device: &Device, rivals: &Rivals, len: usize) -> Result<Contest> {
    let (elements, period) = elements::<bf16>(device, len);
    let count = rows::<bf16>(device, len);
    let blocks = elements.chunks(128).take(COMPARED / 128);
    let expected: Vec<f64> = blocks
        .flat_map(|block| {
            let wide = block.iter().map(|x| x.wide());
            let scale = wide.clone().fold(0.0, |most: f64, x| most.max(x.abs())) / 448.0;
            wide.map(move |x| x / scale).collect::<Vec<_>>()
        })
        .collect();
    // Half a unit in the last place, and a little more for the reciprocal of the scale.
    let check = |found: &[f64]| check_each(found, &expected, |y| 0.0626 * y.abs() + 1e-3);
    let x = device.matrix((count, len), &elements)?;
    let size = (len, label::<bf16>(device, len));
    let bytes = (3 * count * len) as u64;
    let mut contest = Contest::of_bytes(device, "quantize_rows", bf16::NAME, size, bytes);
    let of_device = device.clone();
    contest.admit(
        "quantize_rows",
        device.quantize_rows(&x)?,
        move |calls, quantized| {
            for _ in 0..calls {
                of_device.quantize_rows_into(&x, quantized)?;
            }
            Ok(())
        },
        |quantized| {
            let first = expected.len().div_ceil(len);
            let found = quantized.elements.view().slice(..first, ..)?.to_vec()?;
            check(
                &found
                    .into_iter()
                    .map(|x| x.to_f32().into())
                    .collect::<Vec<f64>>(),
            )
        },
    )?;
    let (shape, kind) = ([count, len], ("quantize_rows", bf16::NAME));
    let job = Job {
        compared: Some(expected.len()),
        ..Job::of_period(kind, &shape, &period)
    };
    contest.admit_torch(rivals, &job, check);
    Ok(contest)
}
