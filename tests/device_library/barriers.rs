use crate::orders::codes;
use crate::{launch, machines, numbers, output, upload, warp_threads};
use cuda_std_test_kernels::barriers as kernels;
use tilewright::LaunchConfig;

#[test]
fn barriers_count_predicates() {
    for device in machines() {
        for (block, size) in [
            ((1, 1, 1), 1),
            ((31, 1, 1), 31),
            ((16, 5, 2), 160),
            ((1024, 1, 1), 1024),
        ] {
            for divisor in [1, 2, 3, 2000] {
                let count = (0..size).filter(|rank| rank % divisor == 0).count() as u32;
                let of_thread = [count, u32::from(count == size), u32::from(count > 0)];
                let mut out = output::<u32>(&device, 2 * size as usize * 3);
                let config = LaunchConfig::new(2, block);
                launch(&device, kernels::predicates, config, (divisor, &mut out));
                let expected = of_thread.repeat(2 * size as usize);
                assert_eq!(
                    out.to_vec().unwrap(),
                    expected,
                    "block {block:?}, divisor {divisor}"
                );
            }
        }
    }
}

/// PTX does not define a barrier at which counting and other barriers meet.
#[test]
fn barriers_that_count_have_a_number_of_their_own() {
    for code in codes("predicates") {
        let mut counts = code.lines().filter(|line| line.contains("barrier.red"));
        let number = counts.next().and_then(|line| line.split(", ").nth(1));
        assert_eq!(number, Some("15"), "{code}");
    }
}

/// `x`, block by block, with each element moved `rounds` to the left.
fn rotated(x: &[u32], block: usize, rounds: usize) -> Vec<u32> {
    let mut rotated = x.to_vec();
    rotated
        .chunks_mut(block)
        .for_each(|chunk| chunk.rotate_left(rounds % block));
    rotated
}

#[test]
fn barriers_order_shared_memory() {
    for device in machines() {
        for block in [1_usize, 7, 32, 65, 256, 1024] {
            let x: Vec<u32> = numbers(block as u64)
                .map(|n| n as u32)
                .take(3 * block)
                .collect();
            let (input, mut out) = (upload(&device, &x), output::<u32>(&device, x.len()));
            let config = LaunchConfig::new(3, block as u32);
            launch(&device, kernels::rotate, config, (5, &input, &mut out));
            assert_eq!(
                out.to_vec().unwrap(),
                rotated(&x, block, 5),
                "blocks of {block}"
            );
        }
    }
}

#[test]
fn barriers_order_global_memory() {
    for device in machines() {
        for block in [1_usize, 7, 32, 65, 256, 1024] {
            let x: Vec<u32> = numbers(block as u64)
                .map(|n| n as u32)
                .take(block)
                .collect();
            let (mut work, mut out) = (upload(&device, &x), output::<u32>(&device, block));
            let config = LaunchConfig::new(1, block as u32);
            launch(
                &device,
                kernels::rotate_in_global_memory,
                config,
                (5, &mut work, &mut out),
            );
            assert_eq!(
                out.to_vec().unwrap(),
                rotated(&x, block, 5),
                "blocks of {block}"
            );
        }
    }
}

#[test]
fn values_from_before_a_barrier_are_read_again() {
    for device in machines() {
        for changer in [0, 1, 33, 127] {
            let (mut flag, mut out) = (upload(&device, &[20_u32]), output::<u32>(&device, 128 * 4));
            let config = LaunchConfig::new(1, 128);
            launch(
                &device,
                kernels::flags_change,
                config,
                (changer, &mut flag, &mut out),
            );
            assert_eq!(out.to_vec().unwrap(), [10, 20, 11, 21].repeat(128));
        }
    }
}

#[test]
fn parts_of_a_block_have_barriers_of_their_own() {
    for device in machines() {
        for warps_of_half in [1, 3, 8] {
            let half = warps_of_half * warp_threads(&device);
            let rounds = 4;
            let first: u32 = (0..half).sum();
            let second: u32 = (0..=rounds)
                .map(|round| (half..2 * half).map(|own| own + round).sum::<u32>())
                .sum();
            let mut out = output::<u32>(&device, 2 * half as usize);
            launch(
                &device,
                kernels::halves,
                LaunchConfig::new(1, 2 * half),
                (rounds, &mut out),
            );
            let expected = [vec![first; half as usize], vec![second; half as usize]].concat();
            assert_eq!(out.to_vec().unwrap(), expected);
        }
    }
}

#[test]
fn producers_arrive_and_consumers_wait() {
    for device in machines() {
        for warps_of_half in [1, 2, 8] {
            let half = warps_of_half * warp_threads(&device);
            let rounds = 5;
            let sum: u32 = (0..rounds)
                .map(|round| (0..half).map(|own| own + round).sum::<u32>())
                .sum();
            let mut out = output::<u32>(&device, half as usize);
            let config = LaunchConfig::new(1, 2 * half);
            launch(&device, kernels::handed_over, config, (rounds, &mut out));
            assert_eq!(out.to_vec().unwrap(), vec![sum; half as usize]);
        }
    }
}
