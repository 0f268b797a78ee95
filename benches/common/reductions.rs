//! f32 reductions other than sums of a whole buffer: ours, CUB's and torch's.

use super::Result;
use super::cases::Case;
use super::contest::Contest;
use super::lines;
use super::samples::check_floating;
use crate::rivals::Rivals;
use crate::rivals::cub_reductions::RESULT_BYTES;
use crate::rivals::torch::Job;
use std::rc::Rc;
use tilewright::{Buffer, Device, Reducible, ops};
use tilewright_test_support::random::Random;

/// The tolerated relative error of a rival's f32 sum.
const RIVAL_ERROR: f64 = 1e-3;

/// Elements of an array on a GPU and on the simulator.
const SIZES: [usize; 2] = [1 << 28, 1 << 14];

/// The reductions to measure on `device`.
pub fn cases(device: &Device) -> Vec<Case> {
    let size = SIZES[usize::from(device.is_simulator())];
    let case = |operation: &str, arrays: u64, build| Case {
        name: format!("{operation} f32 {}", label(size)),
        size,
        device_bytes: arrays * 4 * size as u64,
        build,
    };
    let mut cases = vec![
        case("min", 1, |device, rivals, size| {
            contest(
                device,
                rivals,
                size,
                "min",
                "minimum",
                ops::Min,
                f64::from,
                value,
            )
        }),
        case("max", 1, |device, rivals, size| {
            contest(
                device,
                rivals,
                size,
                "max",
                "maximum",
                ops::Max,
                f64::from,
                value,
            )
        }),
        case("min_max", 1, |device, rivals, size| {
            contest(
                device,
                rivals,
                size,
                "min_max",
                "",
                ops::MinMax,
                |[_, max]| max.into(),
                value,
            )
        }),
        case("argmin", 1, |device, rivals, size| {
            contest(
                device,
                rivals,
                size,
                "argmin",
                "place_of_minimum",
                ops::ArgMin,
                |at| at as f64,
                index,
            )
        }),
        case("argmax", 1, |device, rivals, size| {
            let rival = "place_of_maximum";
            contest(
                device,
                rivals,
                size,
                "argmax",
                rival,
                ops::ArgMax,
                |at| at as f64,
                index,
            )
        }),
        case("norm_2", 1, |device, rivals, size| {
            let rival = "sum_of_squares";
            contest(
                device,
                rivals,
                size,
                "norm_2",
                rival,
                ops::Norm2,
                f64::from,
                root,
            )
        }),
        case("variance", 1, |device, rivals, size| {
            contest(
                device,
                rivals,
                size,
                "variance",
                "",
                ops::Variance,
                f64::from,
                value,
            )
        }),
        case("dot", 2, dot),
    ];
    cases.extend(lines::cases(device));
    cases
}

fn label(len: usize) -> String {
    format!("2^{}", len.ilog2())
}

/// Decodes a result of CUB: a value, an index, or the square of a value.
fn value(bytes: &[u8]) -> f64 {
    f32::from_le_bytes(bytes[..4].try_into().expect("four bytes")).into()
}

fn index(bytes: &[u8]) -> f64 {
    u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")).into()
}

fn root(bytes: &[u8]) -> f64 {
    value(bytes).sqrt()
}

/// The period of the elements, which are from 0 to 1.
fn period(len: usize) -> Vec<f32> {
    let mut random = Random::new(len as u64);
    let numbers = (0..1 << 20).map(|_| random.symmetric(23).abs() as f32);
    numbers.collect()
}

/// Index and value of the one smaller element, and of the one greater.
fn extremes(len: usize) -> [(usize, f32); 2] {
    [(len / 3, -1.0), (len / 7 * 5, 2.0)]
}

fn elements(len: usize) -> Vec<f32> {
    let mut elements: Vec<f32> = period(len).into_iter().cycle().take(len).collect();
    for (place, value) in extremes(len) {
        elements[place] = value;
    }
    elements
}

fn empty_contest(device: &Device, operation: &'static str, len: usize, arrays: u64) -> Contest {
    let bytes = arrays * 4 * len as u64;
    Contest::of_bytes(device, operation, "f32", (len, label(len)), bytes)
}

/// The result of a plain loop.
fn expected(operation: &str, x: &[f32]) -> f64 {
    let wide = || x.iter().map(|&x| f64::from(x));
    let len = x.len() as f64;
    match operation {
        "min" => -1.0,
        "max" | "min_max" => 2.0,
        "argmin" => (x.len() / 3) as f64,
        "argmax" => (x.len() / 7 * 5) as f64,
        "norm_2" => wide().map(|x| x * x).sum::<f64>().sqrt(),
        "variance" => {
            let mean = wide().sum::<f64>() / len;
            wide().map(|x| (x - mean).powi(2)).sum::<f64>() / len
        }
        _ => unreachable!("there is no such contest"),
    }
}

#[expect(clippy::too_many_arguments, reason = "a line of the table above each")]
fn contest<R: Copy + 'static>(
    device: &Device,
    rivals: &Rivals,
    len: usize,
    operation: &'static str,
    rival: &str,
    reduction: R,
    ours: fn(<f32 as Reducible<R>>::Output) -> f64,
    theirs: fn(&[u8]) -> f64,
) -> Result<Contest>
where
    f32: Reducible<R>,
{
    let elements = elements(len);
    let expected = expected(operation, &elements);
    let x = Rc::new(device.upload(&elements)?);
    let mut contest = empty_contest(device, operation, len, 1);
    let (of_device, of_ours) = (device.clone(), Rc::clone(&x));
    contest.admit(
        "reduce",
        device.zeros::<<f32 as Reducible<R>>::Output>(1)?,
        move |calls, result| {
            for _ in 0..calls {
                of_device.reduce_into(&*of_ours, reduction, &mut *result)?;
            }
            Ok(())
        },
        |result| check_floating(ours(result.to_vec()?[0]), expected, 1e-6 * expected.abs()),
    )?;
    admit_cub(
        &mut contest,
        rivals,
        rival,
        [Rc::clone(&x), x],
        theirs,
        expected,
    )?;
    admit_torch(&mut contest, rivals, expected);
    Ok(contest)
}

fn dot(device: &Device, rivals: &Rivals, len: usize) -> Result<Contest> {
    let left = elements(len);
    let right: Vec<f32> = left.iter().rev().copied().collect();
    let products = left
        .iter()
        .zip(&right)
        .map(|(&x, &y)| f64::from(x) * f64::from(y));
    let expected: f64 = products.sum();
    let (x, y) = (
        Rc::new(device.upload(&left)?),
        Rc::new(device.upload(&right)?),
    );
    let mut contest = empty_contest(device, "dot", len, 2);
    let (of_device, operands) = (device.clone(), [Rc::clone(&x), Rc::clone(&y)]);
    contest.admit(
        "reduce_dot",
        device.zeros::<f32>(1)?,
        move |calls, result| {
            for _ in 0..calls {
                of_device.reduce_dot_into(&*operands[0], &*operands[1], &mut *result)?;
            }
            Ok(())
        },
        |result| check_floating(result.to_vec()?[0].into(), expected, 1e-6 * expected.abs()),
    )?;
    admit_cub(&mut contest, rivals, "dot", [x, y], value, expected)?;
    admit_torch(&mut contest, rivals, expected);
    Ok(contest)
}

/// Adds torch, if available.
fn admit_torch(contest: &mut Contest, rivals: &Rivals, expected: f64) {
    let job = Job {
        operation: contest.operation,
        element: "f32",
        shape: &[contest.size],
        period: &period(contest.size),
        others: &extremes(contest.size),
        has_second: contest.operation == "dot",
        offsets: &[],
        compared: None,
    };
    contest.admit_torch(rivals, &job, |values| {
        let last = values.last().ok_or("there is no result")?;
        check_floating(*last, expected, RIVAL_ERROR * expected.abs())
    });
}

/// Adds CUB, if available and if it has the reduction.
fn admit_cub(
    contest: &mut Contest,
    rivals: &Rivals,
    rival: &str,
    [x, y]: [Rc<Buffer<f32>>; 2],
    theirs: fn(&[u8]) -> f64,
    expected: f64,
) -> Result {
    let Some(cub) = rivals.reductions.as_ref().filter(|_| !rival.is_empty()) else {
        return Ok(());
    };
    let result = contest.device.zeros::<u8>(RESULT_BYTES)?;
    match cub.reduction(rival, x, y) {
        Err(error) => eprintln!("rival skipped: CUB, {}: {error}", contest.name()),
        Ok(reduction) => contest.admit_rival("CUB", result, reduction, |result| {
            let bound = RIVAL_ERROR * expected.abs();
            check_floating(theirs(&result.to_vec()?), expected, bound)
        }),
    }
    Ok(())
}
