//! Impossible launches.

use crate::common::launch;
use crate::defect;
use simt::{DefectKind, Dim3, Launch, Options, Profile};

#[test]
fn launch_limits() {
    let options = Options::default();
    let kind = |grid: Dim3, block: Dim3, dynamic_shared_bytes: usize, options: &Options| {
        let launch = Launch {
            dynamic_shared_bytes,
            ..Launch::new("limits", grid, block, options)
        };
        crate::borrowed::run(&launch, &|| ())
            .map(|_| ())
            .map_err(|found| found.kind)
    };
    let one = Dim3::from(1);
    let limit = Err(DefectKind::LaunchLimit);
    assert_eq!(kind(one, one, simt::MAX_SHARED_BYTES, &options), Ok(()));
    assert_eq!(kind(one, one, simt::MAX_SHARED_BYTES + 1, &options), limit);
    assert_eq!(kind(Dim3::from(0), one, 0, &options), limit);
    assert_eq!(kind((1 << 31).into(), 32.into(), 0, &options), limit);
    assert_eq!(kind(one, (4, 0).into(), 0, &options), limit);
    assert_eq!(kind(one, 1025.into(), 0, &options), limit);
    assert_eq!(kind(one, (32, 33).into(), 0, &options), limit);
    assert_eq!(kind(one, (1, 1, 65).into(), 0, &options), limit);
    assert_eq!(kind((1, 65536).into(), one, 0, &options), limit);
    // 2^64 + 8192 threads: some would have the same rank.
    let many = (1 << 30 | 1 << 13, 1 << 12, 1 << 15).into();
    assert_eq!(kind(many, 256.into(), 0, &options), limit);
    let odd_warps = Options {
        warp_width: 16,
        ..options.clone()
    };
    assert_eq!(kind(one, one, 0, &odd_warps), limit);
    for stack_bytes in [0, usize::MAX] {
        let odd_stacks = Options {
            stack_bytes,
            ..options.clone()
        };
        assert_eq!(kind(one, one, 0, &odd_stacks), limit);
    }
}

/// A block of an A100 can have 163 KiB of shared memory.
#[test]
fn static_and_dynamic_shared_memory_over_the_limit_of_the_device() {
    for seed in [0, 1] {
        let options = Options {
            seed,
            profile: Profile::A100,
            ..Options::default()
        };
        limits_of_an_a100(&options);
    }
}

fn limits_of_an_a100(options: &Options) {
    let run = |dynamic_kib: usize, static_kib: usize| {
        let launch = Launch {
            dynamic_shared_bytes: dynamic_kib << 10,
            ..Launch::new("limits", 2, 32, options)
        };
        crate::borrowed::run(&launch, &|| {
            simt::static_shared(0, static_kib << 10, 16);
        })
    };
    run(163, 0).unwrap();
    run(123, 40).unwrap();
    let found = defect(run(164, 0));
    assert_eq!(found.kind, DefectKind::LaunchLimit, "{found}");
    let found = defect(run(124, 40));
    assert_eq!(found.kind, DefectKind::LaunchLimit, "{found}");
    assert_eq!(
        found.message,
        "40960 static and 126976 dynamic bytes of shared memory: a block can have 166912, \
         alignment included"
    );
    assert!(found.location.is_some(), "{found}");
}

#[test]
fn a_kernel_cannot_launch() {
    let found = defect(launch(1, 1, || {
        let _ = launch(1, 1, || ());
    }));
    assert_eq!(found.kind, DefectKind::NestedLaunch);
}

#[test]
#[should_panic(expected = "inside a simulated launch")]
fn kernel_functions_need_a_launch() {
    assert!(!simt::is_simulated_thread());
    simt::position();
}
