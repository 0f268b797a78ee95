//! Sums: `reduce_sum` and CUB's `DeviceReduce::Sum`.

use super::Result;
use super::cases::Case;
use super::contest::Contest;
use super::samples::{self, Sample};
use crate::rivals::Rivals;
use half::{bf16, f16};
use std::rc::Rc;
use tilewright::{Buffer, Device, reduce_sum_height};

/// Sizes of f32 sums on a GPU: from launch-bound to memory-bound.
const F32_SIZES: [usize; 7] = [
    1 << 16,
    1 << 20,
    1 << 22,
    1 << 24,
    1 << 26,
    1 << 28,
    1 << 30,
];

/// Input bytes for the other types: those of 2^28 f32.
const BYTES: usize = 1 << 30;

/// Sizes on the simulator.
const SIMULATOR_SIZES: [usize; 2] = [1 << 10, 1 << 14];

/// An upper bound of the height of every rival's addition tree.
pub const RIVAL_HEIGHT: u32 = 4096;

/// The sums to measure on `device`.
pub fn cases(device: &Device) -> Vec<Case> {
    if device.is_simulator() {
        return SIMULATOR_SIZES.map(case::<f32>).into();
    }
    let mut cases = F32_SIZES.map(case::<f32>).to_vec();
    cases.extend([
        case::<f64>(BYTES / 8),
        case::<f16>(BYTES / 2),
        case::<bf16>(BYTES / 2),
        case::<i32>(BYTES / 4),
        case::<u32>(BYTES / 4),
        case::<i64>(BYTES / 8),
        case::<u64>(BYTES / 8),
    ]);
    cases
}

fn case<T: Sample>(len: usize) -> Case {
    Case {
        name: format!("sum {} {}", T::NAME, label(len)),
        size: len,
        device_bytes: len as u64 * size_of::<T>() as u64,
        build: contest::<T>,
    }
}

/// `2^20` for a power of two.
pub fn label(len: usize) -> String {
    match len.is_power_of_two() {
        true => format!("2^{}", len.ilog2()),
        false => len.to_string(),
    }
}

pub fn contest<T: Sample>(device: &Device, rivals: &Rivals, len: usize) -> Result<Contest> {
    let (elements, numerators) = samples::elements::<T>(len);
    let x = Rc::new(device.upload(&elements)?);
    let bytes = (len * size_of::<T>()) as u64;
    let mut contest = Contest::of_bytes(device, "sum", T::NAME, (len, label(len)), bytes);
    admit_ours(&mut contest, Rc::clone(&x), numerators)?;
    admit_cub(&mut contest, rivals, "CUB", x, numerators);
    Ok(contest)
}

pub fn admit_ours<T: Sample>(contest: &mut Contest, x: Rc<Buffer<T>>, numerators: i128) -> Result {
    let device = contest.device.clone();
    let height = reduce_sum_height::<T>(x.len());
    contest.admit(
        "reduce_sum",
        device.zeros::<T::Sum>(1)?,
        move |calls, result| {
            for _ in 0..calls {
                device.reduce_sum_into(&*x, &mut *result)?;
            }
            Ok(())
        },
        |result| T::check(result.to_vec()?[0], numerators, height),
    )
}

pub fn admit_cub<T: Sample>(
    contest: &mut Contest,
    rivals: &Rivals,
    name: &'static str,
    x: Rc<Buffer<T>>,
    numerators: i128,
) {
    let Some(cub) = &rivals.cub else { return };
    let prepared = cub.sum(x).and_then(|sum| {
        let result = contest.device.zeros::<T::Sum>(1)?;
        Ok((sum, result))
    });
    match prepared {
        Err(error) => eprintln!("rival skipped: {name}, {}: {error}", contest.name()),
        Ok((sum, result)) => contest.admit_rival(name, result, sum, |result| {
            T::check(result.to_vec()?[0], numerators, RIVAL_HEIGHT)
        }),
    }
}
