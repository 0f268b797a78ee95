//! The steps of the ladder of the sum.

use crate::common::machines;
use crate::common::random::Random;
use crate::common::sizes::sizes;
use tilewright::ladder::sum::{self, Step};

/// As seed 001 fills its array: `rand() & 0xFF`.
fn bytes(elements: usize) -> Vec<i32> {
    let mut random = Random::new(elements as u64);
    (0..elements)
        .map(|_| (random.bits() & 0xFF) as i32)
        .collect()
}

#[test]
fn every_step_adds_every_length_with_every_block_size() {
    for device in machines() {
        for elements in sizes(4200) {
            let data = bytes(elements);
            let expected: i64 = data.iter().copied().map(i64::from).sum();
            for step in Step::ALL {
                for block_threads in [64, 128, 256, 512, 1024] {
                    let mut x = device.upload(&data).unwrap();
                    let total = sum::total(&device, step, &mut x, block_threads).unwrap();
                    assert_eq!(
                        total, expected,
                        "{step:?} on {device:?}, {elements} elements, blocks of {block_threads}"
                    );
                }
            }
        }
    }
}
