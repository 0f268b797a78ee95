//! Threads of a tile, and those that are together.

use super::described;
use crate::{launch, machines, numbers, output, upload, warp_threads};
use cuda_std_test_kernels::groups as kernels;
use tilewright::LaunchConfig;

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
            // One tile with equal values.
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

/// The machine chooses the group of lanes for each operation; the results must be consistent.
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
