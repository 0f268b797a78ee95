//! The driver calls of warm calls: each function at most once, and no memory. They leave the thread's current context
//! unchanged.
//!
//! The driver is `driver.c`, so that no GPU is needed. Each test runs in a process of its own, which
//! finds that driver first.

#![cfg(all(feature = "cuda", target_os = "linux"))]

#[path = "../common/mod.rs"]
mod common;
mod failures;
#[path = "../common/fake_driver.rs"]
mod fake_driver;
mod nccl;
mod observed;

use half::f16;
use observed::{Observed, observe};
use std::env;
use std::process::Command;
use std::thread;
use tilewright::cuda_std::fp8::F8E4M3;
use tilewright::{Arithmetic, Buffer, Device, DeviceGroup, ErrorKind, Matmul, ModuleSource};

/// Marks the child process.
const CHILD: &str = "TILEWRIGHT_TEST_CALLS";

/// The driver's calls of a launch in a thread where the device's context is current.
const LAUNCH: [&str; 2] = ["cuCtxGetCurrent", "cuLaunchKernel"];

/// Runs `body`, in the test `test`, in a process whose driver is `driver.c`.
#[track_caller]
fn with_driver(test: &str, body: fn()) {
    with_libraries(test, None, body);
}

/// [`with_driver`], where NCCL is what a C source makes, if one is given.
#[track_caller]
fn with_libraries(test: &str, nccl: Option<&str>, body: fn()) {
    with_driver_of_version(test, 13_000, nccl, body);
}

/// [`with_libraries`], where the driver says that it is of CUDA `version`: 11080 is 11.8.
#[track_caller]
fn with_driver_of_version(test: &str, version: u32, nccl: Option<&str>, body: fn()) {
    if env::var_os(CHILD).is_some() {
        return body();
    }
    let mut source = format!("#define DRIVER_VERSION {version}\n");
    source += include_str!("driver.c");
    source += &fake_driver::other_functions(&source, 999, None);
    let Some(folder) = fake_driver::folder_with(&source) else {
        return;
    };
    if let Some(nccl) = nccl {
        fake_driver::compile(&folder, "libnccl.so.2", nccl);
    }
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .env("LD_LIBRARY_PATH", folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
}

/// The calls of `inner` in a thread where the device's context is not current.
fn switched(inner: &[&'static str]) -> Vec<&'static str> {
    let mut calls = vec!["cuCtxGetCurrent", "cuCtxPushCurrent_v2"];
    calls.extend(inner);
    calls.push("cuCtxPopCurrent_v2");
    calls
}

/// Holds a warm call against the calls of the driver in a thread where its context is current, and
/// where it is not.
#[track_caller]
fn check(device: &Device, mut call: impl FnMut(), current: &[&str], other: &[&str]) {
    call();
    let expect = |calls: &[&str], found: Observed| {
        assert_eq!(found.driver_calls, calls);
        assert_eq!(found.allocations, 0, "{calls:?}");
    };
    expect(other, observe(&mut call));
    device
        .with_current(|| expect(current, observe(&mut call)))
        .unwrap();
}

#[test]
fn a_group_of_all_devices_has_those_that_the_environment_names() {
    let test = "a_group_of_all_devices_has_those_that_the_environment_names";
    with_driver(test, || {
        for (value, ranks) in [("cuda", 2), ("cuda:0", 1), ("cuda:1", 1), ("sim", 1)] {
            // SAFETY: the process runs this test alone, so no other thread uses the environment.
            unsafe { env::set_var("TILEWRIGHT_DEVICE", value) };
            let group = DeviceGroup::all().unwrap();
            assert_eq!(group.ranks(), ranks, "{value}");
        }
    });
}

#[test]
fn a_warm_sum_into_a_buffer_is_one_launch() {
    with_driver("a_warm_sum_into_a_buffer_is_one_launch", || {
        let device = Device::cuda(0).unwrap();
        let x = device.upload(&[3_u32; 100_000]).unwrap();
        let mut sum = device.zeros::<u64>(1).unwrap();
        let call = || device.reduce_sum_into(&x, &mut sum).unwrap();
        check(&device, call, &LAUNCH, &switched(&LAUNCH[1..]));
        assert_eq!(sum.to_vec().unwrap(), [300_000]);
    });
}

#[test]
fn a_warm_product_into_a_matrix_is_one_launch() {
    with_driver("a_warm_product_into_a_matrix_is_one_launch", || {
        let device = Device::cuda(0).unwrap();
        let a = device.matrix((65, 33), &[1.0_f32; 65 * 33]).unwrap();
        let mut c = device.matrix_zeros::<f32>((65, 65)).unwrap();
        let call = || device.matmul_coarsened_into(&a, a.t(), &mut c).unwrap();
        check(&device, call, &LAUNCH, &switched(&LAUNCH[1..]));
        let call = || device.matmul_tiled_into(&a, a.t(), &mut c).unwrap();
        check(&device, call, &LAUNCH, &switched(&LAUNCH[1..]));
    });
}

/// Lines of several parts need room for partial results. Their tickets are the device's, and 0 between launches.
#[test]
fn a_warm_product_with_a_vector_of_several_parts_allocates_once_and_clears_nothing() {
    let test = "a_warm_product_with_a_vector_of_several_parts_allocates_once_and_clears_nothing";
    with_driver(test, || {
        const LENGTH: usize = 1 << 20;
        let device = Device::cuda(0).unwrap();
        let a = device.matrix((1, LENGTH), &[1.0_f32; LENGTH]).unwrap();
        let x = device.zeros::<f32>(LENGTH).unwrap();
        let mut y = device.zeros::<f32>(1).unwrap();
        let mut call = || device.matvec_into(&a, &x, &mut y).unwrap();
        call();
        let calls = observe(call).driver_calls;
        let work = calls.iter().filter(|call| !call.starts_with("cuCtx"));
        let expected = [
            "cuMemAllocFromPoolAsync",
            "cuLaunchKernel",
            "cuMemFreeAsync",
        ];
        assert_eq!(work.copied().collect::<Vec<_>>(), expected);
    });
}

#[test]
fn a_warm_sum_on_the_host_is_one_launch_and_one_wait() {
    with_driver("a_warm_sum_on_the_host_is_one_launch_and_one_wait", || {
        let device = Device::cuda(0).unwrap();
        let x = device.upload(&[7_u32; 1000]).unwrap();
        let call = || assert_eq!(device.reduce_sum(&x).unwrap(), 7000);
        let work = [
            "cuCtxGetCurrent",
            "cuLaunchKernel",
            "cuCtxGetCurrent",
            "cuStreamSynchronize",
        ];
        let within = [&["cuCtxGetCurrent"], &work[..]].concat();
        check(&device, call, &within, &switched(&work));
    });
}

#[test]
fn a_slice_that_is_both_sides_of_a_dot_product_is_uploaded_once() {
    with_driver(
        "a_slice_that_is_both_sides_of_a_dot_product_is_uploaded_once",
        || {
            let (x, y) = ([3_u32; 1000], [5_u32; 1000]);
            // The value is none: the stand-in for a driver has sums alone.
            let uploads = |x: &[u32], y: &[u32]| {
                let dot = || _ = tilewright::reduce_dot(x, y).unwrap();
                let calls = observe(dot).driver_calls;
                let is_upload = |call: &&&str| call.starts_with("cuMemcpyHtoD");
                calls.iter().filter(is_upload).count()
            };
            // The first call opens the default device.
            uploads(&x, &y);
            assert_eq!(uploads(&x, &y), 2);
            assert_eq!(uploads(&x, &x), 1);
            // The same elements elsewhere, and another part of a slice, are other slices.
            assert_eq!(uploads(&x, &x.clone()), 2);
            assert_eq!(uploads(&x[..999], &x[1..]), 2);
        },
    );
}

#[test]
fn a_device_opens_without_modules_memory_and_events() {
    with_driver("a_device_opens_without_modules_memory_and_events", || {
        // The driver's library is open, so that its calls can be observed.
        drop(Device::cuda(0).unwrap());
        let mut device = None;
        let opened = observe(|| device = Some(Device::cuda(0).unwrap()));
        for later in ["Module", "MemAlloc", "HostAlloc", "Event"] {
            let calls = &opened.driver_calls;
            assert!(!calls.iter().any(|call| call.contains(later)), "{calls:?}");
        }
        let device = device.unwrap();
        let x = device.upload(&[1_u32]).unwrap();
        let first = observe(|| assert_eq!(device.reduce_sum(&x).unwrap(), 1));
        let is_load = |call: &&&str| **call == "cuModuleLoadDataEx";
        assert_eq!(first.driver_calls.iter().filter(is_load).count(), 1);
    });
}

#[test]
fn buffers_go_from_device_to_device_in_the_order_of_their_work() {
    with_driver(
        "buffers_go_from_device_to_device_in_the_order_of_their_work",
        || {
            let group = DeviceGroup::new([0, 1]).unwrap();
            let [one, other] = group.devices() else {
                panic!("{group:?}")
            };
            let mut buffers = [one.upload(&[1, 2]).unwrap(), other.upload(&[3, 4]).unwrap()];
            for all in group.all_gather(&buffers).unwrap() {
                assert_eq!(all.to_vec().unwrap(), [1, 2, 3, 4]);
            }
            // After the work of both, and before later work of both.
            let order = [
                "cuEventCreate",
                "cuEventRecord",
                "cuStreamWaitEvent",
                "cuEventDestroy_v2",
            ];
            let copy = [&order[..], &["cuMemcpyPeerAsync"]].concat();
            let end = [order, order].concat();
            let expected = [switched(&order), switched(&copy), switched(&end)].concat();
            let found = observe(|| group.broadcast(0, &mut buffers).unwrap());
            assert_eq!(found.driver_calls, expected);
            assert_eq!(buffers[1].to_vec().unwrap(), [1, 2]);
        },
    );
}

/// PTX for compute capability 9.0 alone needs CUDA 12.0.
#[test]
fn an_older_driver_runs_the_kernels_that_it_reads() {
    let test = "an_older_driver_runs_the_kernels_that_it_reads";
    with_driver_of_version(test, 11_080, None, || {
        let device = Device::cuda(0).unwrap();
        assert_eq!(device.properties().compute_capability, Some((9, 0)));
        let matrix = |n| device.matrix_zeros::<f32>((n, n)).unwrap();
        let a = matrix(1024);
        let kernel = Matmul::new(&a, &a).plan().unwrap().kernel;
        assert_eq!(kernel, "matmul_mma_split_small_f32");
        device.matmul(&a, &a).unwrap();
        let a = device.matrix_zeros::<f16>((64, 64)).unwrap();
        let kernel = Matmul::new(&a, &a).plan().unwrap().kernel;
        assert_eq!(kernel, "matmul_mma_small_f16_nn");
        device.matmul(&a, &a).unwrap();
        let b = matrix(64);
        let split = Matmul::new(&b, &b).arithmetic(Arithmetic::Split);
        split.run().unwrap();
        device.prepare(&b).unwrap();
        // The error of kernels for 9.0 names the driver that they need.
        let a = device.matrix_zeros::<F8E4M3>((64, 64)).unwrap();
        let error = device.matmul(&a, &a).unwrap_err();
        let ErrorKind::DriverTooOld { found, needed } = error.kind() else {
            panic!("{error}")
        };
        let versions = [found, needed].map(|it| (it.major, it.minor));
        assert_eq!(versions, [(11, 8), (12, 0)], "{error}");
    });
}

/// Whose compiler has something to say.
const REMARKED: &str = ".version 8.0\n.target sm_90a\n\
    //remarks: ptxas info : (C7510) Potential Performance Loss: wgmma.mma_async instructions are \
    serialized\n\
    ptxas info : Used 168 registers\n";

// SAFETY: (1) the images have no entries.
static SLOW: ModuleSource = unsafe { ModuleSource::new("slow", &[("sm_90a", REMARKED)]) };

// SAFETY: (1) the image has no entries.
static FAST: ModuleSource =
    unsafe { ModuleSource::new("fast", &[("sm_90a", ".version 8.0\n.target sm_90a\n")]) };

#[test]
fn the_compiler_warns_of_slow_products() {
    with_driver("the_compiler_warns_of_slow_products", || {
        let device = Device::cuda(0).unwrap();
        let warnings = |source| device.load(source).unwrap().compiler_warnings().unwrap();
        let slow = warnings(&SLOW);
        assert_eq!(slow.len(), 1, "{slow:?}");
        assert!(slow[0].ends_with("instructions are serialized"), "{slow:?}");
        assert!(warnings(&FAST).is_empty());
        let again = observe(|| assert_eq!(warnings(&SLOW), slow));
        assert!(!again.driver_calls.contains(&"cuModuleLoadDataEx"));
    });
}

#[test]
fn the_current_context_is_what_it_was() {
    with_driver("the_current_context_is_what_it_was", || {
        let device = Device::cuda(0).unwrap();
        let foreign = 0xF00_usize;
        for contexts in [vec![], vec![foreign], vec![foreign, observed::DEVICE]] {
            for context in &contexts {
                observed::push_context(*context);
            }
            let state = observed::contexts();
            assert_eq!(state.0, contexts.last().copied().unwrap_or(0));
            let x = device.upload(&[1_u32; 100]).unwrap();
            let mut sum = device.zeros::<u64>(1).unwrap();
            device.reduce_sum_into(&x, &mut sum).unwrap();
            assert_eq!(device.reduce_sum(&x).unwrap(), 100);
            assert!(
                device
                    .reduce_sum(&Device::simulator().upload(&[1_u32]).unwrap())
                    .is_err()
            );
            device
                .with_current(|| {
                    assert_eq!(observed::contexts().0, observed::DEVICE);
                    observed::push_context(foreign);
                    assert_eq!(sum.to_vec().unwrap(), [100]);
                    assert_eq!(observed::contexts().0, foreign);
                    observed::pop_context();
                })
                .unwrap();
            drop((x, sum));
            assert_eq!(observed::contexts(), state, "{contexts:?}");
            contexts.iter().for_each(|_| observed::pop_context());
        }
    });
}

#[test]
fn threads_that_sum_at_once_get_their_own_results() {
    with_driver("threads_that_sum_at_once_get_their_own_results", || {
        let device = Device::cuda(0).unwrap();
        let buffer = |value| device.upload(&[value; 100]).unwrap();
        thread::scope(|scope| {
            for x in (1..=40_u32).map(buffer) {
                let device = &device;
                scope.spawn(move || {
                    let expected = x.to_vec().unwrap()[0];
                    sum_repeatedly(device, &x, 100 * u64::from(expected));
                });
            }
        });
    });
}

fn sum_repeatedly(device: &Device, x: &Buffer<u32>, expected: u64) {
    for _ in 0..100 {
        assert_eq!(device.reduce_sum(x).unwrap(), expected);
    }
}
