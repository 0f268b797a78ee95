//! Sums that several threads ask for at once.

use crate::common::devices;
use std::thread;

/// More threads than results that are kept together.
const THREADS: u32 = 40;

/// Odd threads sum more than one block, whose partial sums all threads share.
fn elements(number: u32) -> usize {
    if number.is_multiple_of(2) { 100 } else { 5000 }
}

#[test]
fn each_thread_gets_its_own_sum() {
    for device in devices() {
        let rounds = if device.is_simulator() { 3 } else { 300 };
        thread::scope(|scope| {
            for number in 1..=THREADS {
                let device = &device;
                scope.spawn(move || {
                    let elements = elements(number);
                    let x = device.upload(&vec![number; elements]).unwrap();
                    let expected = u64::from(number) * elements as u64;
                    for _ in 0..rounds {
                        assert_eq!(device.reduce_sum(&x).unwrap(), expected);
                    }
                });
            }
        });
    }
}
