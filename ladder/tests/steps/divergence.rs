//! A branch within the warp, and by warp.

use crate::common::machines;
use crate::common::random::Random;
use crate::common::sizes::sizes;
use tilewright::testing::{seeds, under_seeds};
use tilewright::{Buffer, Device, Error, ErrorKind, Result};
use tilewright_ladder::divergence::{self, ROUNDS, Step};

fn numbers(elements: usize) -> Vec<f32> {
    let mut random = Random::new(elements as u64);
    (0..elements).map(|_| random.signed_unit() as f32).collect()
}

/// The reference result, element by element.
fn expected(data: &[f32], warp_threads: usize) -> Vec<f32> {
    let one_element = |(index, &value): (usize, &f32)| {
        (0..ROUNDS).fold(value, |value: f32, _| {
            if index % warp_threads < warp_threads / 2 {
                value.mul_add(1.0 + 1.0 / 1024.0, 1.0 / 1024.0)
            } else {
                value.mul_add(-value, 1.5)
            }
        })
    };
    data.iter().enumerate().map(one_element).collect()
}

fn launch(device: &Device, step: Step, data: &[f32], block_threads: u32) -> Result<Buffer<f32>> {
    let mut y = device.uninit(data.len())?;
    divergence::launch(device, step, &device.upload(data)?, &mut y, block_threads)?;
    Ok(y)
}

fn check(device: &Device, step: Step, data: &[f32], block_threads: u32) {
    let found = launch(device, step, data, block_threads).unwrap();
    let warp_threads = device.properties().warp_threads as usize;
    assert_eq!(
        found.to_vec().unwrap(),
        expected(data, warp_threads),
        "{step:?} on {device:?}, blocks of {block_threads}"
    );
}

#[test]
fn every_step_gives_the_same_bits_for_every_length() {
    for device in machines() {
        for elements in sizes(600) {
            for step in Step::ALL {
                check(&device, step, &numbers(elements), 128);
            }
        }
    }
}

#[test]
fn every_step_works_with_every_block_size() {
    for device in machines() {
        for step in Step::ALL {
            for block_threads in [256, 384, 512, 1024] {
                check(&device, step, &numbers(1500), block_threads);
            }
        }
    }
}

#[test]
fn every_step_is_right_under_every_schedule() {
    under_seeds(seeds(32), |device| {
        for step in Step::ALL {
            check(device, step, &numbers(100), 64);
        }
    });
}

#[test]
fn the_branch_by_warp_keeps_all_lanes_at_work() {
    let [half_warp, by_warp] = Step::ALL.map(|step| {
        let device = Device::simulator();
        let (_, report) = device
            .with_report(|| launch(&device, step, &numbers(1024), 256))
            .unwrap();
        report.launches[0].counts.total()
    });
    assert_eq!(half_warp.flops_f32, by_warp.flops_f32);
    assert_eq!(by_warp.branch_efficiency(), Some(1.0));
    // All requests but the load are of half a warp.
    let efficiency = half_warp.branch_efficiency().unwrap();
    assert!((0.5..0.501).contains(&efficiency), "{efficiency}");
    // 32 warps, each with a load, and with multiply-adds and a store once or twice.
    assert_eq!(by_warp.requests, 32 * (1 + u64::from(ROUNDS) + 1));
    assert_eq!(half_warp.requests, 32 * (1 + 2 * (u64::from(ROUNDS) + 1)));
    // 4 sectors for each load and each store of a warp, in one run or in two.
    assert_eq!(by_warp.global.sectors, 2 * 4 * 32);
}

#[test]
fn what_cannot_be_launched_is_refused() {
    let device = Device::simulator();
    let x = device.upload(&numbers(10)).unwrap();
    let mut y = device.zeros(9).unwrap();
    for step in Step::ALL {
        let refused = divergence::launch(&device, step, &x, &mut y, 64);
        assert!(
            matches!(
                refused.as_ref().map_err(Error::kind),
                Err(ErrorKind::WrongLength {
                    expected: 10,
                    found: 9,
                    ..
                })
            ),
            "{refused:?}"
        );
        for block_threads in [0, 32, 96, 2048] {
            let refused = launch(&device, step, &numbers(10), block_threads);
            assert!(
                matches!(
                    refused.as_ref().map_err(Error::kind),
                    Err(ErrorKind::LaunchConfig { .. })
                ),
                "{block_threads}: {refused:?}"
            );
        }
    }
}
