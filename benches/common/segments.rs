//! Sums of the segments of arrays of f32: ours, CUB's and torch's.

use super::Result;
use super::cases::Case;
use super::contest::Contest;
use super::lines::{check, check_values, elements, period};
use crate::rivals::Rivals;
use crate::rivals::torch::Job;
use std::rc::Rc;
use tilewright::{Device, ops};
use tilewright_test_support::random::Random;

/// Segments of one array.
#[derive(Clone, Copy)]
struct Lengths {
    /// The label in tables.
    label: &'static str,
    build: fn(&Device, &Rivals, usize) -> Result<Contest>,
    /// Approximate number of elements.
    size: usize,
}

/// The sums to measure on `device`.
pub fn cases(device: &Device) -> Vec<Case> {
    let lengths = if device.is_simulator() {
        vec![Lengths {
            label: "1000x0..64",
            build: |device, rivals, _| short(device, rivals, 1000, "1000x0..64"),
            size: 32_000,
        }]
    } else {
        vec![
            Lengths {
                label: "10^6x0..64",
                build: |device, rivals, _| short(device, rivals, 1_000_000, "10^6x0..64"),
                size: 32_000_000,
            },
            Lengths {
                label: "1000x10^5",
                build: |device, rivals, _| contest(device, rivals, &[100_000; 1000], "1000x10^5"),
                size: 100_000_000,
            },
            Lengths {
                label: "10^5 and one",
                build: one_long,
                size: 13_200_000,
            },
        ]
    };
    let case = |lengths: Lengths| Case {
        name: format!("segments f32 {}", lengths.label),
        size: lengths.size,
        device_bytes: 4 * lengths.size as u64,
        build: lengths.build,
    };
    lengths.into_iter().map(case).collect()
}

fn random_lengths(count: usize) -> Vec<usize> {
    let mut random = Random::new(count as u64);
    (0..count).map(|_| (random.bits() % 65) as usize).collect()
}

fn short(device: &Device, rivals: &Rivals, count: usize, label: &str) -> Result<Contest> {
    contest(device, rivals, &random_lengths(count), label)
}

/// One segment of 10^7 elements among 10^5 of 0 to 64.
fn one_long(device: &Device, rivals: &Rivals, _size: usize) -> Result<Contest> {
    let mut lengths = random_lengths(100_000);
    lengths[50_000] = 10_000_000;
    contest(device, rivals, &lengths, "10^5 and one")
}

fn contest(device: &Device, rivals: &Rivals, lengths: &[usize], label: &str) -> Result<Contest> {
    let mut offsets = vec![0];
    for len in lengths {
        offsets.push(offsets[offsets.len() - 1] + len);
    }
    let size = offsets[lengths.len()];
    let elements = elements(size);
    let sums: Vec<f32> = offsets
        .windows(2)
        .map(|bounds| elements[bounds[0]..bounds[1]].iter().sum())
        .collect();
    let x = Rc::new(device.upload(&elements)?);
    let bytes = 4 * (size + lengths.len()) as u64;
    let mut contest = Contest::of_bytes(device, "segments", "f32", (size, label.to_owned()), bytes);
    let segments = device.segments(&offsets)?;
    let (of_device, of_ours) = (device.clone(), Rc::clone(&x));
    contest.admit(
        "reduce_segments",
        device.zeros::<f32>(lengths.len())?,
        move |calls, values| {
            for _ in 0..calls {
                of_device.reduce_segments_into(&*of_ours, &segments, ops::Sum, &mut *values)?;
            }
            Ok(())
        },
        |values| check(values, &sums),
    )?;
    if let Some(cub) = &rivals.reductions {
        let offsets: Vec<u64> = offsets.iter().map(|&offset| offset as u64).collect();
        let values = device.zeros::<f32>(lengths.len())?;
        match cub.sum_of_segments(x, device.upload(&offsets)?) {
            Err(error) => eprintln!("rival skipped: CUB, {}: {error}", contest.name()),
            Ok(sum) => contest.admit_rival("CUB", values, sum, |values| check(values, &sums)),
        }
    }
    let job = Job {
        operation: "segments",
        element: "f32",
        shape: &[size],
        period: &period(size),
        others: &[],
        has_second: false,
        offsets: &offsets,
        compared: None,
    };
    contest.admit_torch(rivals, &job, |values| check_values(values, &sums));
    Ok(contest)
}
