use crate::{hoppers, launch, numbers, output, upload};
use cuda_std_test_kernels::clusters as kernels;
use tilewright::LaunchConfig;

fn words(count: usize) -> Vec<u32> {
    let numbers = numbers(count as u64).map(|number| number as u32 >> 1);
    numbers.take(count).collect()
}

#[test]
fn blocks_read_and_write_the_memory_of_others() {
    // Two clusters of four blocks.
    let x = words(8 * kernels::LINE);
    let lines: Vec<&[u32]> = x.chunks(kernels::LINE).collect();
    let of_block = |block: usize| lines[block / 4 * 4 + (block + 3) % 4];
    let expected: Vec<u32> = (0..8)
        .flat_map(|block| [of_block(block), of_block(block)].concat())
        .collect();
    for device in hoppers() {
        let mut out = output(&device, 2 * x.len());
        let config = LaunchConfig::new(8, kernels::THREADS);
        launch(
            &device,
            kernels::exchange,
            config,
            (&upload(&device, &x), &mut out),
        );
        assert_eq!(out.to_vec().unwrap(), expected, "{}", device.name());
    }
}

#[test]
fn elements_are_copied_to_both_blocks() {
    let x = words(2 * kernels::HALF);
    let expected: Vec<u32> = (0..2)
        .flat_map(|rank| x.iter().map(move |it| it + rank))
        .collect();
    for device in hoppers() {
        let mut out = output(&device, 2 * x.len());
        let config =
            LaunchConfig::new(2, kernels::THREADS).with_dynamic_shared(kernels::LINES_BYTES);
        launch(
            &device,
            kernels::shared_lines,
            config,
            (&upload(&device, &x), &mut out),
        );
        assert_eq!(out.to_vec().unwrap(), expected, "{}", device.name());
    }
}
