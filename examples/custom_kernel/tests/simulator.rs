//! Compares the kernels with plain code, on simulators with several schedules. No GPU is needed.

use custom_kernel::{KERNELS, axpy, smooth};
use custom_kernel_kernels as kernels;
use tilewright::testing::{seeds, under_seeds};
use tilewright::{Device, Error, ErrorKind, LaunchConfig, SimulatorOptions};

/// Simulators with several warp orders and two warp widths, and the first CUDA device with the feature `cuda`.
fn devices() -> Vec<Device> {
    let options = |seed| SimulatorOptions::default().with_seed(seed);
    let mut devices: Vec<Device> = seeds(4).map(options).map(Device::simulator_with).collect();
    devices.push(Device::simulator_with(options(4).with_warp_width(64)));
    if cfg!(feature = "cuda") {
        match Device::cuda(0) {
            Ok(device) => devices.push(device),
            Err(error) => eprintln!("skipped on CUDA: {error}"),
        }
    }
    devices
}

fn signal(len: usize) -> Vec<f32> {
    (0..len).map(|i| (i * 7 % 13) as f32).collect()
}

/// The result of [`kernels::smooth`]. Small integers and these weights are exact in f32.
fn expected(x: &[f32]) -> Vec<f32> {
    let at = |i: usize| x[i.min(x.len() - 1)];
    let mean = |i: usize| 0.25 * at(i.saturating_sub(1)) + 0.5 * at(i) + 0.25 * at(i + 1);
    (0..x.len()).map(mean).collect()
}

#[test]
fn a_signal_of_any_length_is_smoothed() {
    for device in devices() {
        for len in [0, 1, 2, 255, 256, 257, 1000, 10_007] {
            let x = signal(len);
            let y = smooth(&device, &device.upload(&x).unwrap()).unwrap();
            assert_eq!(y.to_vec().unwrap(), expected(&x), "{len} elements");
        }
    }
}

/// Under every seed except 0, threads are switched at accesses and blocks take turns. A missing barrier would be
/// found as a race, with the seed that repeats it. `TILEWRIGHT_SEEDS=1000 cargo test` tries more seeds.
#[test]
fn a_signal_is_smoothed_under_every_schedule() {
    let x = signal(700);
    under_seeds(seeds(32), |device| {
        let y = smooth(device, &device.upload(&x).unwrap()).unwrap();
        assert_eq!(y.to_vec().unwrap(), expected(&x));
    });
}

#[test]
fn every_shape_of_a_block_gives_the_same() {
    let x = signal(1000);
    for device in devices() {
        let module = device.load(&KERNELS).unwrap();
        for block in [
            (1, 1, 1),
            (7, 1, 1),
            (32, 1, 1),
            (65, 1, 1),
            (16, 8, 2),
            (1, 1, 64),
        ] {
            let blocks = 1000_u32.div_ceil(block.0 * block.1 * block.2);
            let mut y = device.uninit(x.len()).unwrap();
            let arguments = (&device.upload(&x).unwrap(), &mut y);
            module
                .launch(kernels::smooth, LaunchConfig::new(blocks, block), arguments)
                .unwrap();
            assert_eq!(y.to_vec().unwrap(), expected(&x), "blocks of {block:?}");
        }
    }
}

#[test]
fn larger_blocks_than_the_kernel_allows_are_refused() {
    for device in devices() {
        let module = device.load(&KERNELS).unwrap();
        let x = device.upload(&[1.0_f32]).unwrap();
        let mut y = device.upload(&[0.0_f32]).unwrap();
        let error = module.launch(kernels::smooth, LaunchConfig::new(1, 512), (&x, &mut y));
        assert!(
            matches!(
                error.as_ref().map_err(Error::kind),
                Err(ErrorKind::LaunchConfig {
                    kernel: "smooth",
                    ..
                })
            ),
            "{error:?}"
        );
    }
}

#[test]
fn axpy_changes_what_both_have() {
    for device in devices() {
        let x = device.upload(&[1.0, 2.0, 3.0]).unwrap();
        let mut y = device.upload(&[10.0, 20.0, 30.0, 40.0]).unwrap();
        axpy(&device, 2.0, &x, &mut y).unwrap();
        assert_eq!(y.to_vec().unwrap(), [12.0, 24.0, 36.0, 40.0]);
    }
}
