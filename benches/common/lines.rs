//! Sums of the rows and of the columns of row-major matrices of f32, and their dot products: ours, torch's and, for
//! rows, CUB's sums of segments.

use super::Result;
use super::cases::Case;
use super::contest::Contest;
use crate::rivals::Rivals;
use crate::rivals::cub_reductions::Segments;
use crate::rivals::torch::Job;
use std::rc::Rc;
use tilewright::{Buffer, Device, Matrix, ops};
use tilewright_test_support::random::Random;

/// The sums to measure on `device`.
pub fn cases(device: &Device) -> Vec<Case> {
    if device.is_simulator() {
        return [both::<64, 100>(), both::<3, 3000>(), dots::<64, 100>()].concat();
    }
    [
        both::<64, 4_194_304>(),
        both::<1024, 262_144>(),
        both::<16_384, 16_384>(),
        both::<262_144, 1024>(),
        both::<4_194_304, 64>(),
        both::<1000, 1000>(),
        dots::<16_384, 16_384>(),
        dots::<4_194_304, 64>(),
    ]
    .concat()
}

fn both<const ROWS: usize, const COLUMNS: usize>() -> Vec<Case> {
    let case = |what: &str, build| Case {
        name: format!("{what} f32 {ROWS}x{COLUMNS}"),
        size: ROWS * COLUMNS,
        device_bytes: 4 * (ROWS * COLUMNS) as u64,
        build,
    };
    vec![
        case("rows", |device, rivals, _| {
            rows::<ROWS, COLUMNS>(device, rivals)
        }),
        case("columns", |device, rivals, _| {
            columns::<ROWS, COLUMNS>(device, rivals)
        }),
    ]
}

fn dots<const ROWS: usize, const COLUMNS: usize>() -> Vec<Case> {
    let case = |what: &str, build| Case {
        name: format!("{what} f32 {ROWS}x{COLUMNS}"),
        size: ROWS * COLUMNS,
        device_bytes: 8 * (ROWS * COLUMNS) as u64,
        build,
    };
    vec![
        case("dot_rows", |device, rivals, _| {
            dots_of::<ROWS, COLUMNS>(
                (device, rivals),
                ["dot_rows", "reduce_dot_rows"],
                ROWS,
                |place| place / COLUMNS,
                |device, x, y, values| device.reduce_dot_rows_into(x, y, values),
            )
        }),
        case("dot_columns", |device, rivals, _| {
            dots_of::<ROWS, COLUMNS>(
                (device, rivals),
                ["dot_columns", "reduce_dot_columns"],
                COLUMNS,
                |place| place % COLUMNS,
                |device, x, y, values| device.reduce_dot_columns_into(x, y, values),
            )
        }),
    ]
}

/// Integers from 0 to 3: every sum of at most 2^22 of them is exact in f32.
pub(super) fn elements(count: usize) -> Vec<f32> {
    period(count).into_iter().cycle().take(count).collect()
}

/// The period of the elements.
pub(super) fn period(count: usize) -> Vec<f32> {
    let mut random = Random::new(count as u64);
    (0..1_000_003).map(|_| (random.bits() % 4) as f32).collect()
}

fn empty_contest<const ROWS: usize, const COLUMNS: usize>(
    device: &Device,
    operation: &'static str,
    matrices: u64,
) -> Contest {
    let bytes = matrices * 4 * (ROWS * COLUMNS) as u64;
    Contest::of_bytes(
        device,
        operation,
        "f32",
        (ROWS * COLUMNS, format!("{ROWS}x{COLUMNS}")),
        bytes,
    )
}

pub(super) fn check(found: &Buffer<f32>, expected: &[f32]) -> Result {
    let found: Vec<f64> = found.to_vec()?.into_iter().map(f64::from).collect();
    check_values(&found, expected)
}

pub(super) fn check_values(found: &[f64], expected: &[f32]) -> Result {
    if found.len() != expected.len() {
        return Err(format!("{} values instead of {}", found.len(), expected.len()).into());
    }
    let mut values = found.iter().zip(expected);
    match values.position(|(&found, &expected)| found != f64::from(expected)) {
        None => Ok(()),
        Some(line) => {
            let (found, expected) = (found[line], expected[line]);
            Err(format!("wrong answer: {found} instead of {expected}, number {line}").into())
        }
    }
}

/// torch's values for the rows or columns of a matrix of [`elements`].
fn admit_torch<const ROWS: usize, const COLUMNS: usize>(
    contest: &mut Contest,
    rivals: &Rivals,
    has_second: bool,
    expected: &[f32],
) {
    let job = Job {
        operation: contest.operation,
        element: "f32",
        shape: &[ROWS, COLUMNS],
        period: &period(ROWS * COLUMNS),
        others: &[],
        has_second,
        offsets: &[],
        compared: None,
    };
    contest.admit_torch(rivals, &job, |values| check_values(values, expected));
}

fn rows<const ROWS: usize, const COLUMNS: usize>(
    device: &Device,
    rivals: &Rivals,
) -> Result<Contest> {
    let elements = elements(ROWS * COLUMNS);
    let sums: Vec<f32> = elements
        .chunks(COLUMNS)
        .map(|row| row.iter().sum())
        .collect();
    let matrix = Rc::new(device.matrix((ROWS, COLUMNS), &elements)?);
    let mut contest = empty_contest::<ROWS, COLUMNS>(device, "rows", 1);
    let (of_device, of_ours) = (device.clone(), Rc::clone(&matrix));
    contest.admit(
        "reduce_rows",
        device.zeros::<f32>(ROWS)?,
        move |calls, values| {
            for _ in 0..calls {
                of_device.reduce_rows_into(&*of_ours, ops::Sum, &mut *values)?;
            }
            Ok(())
        },
        |values| check(values, &sums),
    )?;
    if let Some(cub) = &rivals.reductions {
        for (name, segments) in [
            ("CUB, one size", Segments::OfOneSize),
            ("CUB, offsets", Segments::BetweenOffsets),
        ] {
            let values = device.zeros::<f32>(ROWS)?;
            match cub.sum_of_rows(Rc::clone(&matrix), segments) {
                Err(error) => eprintln!("rival skipped: {name}, {}: {error}", contest.name()),
                Ok(sum) => contest.admit_rival(name, values, sum, |values| check(values, &sums)),
            }
        }
    }
    admit_torch::<ROWS, COLUMNS>(&mut contest, rivals, false, &sums);
    Ok(contest)
}

fn columns<const ROWS: usize, const COLUMNS: usize>(
    device: &Device,
    rivals: &Rivals,
) -> Result<Contest> {
    let elements = elements(ROWS * COLUMNS);
    let mut sums = vec![0.0; COLUMNS];
    for row in elements.chunks(COLUMNS) {
        sums.iter_mut()
            .zip(row)
            .for_each(|(sum, element)| *sum += element);
    }
    let matrix = device.matrix((ROWS, COLUMNS), &elements)?;
    let mut contest = empty_contest::<ROWS, COLUMNS>(device, "columns", 1);
    let of_device = device.clone();
    contest.admit(
        "reduce_columns",
        device.zeros::<f32>(COLUMNS)?,
        move |calls, values| {
            for _ in 0..calls {
                of_device.reduce_columns_into(&matrix, ops::Sum, &mut *values)?;
            }
            Ok(())
        },
        |values| check(values, &sums),
    )?;
    admit_torch::<ROWS, COLUMNS>(&mut contest, rivals, false, &sums);
    Ok(contest)
}

/// A function that writes the dot products of two matrices' rows or columns.
type Dots = fn(&Device, &Matrix<f32>, &Matrix<f32>, &mut Buffer<f32>) -> tilewright::Result<()>;

/// The dot products of a matrix with its reversed elements. `line_of` maps an element's index to
/// one of `lines` rows or columns.
fn dots_of<const ROWS: usize, const COLUMNS: usize>(
    (device, rivals): (&Device, &Rivals),
    [operation, name]: [&'static str; 2],
    lines: usize,
    line_of: fn(usize) -> usize,
    dots: Dots,
) -> Result<Contest> {
    let elements = elements(ROWS * COLUMNS);
    let turned: Vec<f32> = elements.iter().rev().copied().collect();
    let mut sums = vec![0.0; lines];
    for (place, (x, y)) in elements.iter().zip(&turned).enumerate() {
        sums[line_of(place)] += f64::from(x * y);
    }
    let expected: Vec<f32> = sums.into_iter().map(|sum| sum as f32).collect();
    let x = device.matrix((ROWS, COLUMNS), &elements)?;
    let y = device.matrix((ROWS, COLUMNS), &turned)?;
    let mut contest = empty_contest::<ROWS, COLUMNS>(device, operation, 2);
    let of_device = device.clone();
    contest.admit(
        name,
        device.zeros::<f32>(lines)?,
        move |calls, values| {
            for _ in 0..calls {
                dots(&of_device, &x, &y, values)?;
            }
            Ok(())
        },
        |values| check(values, &expected),
    )?;
    admit_torch::<ROWS, COLUMNS>(&mut contest, rivals, true, &expected);
    Ok(contest)
}
