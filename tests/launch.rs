//! Typed launches, on every device at hand. The kernels' descriptors are written by hand here,
//! and their PTX is as the builder would give it, so that nothing but the host library is tested.

mod common;

use common::axpy::{AXPY, Axpy};
use common::devices;
use cuda_std::global::GlobalAtomic;
use cuda_std::kernel::{Kernel, LaunchBounds, SafeKernel};
use cuda_std::thread;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tilewright::{Device, ErrorKind, LaunchConfig, Matrix, Module, SimulatorOptions};
use tilewright_test_support::assert_kind;

fn module(device: &Device) -> Module {
    device.load(&AXPY).unwrap()
}

#[test]
fn a_launch_computes() {
    for device in devices() {
        for len in [0, 1, 7, 255, 256, 257, 10_007] {
            let x: Vec<f32> = (0..len).map(|i| i as f32).collect();
            let expected: Vec<f32> = x.iter().map(|x| 2.0 * x + 1.0).collect();
            let x = device.upload(&x).unwrap();
            let mut y = device.upload(&vec![1.0; len as usize]).unwrap();
            let config = LaunchConfig::for_elements(y.len(), 256);
            module(&device)
                .launch(Axpy, config, (2.0, &x, &mut y))
                .unwrap();
            assert_eq!(y.to_vec().unwrap(), expected);
        }
    }
}

#[test]
fn parts_of_buffers_are_arguments_too() {
    for device in devices() {
        let x: Vec<f32> = (0..100).map(|i| i as f32).collect();
        let x = device.upload(&x).unwrap();
        let mut y = device.upload(&[1.0_f32; 50]).unwrap();
        let config = LaunchConfig::new(1, 128);
        let module = module(&device);
        // One buffer is operand and result, in parts that do not overlap.
        let (mut head, mut tail) = y.split_at_mut(20).unwrap();
        let arguments = (
            2.0,
            x.slice(1..=10).unwrap(),
            head.slice_mut(3..13).unwrap(),
        );
        module.launch(Axpy, config, arguments).unwrap();
        let arguments = (1.0, head.view(), tail.view_mut());
        module.launch(Axpy, config, arguments).unwrap();
        let head = |i: usize| match i {
            3..13 => 1.0 + 2.0 * (i - 2) as f32,
            _ => 1.0,
        };
        let expected: Vec<f32> = (0..50)
            .map(|i| match i {
                0..20 => head(i),
                20..40 => 1.0 + head(i - 20),
                _ => 1.0,
            })
            .collect();
        assert_eq!(y.to_vec().unwrap(), expected);
        let arguments = (1.0, x.slice(7..7).unwrap(), &mut y);
        module.launch(Axpy, config, arguments).unwrap();
        assert_eq!(y.to_vec().unwrap(), expected);
    }
}

#[test]
fn launches_are_done_in_order() {
    for device in devices() {
        let one = device.upload(&[1.0_f32; 1000]).unwrap();
        let mut sum = device.zeros(1000).unwrap();
        let config = LaunchConfig::for_elements(1000, 128);
        for _ in 0..100 {
            module(&device)
                .launch(Axpy, config, (1.0, &one, &mut sum))
                .unwrap();
        }
        // The operand's memory may be used again only after the launches.
        drop(one);
        let _other = device.upload(&[7.0_f32; 1000]).unwrap();
        assert_eq!(sum.to_vec().unwrap(), vec![100.0; 1000]);
    }
}

#[test]
fn matrices_are_arguments_too() {
    for device in devices() {
        let x = device
            .matrix((2, 3), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
            .unwrap();
        let mut y: Matrix<f32> = device.matrix_zeros((2, 3)).unwrap();
        module(&device)
            .launch(Axpy, LaunchConfig::new(1, 32), (10.0, &x, &mut y))
            .unwrap();
        assert_eq!(y.to_vec().unwrap(), [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
    }
}

#[test]
fn launches_over_the_limits_are_refused_and_the_next_one_works() {
    for device in devices() {
        let x = device.upload(&[1.0_f32]).unwrap();
        let mut y = device.upload(&[0.0_f32]).unwrap();
        let wrong = [
            (LaunchConfig::new(0, 32), "0 blocks"),
            (LaunchConfig::new((1, 65_536), 32), "dimension y"),
            (LaunchConfig::new(1, 0), "0 threads"),
            (LaunchConfig::new(1, 2048), "2048 threads"),
            (
                LaunchConfig::new(1, (1024, 1024)),
                "the device allows at most 1024",
            ),
            (LaunchConfig::new(1, 512), "the kernel allows at most 256"),
            (
                // 2^64 + 8192 threads.
                LaunchConfig::new((1 << 30 | 1 << 13, 1 << 12, 1 << 15), 256),
                "more threads than 64 bits count",
            ),
            (
                LaunchConfig::for_elements(usize::MAX, 1),
                "4294967295 blocks",
            ),
            (
                LaunchConfig::new(1, 32).with_dynamic_shared(1 << 30),
                "shared memory",
            ),
        ];
        for (config, says) in wrong {
            let error = module(&device)
                .launch(Axpy, config, (1.0, &x, &mut y))
                .unwrap_err();
            assert_kind!(error is ErrorKind::LaunchConfig { kernel: "axpy", .. });
            assert!(error.to_string().contains(says), "{error}");
        }
        module(&device)
            .launch(Axpy, LaunchConfig::new(1, 32), (1.0, &x, &mut y))
            .unwrap();
        assert_eq!(y.to_vec().unwrap(), [1.0]);
    }
}

#[test]
fn arguments_of_another_device_are_refused() {
    let foreign = Device::simulator().upload(&[1.0_f32]).unwrap();
    for device in devices() {
        let mut y = device.upload(&[0.0_f32]).unwrap();
        let error = module(&device)
            .launch(Axpy, LaunchConfig::new(1, 32), (1.0, &foreign, &mut y))
            .unwrap_err();
        assert_kind!(error is ErrorKind::WrongDevice { .. });
        assert!(
            error.to_string().contains("argument 2 of `axpy`"),
            "{error}"
        );
    }
}

/// Panics on the simulator, as a kernel with a bug would.
#[derive(Clone, Copy)]
struct Faulty;

impl Kernel for Faulty {
    type Params<'launch> = ();

    const NAME: &'static str = "faulty";

    const BOUNDS: LaunchBounds = LaunchBounds::new(None, None, None);

    unsafe fn run((): Self::Params<'_>) {
        panic!("thread {} has a bug", thread::unique_index().get());
    }
}

// SAFETY: (1) a panic is not undefined behaviour.
unsafe impl SafeKernel for Faulty {}

#[test]
fn a_defect_is_reported_and_the_next_launch_works() {
    let device = Device::simulator();
    let error = module(&device)
        .launch(Faulty, LaunchConfig::new(1, 1), ())
        .unwrap_err();
    assert_kind!(error is ErrorKind::KernelDefect(_));
    assert!(error.to_string().contains("faulty"), "{error}");

    let x = device.upload(&[1.0_f32]).unwrap();
    let mut y = device.upload(&[2.0_f32]).unwrap();
    module(&device)
        .launch(Axpy, LaunchConfig::new(1, 1), (3.0, &x, &mut y))
        .unwrap();
    assert_eq!(y.to_vec().unwrap(), [5.0]);
}

/// Two threads that hand over a slot without the necessary fence, so that the simulator runs them again to find a load
/// that returns a later store. In such a run the first thread gives the host time to copy.
#[derive(Clone, Copy)]
struct HandOver;

static RUNS: AtomicUsize = AtomicUsize::new(0);
static RUNS_AGAIN: AtomicBool = AtomicBool::new(false);
static IS_COPIED: AtomicBool = AtomicBool::new(false);

impl Kernel for HandOver {
    type Params<'launch> = (GlobalAtomic<'launch, u32>,);

    const NAME: &'static str = "hand_over";

    const BOUNDS: LaunchBounds = LaunchBounds::new(None, None, None);

    unsafe fn run((words,): Self::Params<'_>) {
        let [slot, full, free] = [0, 1, 2];
        let wait = |flag| {
            while words.load(flag) == Some(0) {
                thread::yield_now();
            }
        };
        if thread::block_idx_x() == 0 {
            words.store(slot, 1);
            if RUNS.fetch_add(1, Ordering::Relaxed) > 0 {
                RUNS_AGAIN.store(true, Ordering::Relaxed);
                let begin = Instant::now();
                while !IS_COPIED.load(Ordering::Relaxed)
                    && begin.elapsed() < Duration::from_millis(20)
                {
                    std::thread::yield_now();
                }
            }
            thread::fence_device();
            words.store(full, 1);
            wait(free);
            thread::fence_device();
            words.store(slot, 2);
        } else {
            wait(full);
            thread::fence_device();
            let _item = words.load(slot);
            words.store(free, 1);
        }
    }
}

// SAFETY: (1) `run` is safe code, which accesses global memory by atomic operations alone.
unsafe impl SafeKernel for HandOver {}

/// The effects of a launch may be undone and redone. This must not affect a part of a buffer that the launch does not
/// have.
#[test]
fn a_copy_beside_a_launch_stays() {
    let mut ran_again = 0;
    for seed in 1..=32 {
        let options = SimulatorOptions::default()
            .with_seed(seed)
            .with_parallel_blocks(false);
        let device = Device::simulator_with(options);
        let module = module(&device);
        let mut buffer = device.zeros::<u32>(64).unwrap();
        let (head, mut tail) = buffer.split_at_mut(3).unwrap();
        RUNS.store(0, Ordering::Relaxed);
        RUNS_AGAIN.store(false, Ordering::Relaxed);
        IS_COPIED.store(false, Ordering::Relaxed);
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let is_due =
                    || RUNS_AGAIN.load(Ordering::Relaxed) || is_done.load(Ordering::Relaxed);
                while !is_due() {
                    std::thread::yield_now();
                }
                tail.copy_from_slice(&[7; 61]).unwrap();
                IS_COPIED.store(true, Ordering::Relaxed);
            });
            let launched = module.launch(HandOver, LaunchConfig::new(2, 1), (head,));
            is_done.store(true, Ordering::Relaxed);
            launched.unwrap();
        });
        assert_eq!(tail.view().to_vec().unwrap(), [7; 61], "seed {seed}");
        ran_again += usize::from(RUNS_AGAIN.load(Ordering::Relaxed));
    }
    assert!(ran_again > 0, "no launch was run again");
}

/// Modules of one name and one PTX, on devices of one set of options, as on GPUs.
#[cfg(feature = "ptx")]
#[test]
fn each_device_and_each_module_has_static_arrays_of_its_own() {
    use tilewright::{KernelBodies, ModuleSource};

    cuda_std::global_array! {
        static NUMBERS: [u32; 2] = [5, 6];
    }
    const IMAGES: &[(&str, &str)] = &[(
        "sm_75",
        "
        .version 7.0
        .target sm_75
        .address_size 64
        .visible .global .align 4 .b8 NUMBERS[8] = {5, 0, 0, 0, 6, 0, 0, 0};
        ",
    )];
    // SAFETY: the array is that of the image, which has no kernels.
    static ONE: ModuleSource = unsafe { ModuleSource::new("numbers", IMAGES) };
    // SAFETY: as above.
    static OTHER: ModuleSource = unsafe { ModuleSource::new("numbers", IMAGES) };

    let options = SimulatorOptions::default().with_bodies(KernelBodies::of_ptx());
    let devices = [options.clone(), options].map(Device::simulator_with);
    let of_device = |device| [(device, &ONE), (device, &OTHER)];
    let cases = || (0..).zip(devices.iter().flat_map(of_device));
    for (number, (device, source)) in cases() {
        let module = device.load(source).unwrap();
        assert_eq!(module.read_symbol(&NUMBERS).unwrap(), [5, 6]);
        module.write_symbol(&NUMBERS, &[number; 2]).unwrap();
    }
    for (number, (device, source)) in cases() {
        let module = device.load(source).unwrap();
        assert_eq!(module.read_symbol(&NUMBERS).unwrap(), [number; 2]);
    }
}
