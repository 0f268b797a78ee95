//! Reproducible sums: `reduce_sum_reproducible`, `reduce_sum`, CUB's `DeviceReduce::Sum`, whose bits depend on the
//! order, and for f32 and f64, if available, CUB's sum with the same bits on every GPU.

use super::Result;
use super::cases::Case;
use super::contest::Contest;
use super::samples::{self, Sample};
use super::sums;
use crate::rivals::Rivals;
use half::{bf16, f16};
use std::rc::Rc;
use tilewright::{Buffer, Device, ReduceElement, ReproducibleElement};

/// Sizes of f32 sums on a GPU.
const F32_SIZES: [usize; 5] = [1 << 16, 1 << 20, 1 << 24, 1 << 26, 1 << 28];

/// Elements of the other types: 2 GiB of f64, and 1 GiB of f16 or bf16.
const F64_SIZE: usize = 1 << 28;
const HALF_SIZE: usize = 1 << 29;

/// Elements on the simulator.
const SIMULATOR_SIZE: usize = 1 << 14;

/// The sums to measure on `device`.
pub fn cases(device: &Device) -> Vec<Case> {
    if device.is_simulator() {
        return vec![case::<f32>(SIMULATOR_SIZE), case::<f64>(SIMULATOR_SIZE)];
    }
    let mut cases = F32_SIZES.map(case::<f32>).to_vec();
    cases.extend([
        case::<f64>(F64_SIZE),
        case::<f16>(HALF_SIZE),
        case::<bf16>(HALF_SIZE),
    ]);
    cases
}

fn case<T>(len: usize) -> Case
where
    T: Sample + ReproducibleElement<Sum = <T as ReduceElement>::Sum>,
{
    Case {
        name: format!("reproducible_sum {} {}", T::NAME, sums::label(len)),
        size: len,
        device_bytes: len as u64 * size_of::<T>() as u64,
        build: contest::<T>,
    }
}

fn contest<T>(device: &Device, rivals: &Rivals, len: usize) -> Result<Contest>
where
    T: Sample + ReproducibleElement<Sum = <T as ReduceElement>::Sum>,
{
    let (elements, numerators) = samples::elements::<T>(len);
    let x = Rc::new(device.upload(&elements)?);
    let bytes = (len * size_of::<T>()) as u64;
    let mut contest = Contest::of_bytes(
        device,
        "reproducible_sum",
        T::NAME,
        (len, sums::label(len)),
        bytes,
    );
    admit_reproducible(&mut contest, Rc::clone(&x), numerators)?;
    sums::admit_ours(&mut contest, Rc::clone(&x), numerators)?;
    sums::admit_cub(
        &mut contest,
        rivals,
        "CUB, any order",
        Rc::clone(&x),
        numerators,
    );
    if matches!(T::NAME, "f32" | "f64") {
        admit_gpu_to_gpu(&mut contest, rivals, x, numerators);
    }
    Ok(contest)
}

fn admit_reproducible<T>(contest: &mut Contest, x: Rc<Buffer<T>>, numerators: i128) -> Result
where
    T: Sample + ReproducibleElement<Sum = <T as ReduceElement>::Sum>,
{
    let device = contest.device.clone();
    contest.admit(
        "reduce_sum_reproducible",
        device.zeros::<<T as ReduceElement>::Sum>(1)?,
        move |calls, result| {
            for _ in 0..calls {
                device.reduce_sum_reproducible_into(&*x, &mut *result)?;
            }
            Ok(())
        },
        // One rounding, plus another of the exact sum in the check.
        |result| T::check(result.to_vec()?[0], numerators, 2),
    )
}

/// Adds CUB's sum of binned numbers, which has the same order on every GPU.
fn admit_gpu_to_gpu<T: Sample>(
    contest: &mut Contest,
    rivals: &Rivals,
    x: Rc<Buffer<T>>,
    numerators: i128,
) {
    let Some(cub) = &rivals.reproducible else {
        return;
    };
    let prepared = cub.sum(x).and_then(|sum| {
        let result = contest.device.zeros::<T::Sum>(1)?;
        Ok((sum, result))
    });
    match prepared {
        Err(error) => eprintln!(
            "rival skipped: CUB, gpu_to_gpu, {}: {error}",
            contest.name()
        ),
        Ok((sum, result)) => contest.admit_rival("CUB, gpu_to_gpu", result, sum, |result| {
            T::check(result.to_vec()?[0], numerators, sums::RIVAL_HEIGHT)
        }),
    }
}
