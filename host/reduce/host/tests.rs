//! Slices that host threads gather, on a simulator, which copies slices directly elsewhere.

use crate::device::Device;
use crate::reduce::ops;

/// Elements in a round of f32: a tile for each block.
const ROUND: usize = 2048 * 4096;

/// Elements whose sum depends on the order of the additions.
fn elements(len: usize) -> Vec<f32> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from_bits(0x3000_0000 + (state >> 5))
    };
    std::iter::repeat_with(next).take(len).collect()
}

#[test]
fn gathered_slices_have_the_bits_of_a_buffer() {
    let device = Device::simulator();
    let all = elements(ROUND + 100_000);
    // One chunk and several, less than a tile, and a second round of tiles.
    for (len, chunk) in [
        (0, 10),
        (1, 10),
        (100_000, 1 << 20),
        (100_000, 4096),
        (300_000, 40_000),
        (all.len(), 1 << 20),
    ] {
        let x = &all[..len];
        let mut reducer = device.host_reducer::<f32>(chunk).unwrap();
        let buffer = device.upload(x).unwrap();
        let expected = device.reduce_sum(&buffer).unwrap();
        // Twice, because the second call finds memory of the first.
        for _ in 0..2 {
            let sum = reducer.gathered::<ops::Sum>(x).unwrap();
            assert_eq!(sum.to_bits(), expected.to_bits(), "{len} {chunk}");
        }
        if len > 0 {
            let place = reducer.gathered::<ops::ArgMax>(x).unwrap();
            assert_eq!(
                place,
                device.reduce(&buffer, ops::ArgMax).unwrap(),
                "{len} {chunk}"
            );
        }
    }
}

#[test]
fn gathered_slices_without_elements_have_no_maximum() {
    let mut reducer = Device::simulator().host_reducer::<f32>(10).unwrap();
    let error = reducer.gathered::<ops::Max>(&[]).unwrap_err();
    assert!(
        error.to_string().contains("the host data to reduce"),
        "{error}"
    );
}
