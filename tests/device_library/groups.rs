use crate::{
    MODULE, launch, machines, numbers, output, small_integers, try_launch, upload, warp_threads,
};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use cuda_std_test_kernels::groups as kernels;
use std::fmt::Debug;
use tilewright::{Device, Element, Error, ErrorKind, LaunchConfig};

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

/// What `describe` writes for the threads of one group, without its two last numbers.
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

/// What a kernel writes whose blocks are cut into parts of the sizes `parts` and these into tiles.
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

#[test]
fn threads_of_a_tile_exchange_values() {
    for device in machines() {
        for (block, rank, delta) in [
            (64, 0, 1),
            (100, 3, 2),
            (61, 11, 5),
            (33, 0, 16),
            (48, 15, 0),
        ] {
            let x: Vec<u32> = numbers(5).map(|n| (n % 7) as u32).take(block).collect();
            // One tile all of whose values are equal.
            let x = [&[6; 16], &x[16..]].concat();
            let mut out = output::<u64>(&device, block * kernels::EXCHANGES);
            let config = LaunchConfig::new(1, block as u32);
            let arguments = (rank, delta, &upload(&device, &x), &mut out);
            launch(&device, kernels::exchanges, config, arguments);
            let expected: Vec<u64> = x
                .chunks(16)
                .flat_map(|x| {
                    (0..x.len()).flat_map(move |own| {
                        expected_exchanges(x, own, rank as usize, delta as usize)
                    })
                })
                .collect();
            assert_eq!(out.to_vec().unwrap(), expected, "{block}, {rank}, {delta}");
        }
    }
}

fn expected_exchanges(x: &[u32], own: usize, rank: usize, delta: usize) -> Vec<u64> {
    let read =
        |rank: Option<usize>| u64::from(*rank.and_then(|rank| x.get(rank)).unwrap_or(&x[own]));
    let ranks = |belongs: &dyn Fn(u32) -> bool| -> u64 {
        (0..x.len())
            .filter(|&i| belongs(x[i]))
            .map(|i| 1 << i)
            .sum()
    };
    let whole = (1 << x.len()) - 1;
    let multiples = ranks(&|value| value % 3 == 0);
    let equal = ranks(&|value| value % 3 == x[own] % 3);
    vec![
        read(Some(rank)),
        read(Some(own + delta)),
        read(own.checked_sub(delta)),
        read(Some(own ^ delta)),
        multiples,
        u64::from(multiples != 0),
        u64::from(multiples == whole),
        equal,
        u64::from(equal == whole),
    ]
}

#[test]
fn a_tiles_barrier_orders_shared_memory() {
    for device in machines() {
        for block in [8, 64, 61, 1024] {
            let mut out = output::<u32>(&device, block);
            launch(
                &device,
                kernels::tile_exchange,
                LaunchConfig::new(1, block as u32),
                (&mut out,),
            );
            let expected: Vec<u32> = (0..block)
                .map(|own| {
                    let next = own + 1;
                    let wraps = next % 8 == 0 || next == block;
                    (if wraps { own / 8 * 8 } else { next }) as u32 * 3
                })
                .collect();
            assert_eq!(out.to_vec().unwrap(), expected, "{block}");
        }
    }
}

/// Which group of lanes did what is the machine's choice: whatever it was, it must fit together.
#[test]
fn threads_that_are_together_reduce_and_scan() {
    for device in machines() {
        for block in [32_usize, 64, 100] {
            let x: Vec<u32> = numbers(block as u64)
                .map(|n| n as u32)
                .take(block)
                .collect();
            // One warp whose lanes stay together, and have equal values.
            let x = [&[8; 32], &x[32..]].concat();
            let mut out = upload(&device, &vec![0_u64; block * kernels::COALESCED]);
            let config = LaunchConfig::new(1, block as u32);
            let arguments = (&upload(&device, &x), &mut out);
            launch(&device, kernels::coalesced, config, arguments);
            check_coalesced(&x, &out.to_vec().unwrap(), warp_threads(&device) as usize);
        }
    }
}

fn check_coalesced(x: &[u32], out: &[u64], warp: usize) {
    let of_thread = |thread: usize| &out[thread * kernels::COALESCED..][..kernels::COALESCED];
    for thread in 0..x.len() {
        let found = of_thread(thread);
        if x[thread] % 4 == 3 {
            assert_eq!(found, [0; kernels::COALESCED]);
            continue;
        }
        let first = thread / warp * warp;
        let members: Vec<usize> = (0..warp)
            .filter(|lane| found[0] >> lane & 1 == 1)
            .map(|lane| first + lane)
            .collect();
        let rank = members.iter().position(|member| *member == thread);
        let rank = rank.expect("a thread belongs to its group");
        assert!(
            members
                .iter()
                .all(|member| of_thread(*member)[0] == found[0])
        );
        let values: Vec<u32> = members.iter().map(|member| x[*member]).collect();
        let [_, size, _, sum, up_to, before] = described(&values)[rank];
        let last = values[values.len() - 1];
        let all_equal = values.iter().all(|value| *value == values[0]);
        let alike = values.iter().filter(|value| **value / 3 == x[thread] / 3);
        let expected = [
            size,
            rank as u32,
            sum,
            up_to,
            before,
            last,
            u32::from(all_equal),
            alike.count() as u32,
        ];
        assert_eq!(found[1..], expected.map(u64::from), "thread {thread}");
    }
}

#[test]
fn threads_that_are_together_count_with_one_atomic_addition() {
    for device in machines() {
        let x: Vec<u32> = numbers(2).map(|n| n as u32 >> 24).take(1000).collect();
        let mut count = upload(&device, &[0_u32]);
        let mut places = upload(&device, &vec![u32::MAX; x.len()]);
        let arguments = (100, &upload(&device, &x), &mut count, &mut places);
        let config = LaunchConfig::new(4, 250);
        launch(&device, kernels::count_together, config, arguments);
        let expected = x.iter().filter(|value| **value < 100).count() as u32;
        assert_eq!(count.to_vec().unwrap(), [expected]);
        let places = places.to_vec().unwrap();
        let is_counted = |thread: usize| places[thread] != u32::MAX;
        assert!((0..x.len()).all(|thread| is_counted(thread) == (x[thread] < 100)));
        let mut places: Vec<u32> = places
            .into_iter()
            .filter(|place| *place != u32::MAX)
            .collect();
        places.sort_unstable();
        assert_eq!(places, (0..expected).collect::<Vec<u32>>());
    }
}

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

/// What `sum_and_step` leaves in `x`.
fn stepped(mut x: Vec<u32>, rounds: u32) -> Vec<u32> {
    for _ in 0..rounds {
        let next = x.iter().cycle().skip(1);
        x = x
            .iter()
            .zip(next)
            .map(|(a, b)| a.wrapping_add(*b))
            .collect();
    }
    x
}

#[test]
fn blocks_of_a_grid_wait_for_each_other() {
    for device in machines() {
        // Counts of blocks that follow one another, so that each launch finds what another left.
        for (grid, block, rounds) in [
            ((1, 1, 1), 128, 3),
            ((7, 1, 1), 33, 0),
            ((2, 3, 2), 64, 5),
            ((32, 1, 1), 128, 2),
            ((5, 1, 1), 1, 40),
        ] {
            let blocks = volume(grid);
            let values: Vec<u32> = numbers(6).map(|n| n as u32).take(blocks * block).collect();
            let mut x = upload(&device, &values);
            let mut partials = output::<u32>(&device, blocks);
            let mut sums = output::<u32>(&device, values.len());
            let config = LaunchConfig::new(grid, block as u32);
            let arguments = (rounds, &mut x, &mut partials, &mut sums);
            launch(&device, kernels::sum_and_step, config, arguments);
            let sum = values.iter().copied().fold(0, u32::wrapping_add);
            assert_eq!(sums.to_vec().unwrap(), vec![sum; values.len()]);
            assert_eq!(x.to_vec().unwrap(), stepped(values, rounds), "{grid:?}");
        }
    }
}

#[test]
fn as_many_blocks_as_are_resident_wait_for_each_other_and_more_are_refused() {
    for device in machines() {
        let module = device.load(&MODULE).unwrap();
        let resident = module
            .max_resident_blocks(kernels::sum_and_step, 128, 0)
            .unwrap();
        let multiprocessors = device.properties().multiprocessors;
        assert!(
            resident >= 4 * multiprocessors,
            "the kernel's bounds say so"
        );
        let attempt = |blocks: u32| {
            let len = blocks as usize * 128;
            let mut x = upload(&device, &vec![1_u32; len]);
            let mut partials = output::<u32>(&device, blocks as usize);
            let mut sums = output::<u32>(&device, len);
            let arguments = (1, &mut x, &mut partials, &mut sums);
            let config = LaunchConfig::new(blocks, 128);
            try_launch(&device, kernels::sum_and_step, config, arguments)?;
            assert_eq!(sums.to_vec()?, vec![len as u32; len]);
            assert_eq!(x.to_vec()?, vec![2; len]);
            Ok(())
        };
        attempt(resident).unwrap();
        let error: Error = attempt(resident + 1).unwrap_err();
        let ErrorKind::NotResident {
            blocks,
            resident: most,
            ..
        } = error.kind()
        else {
            panic!("{error}");
        };
        assert_eq!((*blocks, *most), (u64::from(resident) + 1, resident));
        assert!(error.to_string().contains("max_resident_blocks"), "{error}");
        assert!(error.to_string().contains("on each of"), "{error}");
        attempt(resident).unwrap();
    }
}

#[test]
fn the_grid_of_an_ordinary_launch_is_not_valid() {
    for device in machines() {
        let (grid, block) = ((3, 2, 1), (8, 3, 2));
        let threads = volume(grid) * volume(block);
        let mut out = output::<u64>(&device, threads * 5);
        let config = LaunchConfig::new(grid, block);
        launch(&device, kernels::ordinary_grid, config, (&mut out,));
        let expected: Vec<u64> = (0..threads as u64)
            .flat_map(|rank| [0, threads as u64, rank, 6, rank / 48])
            .collect();
        assert_eq!(out.to_vec().unwrap(), expected);
    }
}
