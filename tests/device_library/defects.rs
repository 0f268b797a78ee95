//! Bugs that the simulator must report: which kernel, which line of it, which block and thread.

use crate::{simulators, try_launch, upload};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use cuda_std_test_kernels::defects as kernels;
use simt::{Defect, DefectKind, Dim3};
use tilewright::{Device, Error, ErrorKind, LaunchArgs, LaunchConfig};

/// The block and the thread that have the bug.
const BLOCK: u32 = 1;
const THREAD: u32 = 37;

/// Elements of the views: no multiple of a vector.
const LEN: usize = 62;

/// The lines of the kernels' source that are marked with `defect: NAME`.
pub fn marked_lines(name: &str) -> Vec<u32> {
    let source = include_str!("../../crates/cuda_std/tests/kernels/defects.rs");
    let mark = format!("// defect: {name}");
    (1..)
        .zip(source.lines())
        .filter(|(_, line)| line.ends_with(&mark))
        .map(|(number, _)| number)
        .collect()
}

fn report<'launch, K, A>(device: &Device, kernel: K, arguments: A) -> Box<Defect>
where
    K: Kernel,
    A: LaunchArgs<K::Params<'launch>>,
{
    let launched = try_launch(device, kernel, LaunchConfig::new(3, 96), arguments);
    match launched.map_err(Error::into_kind) {
        Err(ErrorKind::KernelDefect(defect)) => defect,
        other => panic!("{}: {other:?}", K::NAME),
    }
}

fn check<K: Kernel>(defect: &Defect, kind: DefectKind, _: K) {
    assert_eq!(
        (defect.kernel.as_str(), defect.kind),
        (K::NAME, kind),
        "{defect}"
    );
    assert_eq!(defect.block, Some(Dim3::from((BLOCK, 0, 0))), "{defect}");
    let location = defect.location.as_ref().expect("a line");
    let file = location.file.replace('\\', "/");
    assert!(
        file.ends_with("cuda_std/tests/kernels/defects.rs"),
        "{defect}"
    );
    let lines = marked_lines(K::NAME);
    assert!(
        lines.contains(&location.line),
        "one of the lines {lines:?} is meant: {defect}"
    );
}

fn check_access<K>(kernel: K, kind: DefectKind)
where
    K: for<'launch> Kernel<
        Params<'launch> = (u32, u32, Global<'launch, f32>, GlobalMut<'launch, f32>),
    >,
{
    for device in simulators() {
        let x = upload(&device, &[1.0_f32; LEN]);
        let mut y = upload(&device, &[1.0_f32; LEN]);
        let defect = report(&device, kernel, (BLOCK, THREAD, &x, &mut y));
        check(&defect, kind, kernel);
        assert_eq!(defect.thread, Some(Dim3::from((THREAD, 0, 0))), "{defect}");
        assert_eq!(y.to_vec().unwrap(), [1.0; LEN], "nothing is written");
    }
}

/// The thread that finds such a defect is any of the warp's, or of the block's.
fn check_meeting<K>(kernel: K, kind: DefectKind)
where
    K: for<'launch> Kernel<Params<'launch> = (u32, u32)>,
{
    for device in simulators() {
        let defect = report(&device, kernel, (BLOCK, THREAD));
        check(&defect, kind, kernel);
        assert!(defect.thread.is_some(), "{defect}");
    }
}

macro_rules! defect_tests {
    ($check:ident, $kind:ident: $($kernel:ident)*) => {$(
        #[test]
        fn $kernel() {
            $check(kernels::$kernel, DefectKind::$kind);
        }
    )*};
}

defect_tests! { check_access, OutOfBounds:
    load_behind_end
    mutable_load_behind_end
    store_behind_end
    load_far_away
    vector_load_behind_end
    vector_store_behind_end
    stream_behind_end
    cached_behind_end
    static_array_behind_end
    atomic_behind_end
    shared_load_behind_end
    shared_store_behind_end
    shared_atomic_behind_end
    store_to_padding
    load_below_tile
    vector_leaves_row
    dynamic_memory_is_missing
    copy_from_behind_end
    copy_to_behind_end
    copy_of_too_many
}

defect_tests! { check_access, MissingLaunchWait:
    load_before_wait
    store_before_wait
}

defect_tests! { check_access, Misaligned:
    misaligned_vector_load
    misaligned_vector_store
    misaligned_shared_load
    misaligned_copy
    copy_to_misaligned
}

defect_tests! { check_meeting, BarrierDivergence:
    barrier_after_return
    barrier_in_branch
    arrival_is_missing
}

defect_tests! { check_meeting, WarpDivergence:
    shuffle_outside_mask
    vote_outside_mask
    vote_with_exited_lane
    two_operations
}

defect_tests! { check_meeting, InvalidArgument:
    barrier_of_half_a_warp
    segments_of_three
    shuffle_too_far
}

/// Where no warp is the chosen one, all of them come.
#[test]
fn arrivals_of_all_warps_are_right() {
    for device in simulators() {
        let config = LaunchConfig::new(3, 96);
        try_launch(&device, kernels::arrival_is_missing, config, (9, THREAD)).unwrap();
    }
}

#[test]
fn the_next_launch_works() {
    for device in simulators() {
        let x = upload(&device, &[1.0_f32; LEN]);
        let mut y = upload(&device, &[1.0_f32; LEN]);
        let _ = report(
            &device,
            kernels::store_behind_end,
            (BLOCK, THREAD, &x, &mut y),
        );
        let config = LaunchConfig::new(3, 96);
        // There is no such block, so no thread has the bug.
        try_launch(
            &device,
            kernels::store_behind_end,
            config,
            (9, THREAD, &x, &mut y),
        )
        .unwrap();
    }
}
