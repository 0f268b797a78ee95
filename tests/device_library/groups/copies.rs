//! Copies to shared memory by the threads of a group.

use crate::{launch, machines, numbers, output, upload};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use cuda_std_test_kernels::groups as kernels;
use std::fmt::Debug;
use tilewright::{Device, Element, LaunchConfig};

fn check_copies<T, K>(device: &Device, kernel: K, value: fn(u32) -> T)
where
    T: Element + PartialEq + Debug,
    K: for<'launch> Kernel<
        Params<'launch> = (
            usize,
            usize,
            usize,
            Global<'launch, T>,
            GlobalMut<'launch, T>,
        ),
    >,
{
    let places = [
        (0, 0, 0),
        (0, 0, 1),
        (3, 3, 1),
        (0, 0, 509),
        (5, 5, 507),
        (21, 5, 101),
    ];
    // Places that do not lie alike.
    let others = [(1, 0, 33), (0, 2, 510), (7, 12, 77)];
    for (from, to, len) in places.into_iter().chain(others) {
        for block in [1, 33, 128] {
            let x: Vec<T> = (0..from + len).map(|i| value(i as u32)).collect();
            let untouched = value(7777);
            let mut out = upload(device, &[untouched; 2 * kernels::COPIED]);
            let arguments = (from, to, len, &upload(device, &x), &mut out);
            launch(device, kernel, LaunchConfig::new(2, block), arguments);
            let mut of_block = [untouched; kernels::COPIED];
            of_block[to..to + len].copy_from_slice(&x[from..]);
            let found = out.to_vec().unwrap();
            assert_eq!(found, of_block.repeat(2), "{} {from} {to} {len}", K::NAME);
        }
    }
}

#[test]
fn blocks_copy_to_shared_memory() {
    for device in machines() {
        check_copies(&device, kernels::copies_of_blocks_u8, |i| (i % 251) as u8);
        check_copies(&device, kernels::copies_of_blocks_u16, |i| {
            i as u16 ^ 0x5A5A
        });
        check_copies(&device, kernels::copies_of_blocks_u32, |i| !i);
        check_copies(&device, kernels::copies_of_blocks_f64, |i| {
            f64::from(i) / 3.0
        });
    }
}

#[test]
fn tiles_copy_to_shared_memory() {
    for device in machines() {
        for (block, len) in [(64_usize, 16_usize), (100, 16), (512, 13), (48, 1)] {
            let x: Vec<u32> = numbers(4).map(|n| n as u32).take(block).collect();
            let mut out = output::<u32>(&device, block);
            let config = LaunchConfig::new(1, block as u32);
            let arguments = (len, &upload(&device, &x), &mut out);
            launch(&device, kernels::copies_of_tiles, config, arguments);
            let expected: Vec<u32> = x
                .chunks(16)
                .flat_map(|x| (0..x.len()).map(move |own| x[(own + 1) % len.min(x.len())]))
                .collect();
            assert_eq!(out.to_vec().unwrap(), expected, "{block}, {len}");
        }
    }
}
