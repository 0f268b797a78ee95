//! Launches that would go on for minutes, or for ever, end with a report.

mod common;

use common::child::in_child;
use common::{launch_with, serial};
use simt::{DefectKind, Options};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A defect of the first blocks is the answer, whatever the others would do: they do not start.
#[test]
fn a_defect_in_every_block_of_the_largest_grid() {
    in_child("a_defect_in_every_block_of_the_largest_grid", || {
        let drawn = |options| Options {
            blocks_in_order: false,
            ..options
        };
        let preemptive = |seed| Options {
            seed,
            ..Options::default()
        };
        for options in [
            Options::default(),
            serial(0),
            serial(1),
            preemptive(1),
            drawn(Options::default()),
            drawn(serial(0)),
            drawn(preemptive(1)),
        ] {
            let begin = Instant::now();
            let blocks = AtomicU64::new(0);
            let result = launch_with(&options, i32::MAX as u32, 1, || {
                blocks.fetch_add(1, Ordering::Relaxed);
                panic!("of purpose");
            });
            let defect = result.unwrap_err();
            assert_eq!(defect.kind, DefectKind::Panic, "{defect}");
            if options.parallel_blocks {
                assert!(defect.block.is_some_and(|block| block.x == 0), "{defect}");
            }
            let elapsed = begin.elapsed();
            assert!(elapsed < Duration::from_secs(3), "{elapsed:?} {options:?}");
            assert!(blocks.into_inner() < 1000, "{options:?}");
        }
    });
}
