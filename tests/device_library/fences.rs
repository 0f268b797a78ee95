use crate::{launch, machines, numbers, output, upload, warp_threads};
use cuda_std_test_kernels::fences as kernels;
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
