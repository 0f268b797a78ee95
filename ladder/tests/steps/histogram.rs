//! The steps of the ladder of the histogram.

use crate::common::machines;
use crate::common::random::Random;
use crate::common::sizes::sizes;
use tilewright::testing::{seeds, under_seeds};
use tilewright::{Device, Error, ErrorKind, Operation};
use tilewright_ladder::histogram::{self, BINS, Step};

/// Every value as often as every other.
fn uniform(elements: usize) -> Vec<u8> {
    let mut random = Random::new(elements as u64);
    (0..elements).map(|_| random.bits() as u8).collect()
}

/// 15 of 16 elements are 7.
fn skewed(elements: usize) -> Vec<u8> {
    let mut random = Random::new(elements as u64);
    let mut element = || {
        let bits = random.bits();
        if bits >> 32 & 15 == 0 { bits as u8 } else { 7 }
    };
    (0..elements).map(|_| element()).collect()
}

/// The reference result.
fn counts(data: &[u8]) -> Vec<u32> {
    let mut counts = vec![0; BINS];
    for &value in data {
        counts[usize::from(value)] += 1;
    }
    counts
}

fn check(device: &Device, step: Step, data: &[u8], block_threads: u32) {
    let x = device.upload(data).unwrap();
    let found = histogram::histogram(device, step, &x, block_threads).unwrap();
    let elements = data.len();
    assert_eq!(
        found,
        counts(data),
        "{step:?} on {device:?}, {elements} elements, blocks of {block_threads}"
    );
}

#[test]
fn every_step_counts_every_length() {
    for device in machines() {
        for elements in sizes(4200) {
            for step in Step::ALL {
                check(&device, step, &uniform(elements), 128);
            }
        }
    }
}

/// Blocks with more threads than counters, with fewer, and with part of a warp; parts of blocks
/// that are nearly whole.
#[test]
fn every_step_counts_with_every_block_size() {
    for device in machines() {
        for step in Step::ALL {
            for block_threads in [1, 40, 64, 256, 512, 1024] {
                let whole = step.block_elements(block_threads);
                for elements in [whole - 1, whole, 2 * whole + 1] {
                    check(&device, step, &skewed(elements), block_threads);
                }
            }
        }
    }
}

#[test]
fn every_step_is_right_under_every_schedule() {
    under_seeds(seeds(32), |device| {
        for step in Step::ALL {
            let elements = 2 * step.block_elements(96) + 50;
            check(device, step, &skewed(elements), 96);
        }
    });
}

#[test]
fn one_value_alone() {
    let device = Device::simulator();
    for step in Step::ALL {
        check(&device, step, &[255; 5000], 64);
    }
}

#[test]
fn counts_are_added_to_what_is_there() {
    let device = Device::simulator();
    let x = device.upload(&[3_u8; 100]).unwrap();
    for step in Step::ALL {
        let mut bins = device.upload(&[5_u32; BINS]).unwrap();
        histogram::launch(&device, step, &x, &mut bins, 64).unwrap();
        let bins = bins.to_vec().unwrap();
        assert_eq!((bins[2], bins[3]), (5, 105), "{step:?}");
    }
}

#[test]
fn what_cannot_be_launched_is_refused() {
    let device = Device::simulator();
    let x = device.upload(&[3_u8; 100]).unwrap();
    let mut bins = device.zeros(BINS - 1).unwrap();
    for step in Step::ALL {
        let refused = histogram::launch(&device, step, &x, &mut bins, 64);
        assert!(
            matches!(
                refused.as_ref().map_err(Error::kind),
                Err(ErrorKind::WrongLength { expected: BINS, .. })
            ),
            "{refused:?}"
        );
        for block_threads in [0, 1025] {
            let refused = histogram::histogram(&device, step, &x, block_threads);
            assert!(
                matches!(
                    refused.as_ref().map_err(Error::kind),
                    Err(ErrorKind::LaunchConfig { .. })
                ),
                "{refused:?}"
            );
        }
    }
}

/// The change of each step is visible in the simulator's counters.
#[test]
fn each_step_costs_less_in_what_it_changes() {
    let elements = 1 << 15;
    let count = |data: Vec<u8>| {
        Step::ALL.map(|step| {
            let device = Device::simulator();
            let x = device.upload(&data).unwrap();
            let (_, report) = device
                .with_report(|| histogram::histogram(&device, step, &x, 256))
                .unwrap();
            let counts = &report.launches[0].counts;
            let load = counts.of(Operation::GlobalLoad);
            (
                counts.of(Operation::GlobalAtomic).requests,
                counts.of(Operation::SharedAtomic).requests,
                load.requests,
                load.global.sectors,
            )
        })
    };
    let [
        global,
        privatised,
        contiguous,
        interleaved,
        vectors,
        aggregated,
    ] = count(uniform(elements));
    let warps = elements as u64 / 32;
    assert_eq!((global.0, global.1), (warps, 0));
    assert_eq!(privatised.1, warps, "the updates moved to shared memory");
    assert_eq!(
        privatised.0, warps,
        "8 requests for each block's 256 elements"
    );
    assert_eq!(contiguous.0, warps / 64);
    assert_eq!(contiguous.3, 32 * warps, "a sector for each byte");
    assert_eq!(interleaved.3, warps, "a sector for each warp");
    assert_eq!(vectors.2, warps / 16);
    assert_eq!(vectors.3, warps, "each sector once");
    assert!(aggregated.1 > warps / 2, "uniform data has few runs");

    let [.., interleaved, _, aggregated] = count(skewed(elements));
    assert_eq!(interleaved.1, warps);
    assert!(
        aggregated.1 < interleaved.1,
        "an update for each run: {aggregated:?}"
    );
}
