use crate::{launch, machines, output, small_integers, upload, warp_threads};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::{Kernel, ScalarParam};
use cuda_std_test_kernels::blocks as kernels;
use std::fmt::Debug;
use tilewright::{Element, LaunchConfig};

/// Blocks of one to three dimensions, all of them whole warps of 32 lanes.
const BLOCKS: [(u32, u32, u32); 9] = [
    (32, 1, 1),
    (64, 1, 1),
    (96, 1, 1),
    (128, 1, 1),
    (1024, 1, 1),
    (16, 8, 1),
    (3, 32, 1),
    (4, 4, 8),
    (32, 32, 1),
];

fn check<T, K>(kernel: K, from: fn(i32) -> T)
where
    T: Element + ScalarParam + PartialEq + Debug,
    K: for<'launch> Kernel<Params<'launch> = (Global<'launch, T>, GlobalMut<'launch, T>)>,
{
    for device in machines() {
        let warp = warp_threads(&device) as usize;
        for block in BLOCKS {
            let size = (block.0 * block.1 * block.2) as usize;
            if !size.is_multiple_of(warp) {
                continue;
            }
            let integers = small_integers(size as u64, 3 * size);
            let x: Vec<T> = integers.iter().copied().map(from).collect();
            let mut out = output::<T>(&device, 3 * warp * 2);
            launch(
                &device,
                kernel,
                LaunchConfig::new(3, block),
                (&upload(&device, &x), &mut out),
            );
            let expected: Vec<T> = integers
                .chunks(size)
                .flat_map(|x| {
                    [x.iter().sum(), *x.iter().max().unwrap()]
                        .map(from)
                        .repeat(warp)
                })
                .collect();
            assert_eq!(out.to_vec().unwrap(), expected, "block {block:?}");
        }
    }
}

#[test]
fn blocks_reduce() {
    check(kernels::block_reduce_i32, |i| i);
    check(kernels::block_reduce_f32, |i| i as f32);
    check(kernels::block_reduce_f64, f64::from);
}

#[test]
fn blocks_reduce_unsigned_integers() {
    for device in machines() {
        let warp = warp_threads(&device) as usize;
        let x: Vec<u64> = (0..256).map(|i| (i * i) << 40).collect();
        let mut out = output::<u64>(&device, warp * 2);
        launch(
            &device,
            kernels::block_reduce_u64,
            LaunchConfig::new(1, 256),
            (&upload(&device, &x), &mut out),
        );
        let expected = [x.iter().sum::<u64>(), (255 * 255) << 40];
        assert_eq!(out.to_vec().unwrap(), expected.repeat(warp));
    }
}
