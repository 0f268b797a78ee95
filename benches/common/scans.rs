//! Inclusive prefix sums: ours and CUB's.

use super::Result;
use super::cases::Case;
use super::contest::Contest;
use super::samples::check_floating;
use crate::rivals::Rivals;
use half::f16;
use std::rc::Rc;
use tilewright::{Buffer, Device, ScanElement, scan_height};
use tilewright_test_support::random::Random;
use tilewright_test_support::rounding::gamma;

/// The tolerated relative error of a rival's f32 sums.
const RIVAL_ERROR: f64 = 1e-3;

/// A type to scan.
pub trait Scanned: ScanElement {
    const NAME: &'static str;
    /// The function in the rival's source.
    const RIVAL: &'static str;

    /// A small number.
    fn of(number: u8) -> Self;

    /// Fails unless `sum` is `expected`, with a relative error of at most `error` for rounded sums.
    fn check(sum: Self, expected: u64, error: f64) -> Result;
}

impl Scanned for f32 {
    const NAME: &'static str = "f32";
    const RIVAL: &'static str = "inclusive_sum_f32";

    fn of(number: u8) -> Self {
        number.into()
    }

    fn check(sum: Self, expected: u64, error: f64) -> Result {
        let expected = expected as f64;
        check_floating(sum.into(), expected, error * expected)
    }
}

impl Scanned for i32 {
    const NAME: &'static str = "i32";
    const RIVAL: &'static str = "inclusive_sum_i32";

    fn of(number: u8) -> Self {
        number.into()
    }

    fn check(sum: Self, expected: u64, _error: f64) -> Result {
        if u64::from(sum.cast_unsigned()) == expected {
            return Ok(());
        }
        Err(format!("wrong answer: {sum} instead of {expected}").into())
    }
}

impl Scanned for f16 {
    const NAME: &'static str = "f16";
    const RIVAL: &'static str = "inclusive_sum_f16";

    fn of(number: u8) -> Self {
        number.into()
    }

    /// Long sums are infinite. Which of those near the largest number are depends on how a contender adds.
    fn check(sum: Self, expected: u64, error: f64) -> Result {
        const SURELY_INFINITE: u64 = 70_000;
        const SURELY_FINITE: u64 = 60_000;
        let expected_sum = match expected {
            ..SURELY_FINITE => expected as f64,
            SURELY_FINITE..SURELY_INFINITE => return Ok(()),
            _ => f64::INFINITY,
        };
        // A rival rounds its partial sums, too.
        let error = 16.0 * error + f64::from(Self::EPSILON);
        match sum.is_infinite() && expected_sum.is_infinite() {
            true => Ok(()),
            false => check_floating(sum.into(), expected_sum, error * expected_sum),
        }
    }
}

/// The scans to measure on `device`.
pub fn cases(device: &Device) -> Vec<Case> {
    if device.is_simulator() {
        return vec![case::<f32>(14), case::<i32>(14)];
    }
    let mut cases: Vec<Case> = [16, 20, 24, 28].map(case::<f32>).into();
    cases.push(case::<i32>(28));
    cases.extend([24, 28].map(case::<f16>));
    cases
}

fn case<T: Scanned>(exponent: u32) -> Case {
    let size = 1 << exponent;
    Case {
        name: format!("scan {} 2^{exponent}", T::NAME),
        size,
        device_bytes: 2 * bytes::<T>(size),
        build: contest::<T>,
    }
}

fn bytes<T>(len: usize) -> u64 {
    (len * size_of::<T>()) as u64
}

/// Numbers from 0 to 3 that repeat.
pub fn numbers(len: usize) -> Vec<u8> {
    let mut random = Random::new(len as u64);
    let period: Vec<u8> = (0..1_000_003).map(|_| (random.bits() % 4) as u8).collect();
    period.into_iter().cycle().take(len).collect()
}

pub fn check<T: Scanned>(sums: &Buffer<T>, numbers: &[u8], error: f64) -> Result {
    let mut expected = 0;
    for (sum, number) in sums.to_vec()?.into_iter().zip(numbers) {
        expected += u64::from(*number);
        T::check(sum, expected, error)?;
    }
    Ok(())
}

pub fn contest<T: Scanned>(device: &Device, rivals: &Rivals, len: usize) -> Result<Contest> {
    let numbers = numbers(len);
    let elements: Vec<T> = numbers.iter().map(|&number| T::of(number)).collect();
    let x = Rc::new(device.upload(&elements)?);
    let mut contest = Contest::of_bytes(
        device,
        "scan",
        T::NAME,
        (len, format!("2^{}", len.ilog2())),
        2 * bytes::<T>(len),
    );
    let (of_device, of_ours) = (device.clone(), Rc::clone(&x));
    let error = gamma::<f32>(scan_height::<T>(len) as usize);
    contest.admit(
        "scan_inclusive",
        device.zeros::<T>(len)?,
        move |calls, sums| {
            for _ in 0..calls {
                of_device.scan_inclusive_into(&*of_ours, &mut *sums)?;
            }
            Ok(())
        },
        |sums| check(sums, &numbers, error),
    )?;
    let Some(cub) = &rivals.reductions else {
        return Ok(contest);
    };
    let sums = device.zeros::<T>(len)?;
    match cub.scan(T::RIVAL, x) {
        Err(error) => eprintln!("rival skipped: CUB, {}: {error}", contest.name()),
        Ok(scan) => {
            contest.admit_rival("CUB", sums, scan, |sums| check(sums, &numbers, RIVAL_ERROR))
        }
    }
    Ok(contest)
}
