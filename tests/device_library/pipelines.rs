use crate::{launch, machines, output, small_integers, upload};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::{Kernel, ScalarParam};
use cuda_std_test_kernels::pipelines as kernels;
use half::f16;
use tilewright::{Element, LaunchConfig};

fn check<T, K>(kernel: K, lanes: usize, from: fn(i32) -> T)
where
    T: Element + ScalarParam,
    K: for<'launch> Kernel<Params<'launch> = (usize, Global<'launch, T>, GlobalMut<'launch, f32>)>,
{
    let tile = kernels::THREADS * lanes;
    for device in machines() {
        for len in [
            0,
            1,
            lanes + 1,
            tile - 1,
            tile,
            tile + 1,
            2 * tile,
            3 * tile + 5,
            9 * tile - 3,
        ] {
            let integers = small_integers(len as u64, len);
            // Elements past the end of a part must not be read.
            let behind_end = std::iter::repeat_n(1000, lanes);
            let x: Vec<T> = integers
                .iter()
                .copied()
                .chain(behind_end)
                .map(from)
                .collect();
            let mut out = output::<f32>(&device, tile);
            let config = LaunchConfig::new(1, kernels::THREADS as u32);
            launch(
                &device,
                kernel,
                config,
                (len, &upload(&device, &x), &mut out),
            );
            let expected: Vec<f32> = (0..tile)
                .map(|i| integers.iter().skip(i).step_by(tile).sum::<i32>() as f32)
                .collect();
            assert_eq!(
                out.to_vec().unwrap(),
                expected,
                "{} of {len} elements",
                K::NAME
            );
        }
    }
}

#[test]
fn two_stages_bring_all_sizes() {
    check(kernels::pipeline2_f32x1, 1, |i| i as f32);
    check(kernels::pipeline2_f32x2, 2, |i| i as f32);
    check(kernels::pipeline2_f32x4, 4, |i| i as f32);
    check(kernels::pipeline2_f16x8, 8, |i| f16::from_f32(i as f32));
}

#[test]
fn three_stages_bring_all_sizes() {
    check(kernels::pipeline3_f32x1, 1, |i| i as f32);
    check(kernels::pipeline3_f32x2, 2, |i| i as f32);
    check(kernels::pipeline3_f32x4, 4, |i| i as f32);
    check(kernels::pipeline3_f16x2, 2, |i| f16::from_f32(i as f32));
    check(kernels::pipeline3_f64x2, 2, f64::from);
}

#[test]
fn four_to_six_stages_bring_all_sizes() {
    check(kernels::pipeline4_f32x1, 1, |i| i as f32);
    check(kernels::pipeline4_f32x4, 4, |i| i as f32);
    check(kernels::pipeline4_f64x1, 1, f64::from);
    check(kernels::pipeline5_f32x2, 2, |i| i as f32);
    check(kernels::pipeline6_f32x4, 4, |i| i as f32);
}

#[test]
fn a_copy_of_nothing_writes_zeros() {
    for device in machines() {
        for len in [0, 5] {
            let x = upload(&device, &vec![1.0_f32; len]);
            let mut out = output::<f32>(&device, 4 * kernels::THREADS);
            let config = LaunchConfig::new(1, kernels::THREADS as u32);
            launch(&device, kernels::zeros_from_nothing, config, (&x, &mut out));
            assert_eq!(out.to_vec().unwrap(), [0.0; 4 * kernels::THREADS]);
        }
    }
}

#[test]
fn full_rings_bring_all_sizes() {
    fn check<K>(kernel: K)
    where
        K: for<'launch> Kernel<Params<'launch> = (Global<'launch, f64>, GlobalMut<'launch, f64>)>,
    {
        for device in machines() {
            for len in [0, 1, 63, 64, 65, 7 * 64, 16 * 64 + 1, 40 * 64 - 3] {
                let integers = small_integers(len as u64, len);
                let x: Vec<f64> = integers.iter().copied().map(f64::from).collect();
                let mut out = output::<f64>(&device, kernels::THREADS);
                let config = LaunchConfig::new(1, kernels::THREADS as u32);
                launch(&device, kernel, config, (&upload(&device, &x), &mut out));
                let sum = |i| {
                    integers
                        .iter()
                        .skip(i)
                        .step_by(kernels::THREADS)
                        .sum::<i32>()
                };
                let expected: Vec<f64> = (0..kernels::THREADS).map(sum).map(f64::from).collect();
                assert_eq!(out.to_vec().unwrap(), expected, "{} of {len}", K::NAME);
            }
        }
    }
    check(kernels::full_ring1);
    check(kernels::full_ring2);
    check(kernels::full_ring7);
    check(kernels::full_ring16);
}
