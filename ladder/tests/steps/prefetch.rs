//! The variants of the ladder of the prefetch.

use crate::common::machines;
use crate::common::random::Random;
use tilewright::testing::{seeds, under_seeds};
use tilewright::{Device, Error, ErrorKind, Operation, Tally};
use tilewright_ladder::prefetch::{self, Layout, MAX_BLOCK_THREADS, Variant, Workload};

/// Populations from 0 to 2.
fn populations(elements: usize) -> Vec<f64> {
    let mut random = Random::new(elements as u64);
    (0..elements).map(|_| random.signed_unit() + 1.0).collect()
}

/// The reference result: thread by thread, each with its elements in order.
fn expected(x: &[f64], workload: Workload) -> Vec<u64> {
    let threads = workload.threads();
    let sum_of = |thread: usize| {
        let own = x.iter().skip(thread).step_by(threads);
        own.fold(0.0, |sum, &element| {
            let mut population = element;
            for _ in 0..workload.generations {
                let growth = population.mul_add(-2.75, 2.75);
                population *= cuda_std::math::exp(growth);
            }
            sum + population
        })
    };
    (0..threads).map(sum_of).map(f64::to_bits).collect()
}

fn run(
    device: &Device,
    variant: Variant,
    distance: u32,
    workload: Workload,
    x: &[f64],
) -> Result<Vec<u64>, Error> {
    let x = device.upload(x)?;
    // What is there before the launch must not matter.
    let mut sums = device.upload(&vec![f64::NAN; workload.threads()])?;
    prefetch::launch(device, variant, distance, workload, &x, &mut sums)?;
    Ok(sums.to_vec()?.into_iter().map(f64::to_bits).collect())
}

fn check(device: &Device, workload: Workload, elements: usize) {
    let x = populations(elements);
    let expected = expected(&x, workload);
    for variant in Variant::ALL {
        for distance in variant.distances() {
            let sums = run(device, variant, distance, workload, &x).unwrap();
            assert!(
                sums == expected,
                "{variant:?} at distance {distance} on {device:?}, {elements} elements, {workload:?}"
            );
        }
    }
}

const WORKLOAD: Workload = Workload {
    generations: 2,
    blocks: 2,
    block_threads: 32,
    is_synced: true,
};

#[test]
fn every_variant_and_distance_gives_the_bits_of_the_plain_loop() {
    for device in machines() {
        for is_synced in [true, false] {
            // 0 rounds; less than one; one; less and more than the longest distance.
            for elements in [0, 1, 63, 64, 65, 10 * 64 + 7, 33 * 64 - 1] {
                check(
                    &device,
                    Workload {
                        is_synced,
                        ..WORKLOAD
                    },
                    elements,
                );
            }
        }
    }
}

#[test]
fn blocks_of_any_size_and_any_number_of_generations() {
    let device = Device::simulator();
    for (blocks, block_threads, generations) in [(3, 1, 1), (1, 45, 0), (2, MAX_BLOCK_THREADS, 1)] {
        let workload = Workload {
            generations,
            blocks,
            block_threads,
            is_synced: true,
        };
        check(&device, workload, 5 * workload.threads() + 1);
    }
}

#[test]
fn no_schedule_matters() {
    under_seeds(seeds(6), |device| check(device, WORKLOAD, 20 * 64 + 3));
}

#[test]
fn the_hosts_sums_are_those_of_the_plain_loop() {
    let x = populations(1000);
    let sums: Vec<u64> = WORKLOAD.sums(&x).into_iter().map(f64::to_bits).collect();
    assert_eq!(sums, expected(&x, WORKLOAD));
}

#[test]
fn what_does_not_exist_is_an_error() {
    for device in machines() {
        let x = device.upload(&populations(100)).unwrap();
        let mut sums = device.zeros(WORKLOAD.threads()).unwrap();
        let mut launch = |variant, distance, workload| {
            prefetch::launch(&device, variant, distance, workload, &x, &mut sums)
        };
        for (variant, distance) in [
            (Variant::Baseline, 1),
            (Variant::L2, 0),
            (Variant::ScalarBatch, 17),
            (Variant::SharedRollingAsync(Layout::Padded), 17),
        ] {
            let error = launch(variant, distance, WORKLOAD).unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::LaunchConfig { .. }),
                "{error}"
            );
        }
        let more = Workload {
            blocks: 3,
            ..WORKLOAD
        };
        let error = launch(Variant::Baseline, 0, more).unwrap_err();
        assert!(
            matches!(
                error.kind(),
                ErrorKind::WrongLength {
                    expected: 96,
                    found: 64,
                    ..
                }
            ),
            "{error}"
        );
        let larger = Workload {
            blocks: 1,
            block_threads: MAX_BLOCK_THREADS + 1,
            ..WORKLOAD
        };
        let mut sums = device.zeros(larger.threads()).unwrap();
        let variant = Variant::SharedBatch(Layout::Unpadded);
        let error = prefetch::launch(&device, variant, 16, larger, &x, &mut sums).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::LaunchConfig { .. }),
            "{error}"
        );
    }
}

/// Passes through shared memory for each pass without conflicts, of the loads of slots.
fn conflict_ways(layout: Layout, distance: u32) -> f64 {
    let device = Device::simulator();
    let x = device.upload(&populations(16 * 64)).unwrap();
    let mut sums = device.zeros(WORKLOAD.threads()).unwrap();
    let variant = Variant::SharedRollingAsync(layout);
    let (launched, report) = device
        .with_report(|| {
            Ok(prefetch::launch(
                &device, variant, distance, WORKLOAD, &x, &mut sums,
            ))
        })
        .unwrap();
    launched.unwrap();
    let mut loads = Tally::default();
    for launch in &report.launches {
        loads += launch
            .counts
            .total_of(|operation| operation == Operation::SharedLoad);
    }
    loads.shared.conflict_ways().unwrap()
}

#[test]
fn every_round_asks_l2_for_a_later_element() {
    let (device, distance) = (Device::simulator(), 5);
    let x = device.upload(&populations(10 * 64)).unwrap();
    let mut sums = device.zeros(WORKLOAD.threads()).unwrap();
    let (launched, report) = device
        .with_report(|| {
            let variant = Variant::L2;
            Ok(prefetch::launch(
                &device, variant, distance, WORKLOAD, &x, &mut sums,
            ))
        })
        .unwrap();
    launched.unwrap();
    let prefetches = report.launches[0]
        .counts
        .total_of(|operation| operation == Operation::Prefetch);
    // Two warps, 10 rounds.
    assert_eq!(prefetches.requests, 2 * (10 + u64::from(distance)));
}

/// Conflicts without padding, none with it, and none with other indices.
#[test]
fn only_the_unpadded_slots_conflict() {
    for distance in 1..=16_u32 {
        // 16 lanes read 8 bytes each in a pass; with an even pitch some of them share banks.
        let common = 1 << distance.trailing_zeros().min(4);
        assert_eq!(
            conflict_ways(Layout::Unpadded, distance),
            f64::from(common),
            "{distance}"
        );
        assert_eq!(conflict_ways(Layout::Padded, distance), 1.0, "{distance}");
        assert_eq!(
            conflict_ways(Layout::Transposed, distance),
            1.0,
            "{distance}"
        );
    }
}
