//! The steps of the ladder of the sum.

use crate::common::machines;
use crate::common::random::Random;
use crate::common::sizes::sizes;
use tilewright::testing::{seeds, under_seeds};
use tilewright::{Device, Error, ErrorKind, Operation};
use tilewright_ladder::sum::{self, BLOCK_THREADS, Step, Sums};

/// Numbers of 8 bits, as `rand() & 0xFF` gives them.
fn bytes(elements: usize) -> Vec<i32> {
    let mut random = Random::new(elements as u64);
    (0..elements)
        .map(|_| (random.bits() & 0xFF) as i32)
        .collect()
}

fn check(device: &Device, step: Step, data: &[i32], block_threads: u32) {
    let expected: i64 = data.iter().copied().map(i64::from).sum();
    let mut x = device.upload(data).unwrap();
    let total = sum::total(device, step, &mut x, block_threads).unwrap();
    let elements = data.len();
    assert_eq!(
        total, expected,
        "{step:?} on {device:?}, {elements} elements, blocks of {block_threads}"
    );
}

#[test]
fn every_step_adds_every_length_with_every_block_size() {
    for device in machines() {
        for elements in sizes(4200) {
            let data = bytes(elements);
            for step in Step::ALL {
                for block_threads in BLOCK_THREADS {
                    check(&device, step, &data, block_threads);
                }
            }
        }
    }
}

/// One element more than whole parts, and one less, of as many blocks as the step makes of them.
#[test]
fn every_step_adds_parts_that_are_nearly_whole() {
    for device in machines() {
        for step in Step::ALL {
            for block_threads in BLOCK_THREADS {
                let whole = 3 * step.block_elements(block_threads).max(1);
                for elements in [whole - 1, whole, whole + 1] {
                    check(&device, step, &bytes(elements), block_threads);
                }
            }
        }
    }
}

#[test]
fn every_step_is_right_under_every_schedule() {
    under_seeds(seeds(32), |device| {
        for step in Step::ALL {
            // Three blocks or more; the last one is not whole, nor is its last warp.
            let elements = 2 * step.block_elements(128) + 77;
            check(device, step, &bytes(elements), 128);
        }
    });
}

#[test]
fn negative_elements_and_partial_sums_that_wrap() {
    let device = Device::simulator();
    for step in Step::ALL {
        let mut x = device.upload(&[-3; 1000]).unwrap();
        assert_eq!(
            sum::total(&device, step, &mut x, 64).unwrap(),
            -3000,
            "{step:?}"
        );
    }
    // One block adds all of them.
    let mut x = device.upload(&[i32::MAX, 1]).unwrap();
    let total = sum::total(&device, Step::Neighboured, &mut x, 64).unwrap();
    assert_eq!(total, i64::from(i32::MIN));
}

#[test]
fn other_block_sizes_are_refused() {
    let device = Device::simulator();
    let mut x = device.upload(&bytes(1000)).unwrap();
    for step in Step::ALL {
        for block_threads in [0, 1, 32, 96, 2048, u32::MAX] {
            let refused = sum::total(&device, step, &mut x, block_threads);
            assert!(
                matches!(
                    refused.as_ref().map_err(Error::kind),
                    Err(ErrorKind::LaunchConfig { .. })
                ),
                "{step:?}, {block_threads}: {refused:?}"
            );
        }
    }
}

#[test]
fn room_for_other_sums_is_refused() {
    let device = Device::simulator();
    let mut x = device.upload(&bytes(1000)).unwrap();
    for (made_for, elements, launched) in [
        (Step::Neighboured, 800, Step::Neighboured),
        (Step::Neighboured, 1000, Step::Unrolled),
        (Step::Neighboured, 1000, Step::Cooperative),
        (Step::ReduceSum, 1000, Step::Neighboured),
    ] {
        let mut sums = Sums::new(&device, made_for, elements, 128).unwrap();
        let refused = sum::launch(&device, launched, &mut x, &mut sums, 128);
        assert!(
            matches!(
                refused.as_ref().map_err(Error::kind),
                Err(ErrorKind::WrongLength { .. })
            ),
            "{made_for:?} for {launched:?}: {refused:?}"
        );
    }
}

/// A total is not added to the one before.
#[test]
fn steps_that_leave_the_array_alone_can_be_repeated() {
    let device = Device::simulator();
    let data = bytes(3000);
    let mut x = device.upload(&data).unwrap();
    for step in [Step::Shuffled, Step::Cooperative, Step::ReduceSum] {
        let mut sums = Sums::new(&device, step, data.len(), 64).unwrap();
        for _ in 0..3 {
            sum::launch(&device, step, &mut x, &mut sums, 64).unwrap();
        }
        let expected: i64 = data.iter().copied().map(i64::from).sum();
        assert_eq!(sums.total().unwrap(), expected, "{step:?}");
        assert_eq!(x.to_vec().unwrap(), data, "{step:?}");
    }
}

/// The change of each step is visible in the simulator's counters.
#[test]
fn each_step_costs_less_in_what_it_changes() {
    let total = |step: Step| {
        let device = Device::simulator();
        let mut x = device.upload(&bytes(1 << 14)).unwrap();
        let (_, report) = device
            .with_report(|| sum::total(&device, step, &mut x, 256))
            .unwrap();
        report.launches[0].counts.clone()
    };
    let [
        plain,
        less,
        interleaved,
        unrolled,
        warps,
        complete,
        shuffled,
        cooperative,
        fast,
    ] = Step::ALL.map(total);
    let branches = |counts: &tilewright::Counts| counts.total().branch_efficiency().unwrap();
    let sectors = |counts: &tilewright::Counts| counts.total().global.sectors;
    let barriers = |counts: &tilewright::Counts| counts.of(Operation::BlockBarrier).requests;

    assert!(branches(&less) > 1.5 * branches(&plain), "whole warps rest");
    assert_eq!(sectors(&less), sectors(&plain), "the same accesses");
    assert!(2 * sectors(&interleaved) < sectors(&less), "coalesced");
    assert_eq!(barriers(&interleaved), barriers(&plain));
    // One more barrier for twice as many elements: 9 for each warp of 32 blocks, for 8 of 64.
    assert_eq!(16 * barriers(&unrolled), 9 * barriers(&interleaved));
    // The one before the rounds and two rounds, for eight times as many elements.
    assert_eq!(64 * barriers(&warps), 3 * barriers(&interleaved));
    assert!(sectors(&warps) < sectors(&unrolled));
    assert_eq!(sectors(&complete), sectors(&warps));
    assert!(
        sectors(&shuffled) < sectors(&complete),
        "nothing is written but the blocks' sums"
    );
    let loads = |counts: &tilewright::Counts| counts.of(Operation::GlobalLoad);
    assert_eq!(loads(&shuffled).global.sectors, 1 << 11, "once");
    assert_eq!(loads(&shuffled).requests, 1 << 9);
    assert_eq!(loads(&cooperative).requests, 1 << 7, "16 bytes each");
    assert_eq!(loads(&cooperative).global.sectors, 1 << 11);
    // 2^14 elements are one vector for each thread of 16 blocks.
    assert_eq!(cooperative.of(Operation::GlobalAtomic).requests, 16);
    // 16 bytes each again, and the partial sums of 4 blocks.
    assert!(loads(&fast).requests < loads(&shuffled).requests / 3);
}
