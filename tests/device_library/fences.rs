use crate::orders::codes;
use crate::{hoppers, launch, machines, numbers, output, upload, warp_threads};
use cuda_std_test_kernels::{cluster_orders, fences as kernels};
use tilewright::LaunchConfig;

#[test]
fn the_last_block_sees_what_the_others_wrote() {
    for device in machines() {
        for blocks in [1, 2, 37, 1000] {
            let x: Vec<u32> = numbers(blocks)
                .map(|n| n as u32)
                .take(blocks as usize)
                .collect();
            let expected = x.iter().fold(0_u32, |sum, x| {
                sum.wrapping_mul(31).wrapping_add(x.wrapping_mul(3))
            });
            let mut sums = output::<u32>(&device, x.len());
            let (mut ticket, mut result) = (upload(&device, &[0_u32]), output::<u32>(&device, 1));
            let config = LaunchConfig::new(blocks as u32, 33);
            let arguments = (&upload(&device, &x), &mut sums, &mut ticket, &mut result);
            launch(&device, kernels::last_block_adds, config, arguments);
            assert_eq!(result.to_vec().unwrap(), [expected], "{blocks} blocks");
        }
    }
}

#[test]
fn a_flag_tells_another_warp_that_words_are_there() {
    for device in machines() {
        let warp = warp_threads(&device);
        let mut letters = output::<u32>(&device, 2 * warp as usize);
        let mut flag = upload(&device, &[0_u32]);
        let mut out = output::<u32>(&device, warp as usize);
        let config = LaunchConfig::new(1, 2 * warp);
        let arguments = (&mut letters, &mut flag, &mut out);
        launch(&device, kernels::deliver, config, arguments);
        let expected: Vec<u32> = (0..warp).rev().map(|lane| lane * 12).collect();
        assert_eq!(out.to_vec().unwrap(), expected);
    }
}

#[test]
fn letters_are_handed_over_behind_each_fence() {
    for device in machines() {
        let x: Vec<u32> = numbers(8)
            .map(|n| n as u32)
            .take(kernels::LETTERS)
            .collect();
        let mut letters = output::<u32>(&device, x.len());
        let mut flag = upload(&device, &[0_u32]);
        let mut out = output::<u32>(&device, x.len());
        let arguments = (&upload(&device, &x), &mut letters, &mut flag, &mut out);
        let config = LaunchConfig::new(1, 2 * warp_threads(&device));
        launch(&device, kernels::letters_behind_fences, config, arguments);
        assert_eq!(out.to_vec().unwrap(), x, "{}", device.name());
    }
}

#[test]
fn no_store_is_buffered_past_a_sequentially_consistent_fence() {
    for device in machines() {
        let mut words = upload(&device, &[0_u32; 2 * kernels::ROUNDS]);
        let mut out = output::<u32>(&device, 2 * kernels::ROUNDS);
        let config = LaunchConfig::new(2, 1);
        launch(
            &device,
            kernels::buffered_stores,
            config,
            (&mut words, &mut out),
        );
        for read in out.to_vec().unwrap().chunks(2) {
            assert_ne!(read, [0, 0], "{}", device.name());
        }
    }
}

#[test]
fn fences_of_the_cluster_hand_letters_over() {
    for device in hoppers() {
        let x: Vec<u32> = numbers(3).map(|n| n as u32).take(6).collect();
        let (mut letters, mut out) = (output::<u32>(&device, 6), output::<u32>(&device, 3));
        let arguments = (&upload(&device, &x), &mut letters, &mut out);
        let config = LaunchConfig::new(6, 1);
        launch(
            &device,
            cluster_orders::answer_in_cluster,
            config,
            arguments,
        );
        let answer = |pair: &[u32]| pair[0].wrapping_mul(31).wrapping_add(pair[1]);
        let expected: Vec<u32> = x.chunks(2).map(answer).collect();
        assert_eq!(out.to_vec().unwrap(), expected, "{}", device.name());
    }
}

#[test]
fn each_fence_is_one_instruction() {
    let fences = [
        ("letters_behind_fences", "fence.acq_rel.cta"),
        ("letters_behind_fences", "fence.acq_rel.gpu"),
        ("letters_behind_fences", "fence.acq_rel.sys"),
        ("letters_behind_fences", "membar.cta"),
        ("letters_behind_fences", "membar.gl"),
        ("letters_behind_fences", "membar.sys"),
        ("answer_in_cluster", "fence.acq_rel.cluster"),
        ("answer_in_cluster", "fence.sc.cluster"),
    ];
    for (kernel, fence) in fences {
        for code in codes(kernel) {
            // One of the thread that sends, one of the thread that receives.
            let count = code.matches(&format!("{fence};")).count();
            assert_eq!(count, 2, "`{fence}` in:\n{code}");
        }
    }
}
