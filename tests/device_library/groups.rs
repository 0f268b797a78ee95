//! Cooperative groups: the properties of blocks and tiles, and their collectives.

mod copies;
mod grids;
mod lanes;

use crate::orders::codes;
use crate::{launch, machines, numbers, output, small_integers, upload, warp_threads};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use cuda_std_test_kernels::groups as kernels;
use tilewright::{Device, LaunchConfig};

/// Blocks of one to three dimensions, whole warps and others.
const BLOCKS: [(u32, u32, u32); 8] = [
    (1, 1, 1),
    (33, 1, 1),
    (64, 1, 1),
    (96, 1, 1),
    (13, 5, 1),
    (7, 3, 5),
    (1000, 1, 1),
    (32, 32, 1),
];

/// Blocks of each launch.
const GRID: u32 = 2;

fn volume((x, y, z): (u32, u32, u32)) -> usize {
    (x * y * z) as usize
}

/// Odd numbers that look random: as maps, they can be inverted.
fn odd_numbers(len: usize) -> Vec<u32> {
    numbers(11).map(|n| n as u32 | 1).take(len).collect()
}

/// The output of `describe` for the threads of one group, without its two last numbers.
fn described(values: &[u32]) -> Vec<[u32; 6]> {
    let sum = values.iter().copied().fold(0, u32::wrapping_add);
    let mut before = kernels::IDENTITY;
    let of_thread = |(rank, value): (usize, &u32)| {
        let up_to = kernels::compose(before, *value);
        let size = values.len() as u32;
        let numbers = [1, size, rank as u32, sum, up_to, before];
        before = up_to;
        numbers
    };
    values.iter().enumerate().map(of_thread).collect()
}

/// The output of a kernel whose blocks are cut into parts of the sizes `parts`, and these into tiles.
fn expected_tiles(x: &[u32], parts: &[usize], tile: usize, valid: bool) -> Vec<u32> {
    let Some((part, parts)) = parts.split_first() else {
        let tiles = x.chunks(tile);
        let count = tiles.len() as u32;
        return tiles
            .zip(0..)
            .flat_map(|(values, number)| {
                let of_thread = move |[_, size, rank, sum, up_to, before]: [u32; 6]| {
                    let collectives = if valid { [sum, up_to, before] } else { [0; 3] };
                    let [sum, up_to, before] = collectives;
                    let valid = u32::from(valid);
                    [valid, size, rank, sum, up_to, before, number, count]
                };
                described(values).into_iter().flat_map(of_thread)
            })
            .collect();
    };
    x.chunks(*part)
        .flat_map(|x| expected_tiles(x, parts, tile, valid))
        .collect()
}

fn check_tiles<K>(device: &Device, kernel: K, parts: &[usize], tile: usize)
where
    K: for<'launch> Kernel<Params<'launch> = (Global<'launch, u32>, GlobalMut<'launch, u32>)>,
{
    let valid = tile <= warp_threads(device) as usize;
    for block in BLOCKS {
        let x = odd_numbers(GRID as usize * volume(block));
        let mut out = output::<u32>(device, x.len() * kernels::NUMBERS);
        let config = LaunchConfig::new(GRID, block);
        launch(device, kernel, config, (&upload(device, &x), &mut out));
        let all_parts = [&[volume(block)], parts].concat();
        let expected = expected_tiles(&x, &all_parts, tile, valid);
        assert_eq!(out.to_vec().unwrap(), expected, "{}, {block:?}", K::NAME);
    }
}

#[test]
fn tiles_know_themselves_and_reduce_and_scan() {
    for device in machines() {
        check_tiles(&device, kernels::tiles_of_2, &[], 2);
        check_tiles(&device, kernels::tiles_of_4, &[], 4);
        check_tiles(&device, kernels::tiles_of_8, &[], 8);
        check_tiles(&device, kernels::tiles_of_16, &[], 16);
        check_tiles(&device, kernels::tiles_of_32, &[], 32);
        check_tiles(&device, kernels::tiles_of_64, &[], 64);
    }
}

#[test]
fn tiles_are_cut_into_tiles() {
    for device in machines() {
        check_tiles(&device, kernels::tiles_of_tiles, &[64, 16], 4);
    }
}

#[test]
fn blocks_know_themselves_and_reduce_and_scan() {
    for device in machines() {
        for block in BLOCKS {
            let size = volume(block);
            let grid = (2, 1, 3);
            let x = odd_numbers(volume(grid) * size);
            let mut out = output::<u32>(&device, x.len() * kernels::NUMBERS);
            let mut places = output::<u32>(&device, x.len() * 9);
            launch(
                &device,
                kernels::whole_blocks,
                LaunchConfig::new(grid, block),
                (&upload(&device, &x), &mut out, &mut places),
            );
            let expected: Vec<u32> = x.chunks(size).flat_map(expected_block).collect();
            assert_eq!(out.to_vec().unwrap(), expected, "{block:?}");
            let expected: Vec<u32> = (0..volume(grid))
                .flat_map(|of_grid| (0..size).map(move |of_block| (of_grid, of_block)))
                .flat_map(|(of_grid, of_block)| expected_place((grid, of_grid), (block, of_block)))
                .collect();
            assert_eq!(places.to_vec().unwrap(), expected, "{block:?}");
        }
    }
}

/// Threads that have diverged may access it at once.
#[test]
fn collectives_of_a_block_access_their_shared_memory_by_relaxed_operations() {
    for code in codes("whole_blocks") {
        for access in ["ld", "st"] {
            assert!(
                code.contains(&format!("{access}.relaxed.cta.shared.b64 ")),
                "{code}"
            );
            assert!(!code.contains(&format!("{access}.shared.")), "{code}");
        }
    }
}

fn expected_block(x: &[u32]) -> Vec<u32> {
    let largest = *x.iter().max().unwrap();
    let of_thread = |numbers: [u32; 6]| {
        let sum_of_sums = numbers[3].wrapping_mul(x.len() as u32);
        numbers.into_iter().chain([sum_of_sums, largest])
    };
    described(x).into_iter().flat_map(of_thread).collect()
}

type Extent = (u32, u32, u32);

fn expected_place(group: (Extent, usize), thread: (Extent, usize)) -> Vec<u32> {
    let index = |((x, y, _), rank): (Extent, usize)| {
        let rank = rank as u32;
        [rank % x, rank / x % y, rank / x / y]
    };
    let (x, y, z) = thread.0;
    [index(group), index(thread), [x, y, z]].concat()
}

#[test]
fn floating_point_values_are_summed() {
    for device in machines() {
        for block in BLOCKS {
            let integers = small_integers(9, GRID as usize * volume(block));
            let x: Vec<f64> = integers.iter().map(|i| f64::from(*i)).collect();
            let mut out = output::<f64>(&device, x.len() * 4);
            launch(
                &device,
                kernels::sums_f64,
                LaunchConfig::new(GRID, block),
                (&upload(&device, &x), &mut out),
            );
            let sums = |group: &[f64], rank: usize| -> [f64; 2] {
                [group.iter().sum(), group[..rank].iter().sum()]
            };
            let expected: Vec<f64> = x
                .chunks(volume(block))
                .flat_map(|x| {
                    (0..x.len()).flat_map(move |rank| {
                        let first = rank / 8 * 8;
                        let tile = &x[first..x.len().min(first + 8)];
                        [sums(tile, rank - first), sums(x, rank)].concat()
                    })
                })
                // An empty sum of f64 is -0.0, which equals what the kernel writes.
                .collect();
            assert_eq!(out.to_vec().unwrap(), expected, "{block:?}");
        }
    }
}
