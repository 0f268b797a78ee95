//! Warp-wide operations: shuffles, masks, both warp widths.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

mod borrowed;
mod common;

use common::{launch, launch_with, serial, thread_x};
use simt::Options;
use std::sync::atomic::{AtomicU32, Ordering};

/// The value of lane `source`, as by `shfl.sync.idx`.
#[track_caller]
fn shuffle(mask: u64, value: u64, source: u32) -> u64 {
    crate::borrowed::warp_collective("shuffle", mask, value, |lanes| {
        lanes.values[source as usize]
    })
}

/// The lanes whose predicate is true.
#[track_caller]
fn ballot(mask: u64, predicate: bool) -> u64 {
    crate::borrowed::warp_collective("ballot", mask, predicate.into(), |lanes| {
        (0..64)
            .filter(|lane| lanes.mask >> lane & 1 == 1 && lanes.values[*lane] == 1)
            .fold(0, |ballot, lane| ballot | 1 << lane)
    })
}

/// Gives each lane the value of the lane before it, and the first lane the last one's.
#[track_caller]
fn rotate(mask: u64, value: &mut u32) {
    // SAFETY: it only moves numbers.
    unsafe {
        simt::warp_exchange("rotation", None, mask, value, |lanes| {
            let values: Vec<u32> = lanes.iter().map(|value| **value).collect();
            for (lane, value) in lanes.iter_mut().enumerate() {
                **value = values[(lane + values.len() - 1) % values.len()];
            }
        });
    }
}

#[test]
fn parts_are_exchanged_under_every_schedule() {
    for (warp_width, full) in [(32, u64::from(u32::MAX)), (64, u64::MAX)] {
        for seed in 0..20 {
            let options = Options {
                warp_width,
                ..serial(seed)
            };
            let report = launch_with(&options, 2, 128, || {
                let lane = simt::position().lane;
                let mut value = lane;
                for _ in 0..3 {
                    rotate(full, &mut value);
                }
                assert_eq!(value, (lane + warp_width - 3) % warp_width);
                let half = if lane < warp_width / 2 {
                    0
                } else {
                    warp_width / 2
                };
                let mask = full >> (warp_width / 2) << half;
                rotate(mask, &mut value);
                let before = half + (lane + warp_width / 2 - 1) % (warp_width / 2);
                assert_eq!(value, (before + warp_width - 3) % warp_width);
            })
            .unwrap();
            let warps = 2 * u64::from(128 / warp_width);
            assert_eq!(report.warp_collectives, 5 * warps);
        }
    }
}

#[test]
fn an_exchange_without_a_lane_is_a_defect() {
    let defect = launch(1, 32, || {
        let lane = simt::position().lane;
        if lane != 7 {
            rotate(u64::from(u32::MAX), &mut 0);
        }
    })
    .unwrap_err();
    assert!(defect.to_string().contains("rotation"), "{defect}");
}

#[test]
fn butterfly_sum_in_warps_of_both_widths() {
    for (warp_width, full) in [(32, u64::from(u32::MAX)), (64, u64::MAX)] {
        let options = Options {
            warp_width,
            ..serial(5)
        };
        let report = launch_with(&options, 2, 256, || {
            let lane = simt::position().lane;
            let mut sum = u64::from(lane);
            let mut distance = warp_width / 2;
            while distance > 0 {
                sum += shuffle(full, sum, lane ^ distance);
                distance /= 2;
            }
            assert_eq!(sum, u64::from(warp_width * (warp_width - 1) / 2));
        })
        .unwrap();
        let steps = u64::from(warp_width.ilog2());
        assert_eq!(
            report.warp_collectives,
            2 * steps * u64::from(256 / warp_width)
        );
    }
}

#[test]
fn disjoint_masks_meet_independently() {
    for seed in 0..20 {
        launch_with(&serial(seed), 1, 32, || {
            let lane = simt::position().lane;
            let (mask, rounds) = match lane {
                0..8 => (0xff, 5),
                8..20 => (0xfff00, 3),
                _ => (0xfff0_0000, 1),
            };
            for _ in 0..rounds {
                assert_eq!(ballot(mask, true), mask);
            }
            // Faster lanes wait here while the others still meet.
            simt::warp_barrier(0xffff_ffff);
            assert_eq!(ballot(0xffff_ffff, lane.is_multiple_of(2)), 0x5555_5555);
        })
        .unwrap();
    }
}

#[test]
fn values_stay_until_every_lane_has_read_them() {
    for seed in 0..20 {
        launch_with(&serial(seed), 1, 64, || {
            let lane = simt::position().lane;
            for round in 0..50 {
                let source = (lane + round) % 32;
                let value = u64::from(lane) << 32 | u64::from(round);
                let got = shuffle(0xffff_ffff, value, source);
                assert_eq!(got, u64::from(source) << 32 | u64::from(round));
            }
        })
        .unwrap();
    }
}

#[test]
fn a_partial_last_warp_meets_under_its_own_mask() {
    launch(1, 32 + 5, || {
        let at = simt::position();
        let mask = if at.warp == 0 { 0xffff_ffff } else { 0b11111 };
        assert_eq!(simt::active_lanes(), mask);
        assert_eq!(ballot(mask, at.lane < 3), 0b111);
    })
    .unwrap();
}

#[test]
fn a_lane_may_meet_itself() {
    launch(1, 33, || {
        let lane = simt::position().lane;
        assert_eq!(shuffle(1 << lane, 42, lane), 42);
    })
    .unwrap();
}

#[test]
fn exited_lanes_are_not_active() {
    launch_with(&serial(0), 1, 32, || {
        if thread_x() < 16 {
            return;
        }
        simt::warp_barrier(0xffff_0000);
        while simt::active_lanes() & 0xffff != 0 {
            simt::yield_now();
        }
    })
    .unwrap();
}

#[test]
fn spinning_lanes_let_others_run() {
    let flag = AtomicU32::new(0);
    launch(1, 64, || {
        if thread_x() == 63 {
            flag.store(1, Ordering::Release);
        }
        while flag.load(Ordering::Acquire) == 0 {
            simt::yield_now();
        }
    })
    .unwrap();
}
