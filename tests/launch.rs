//! Typed launches, on every device at hand. The kernels' descriptors are written by hand here,
//! and their PTX is as the builder would give it, so that nothing but the host library is tested.

mod common;

use common::axpy::{AXPY, Axpy};
use common::devices;
use cuda_std::kernel::{Kernel, LaunchBounds, SafeKernel};
use cuda_std::thread;
use tilewright::{Device, ErrorKind, LaunchConfig, Matrix, Module};

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
            assert!(
                matches!(error.kind(), ErrorKind::LaunchConfig { kernel: "axpy", .. }),
                "{error}"
            );
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
        assert!(matches!(error.kind(), ErrorKind::WrongDevice { .. }));
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
        panic!("thread {} has a bug", thread::own_index().get());
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
    assert!(matches!(error.kind(), ErrorKind::KernelDefect(_)));
    assert!(error.to_string().contains("faulty"), "{error}");

    let x = device.upload(&[1.0_f32]).unwrap();
    let mut y = device.upload(&[2.0_f32]).unwrap();
    module(&device)
        .launch(Axpy, LaunchConfig::new(1, 1), (3.0, &x, &mut y))
        .unwrap();
    assert_eq!(y.to_vec().unwrap(), [5.0]);
}
