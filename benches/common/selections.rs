//! The largest elements, and prefix sums of rows and columns: ours and torch's.

use super::Result;
use super::cases::Case;
use super::contest::Contest;
use super::samples::check_floating;
use crate::rivals::Rivals;
use crate::rivals::torch::Job;
use tilewright::{Buffer, Device, Matrix, ops};
use tilewright_test_support::random::Random;

/// The number of elements that are selected.
const K: usize = 8;

/// The vocabulary whose rows are selected from.
const CLASSES: usize = 32_000;

/// Rows of prefix sums on a GPU, and columns.
const SCANNED: usize = 4096;

/// The tolerated relative error of prefix sums of positive numbers.
const ERROR: f64 = 1e-4;

/// The selections and scans of rows and columns to measure on `device`.
pub fn cases(device: &Device) -> Vec<Case> {
    let (elements, rows, scanned) = match device.is_simulator() {
        true => (1 << 14, 2, 8),
        false => (1 << 24, 4096, SCANNED),
    };
    vec![
        case("top_k", (elements, elements), top_k),
        case("top_k_rows", (rows, rows * CLASSES), top_k_rows),
        case("scan_rows", (scanned, 2 * scanned * SCANNED), scan_rows),
        case(
            "scan_columns",
            (scanned, 2 * scanned * SCANNED),
            scan_columns,
        ),
    ]
}

fn case(
    name: &'static str,
    (size, elements): (usize, usize),
    build: fn(&Device, &Rivals, usize) -> Result<Contest>,
) -> Case {
    Case {
        name: format!("{name} f32 {size}"),
        size,
        device_bytes: 4 * elements as u64,
        build,
    }
}

/// Numbers from 0 to 4 that repeat.
fn period() -> Vec<f32> {
    let mut random = Random::new(9);
    (0..1_000_003)
        .map(|_| (2.0 * random.symmetric(20) + 2.0) as f32)
        .collect()
}

/// The largest of each row, in order.
fn largest(elements: &[f32], len: usize) -> Vec<f64> {
    let of_row = |row: &[f32]| {
        let mut row = row.to_vec();
        row.sort_by(|x, y| y.total_cmp(x));
        row.truncate(K);
        row
    };
    elements
        .chunks(len)
        .flat_map(of_row)
        .map(f64::from)
        .collect()
}

fn check(found: impl IntoIterator<Item = f64>, expected: &[f64], error: f64) -> Result {
    for (found, &expected) in found.into_iter().zip(expected) {
        check_floating(found, expected, error * expected)?;
    }
    Ok(())
}

fn top_k(device: &Device, rivals: &Rivals, len: usize) -> Result<Contest> {
    let period = period();
    let elements: Vec<f32> = period.iter().copied().cycle().take(len).collect();
    let expected = largest(&elements, len);
    let x = device.upload(&elements)?;
    let size = (len, format!("{K} of {len}"));
    let mut contest = Contest::of_bytes(device, "top_k", "f32", size, 4 * len as u64);
    let of_device = device.clone();
    contest.admit(
        "top_k",
        None::<(Buffer<f32>, Buffer<u64>)>,
        move |calls, found| {
            for _ in 0..calls {
                *found = Some(of_device.top_k(&x, K)?);
            }
            Ok(())
        },
        |found| {
            let (values, _) = found.as_ref().ok_or("nothing was selected")?;
            check(values.to_vec()?.into_iter().map(f64::from), &expected, 0.0)
        },
    )?;
    let shape = [1, len];
    contest.admit_torch(
        rivals,
        &Job::of_period(("top_k_rows", "f32"), &shape, &period),
        |found| check(found.iter().copied(), &expected, 0.0),
    );
    Ok(contest)
}

fn top_k_rows(device: &Device, rivals: &Rivals, rows: usize) -> Result<Contest> {
    let period = period();
    let elements: Vec<f32> = period
        .iter()
        .copied()
        .cycle()
        .take(rows * CLASSES)
        .collect();
    let expected = largest(&elements, CLASSES);
    let x = device.matrix((rows, CLASSES), &elements)?;
    let size = (rows, format!("{K} of {rows}x{CLASSES}"));
    let bytes = 4 * elements.len() as u64;
    let mut contest = Contest::of_bytes(device, "top_k_rows", "f32", size, bytes);
    let of_device = device.clone();
    contest.admit(
        "top_k_rows",
        None::<(Matrix<f32>, Matrix<u64>)>,
        move |calls, found| {
            for _ in 0..calls {
                *found = Some(of_device.top_k_rows(&x, K)?);
            }
            Ok(())
        },
        |found| {
            let (values, _) = found.as_ref().ok_or("nothing was selected")?;
            check(values.to_vec()?.into_iter().map(f64::from), &expected, 0.0)
        },
    )?;
    let shape = [rows, CLASSES];
    contest.admit_torch(
        rivals,
        &Job::of_period(("top_k_rows", "f32"), &shape, &period),
        |found| check(found.iter().copied(), &expected, 0.0),
    );
    Ok(contest)
}

fn scan_rows(device: &Device, rivals: &Rivals, rows: usize) -> Result<Contest> {
    let line = |place: usize| place / SCANNED;
    scan(
        device,
        rivals,
        rows,
        ("scan_rows", line),
        |device, x, sums| Ok(device.scan_rows_inclusive_into(x, ops::Sum, sums)?),
    )
}

fn scan_columns(device: &Device, rivals: &Rivals, rows: usize) -> Result<Contest> {
    let line = |place: usize| place % SCANNED;
    scan(
        device,
        rivals,
        rows,
        ("scan_columns", line),
        |device, x, sums| Ok(device.scan_columns_inclusive_into(x, ops::Sum, sums)?),
    )
}

/// Prefix sums of the rows or columns of a matrix with `rows` rows: `line` is the line of an element.
fn scan(
    device: &Device,
    rivals: &Rivals,
    rows: usize,
    (name, line): (&'static str, fn(usize) -> usize),
    call: fn(&Device, &Matrix<f32>, &mut Matrix<f32>) -> Result,
) -> Result<Contest> {
    let period = period();
    let elements: Vec<f32> = period
        .iter()
        .copied()
        .cycle()
        .take(rows * SCANNED)
        .collect();
    let mut of_lines = vec![0.0; rows.max(SCANNED)];
    let expected: Vec<f64> = elements
        .iter()
        .enumerate()
        .map(|(place, &x)| {
            let sum = &mut of_lines[line(place)];
            *sum += f64::from(x);
            *sum
        })
        .collect();
    let x = device.matrix((rows, SCANNED), &elements)?;
    let size = (rows, format!("{rows}x{SCANNED}"));
    let bytes = 8 * elements.len() as u64;
    let mut contest = Contest::of_bytes(device, name, "f32", size, bytes);
    let of_device = device.clone();
    contest.admit(
        name,
        device.matrix_zeros::<f32>((rows, SCANNED))?,
        move |calls, sums| {
            for _ in 0..calls {
                call(&of_device, &x, sums)?;
            }
            Ok(())
        },
        |sums| check(sums.to_vec()?.into_iter().map(f64::from), &expected, ERROR),
    )?;
    let shape = [rows, SCANNED];
    contest.admit_torch(
        rivals,
        &Job::of_period((name, "f32"), &shape, &period),
        |found| check(found.iter().copied(), &expected, ERROR),
    );
    Ok(contest)
}
