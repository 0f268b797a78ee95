//! Sums of parts of buffers: the bits of an aligned copy, wherever the part starts.

use crate::common::{devices, machines};
use crate::samples::{Sample, samples, sum_on, tile};
use bytemuck::bytes_of;
use half::{bf16, f16};
use tilewright::Device;

for_each_type! {
    [f32 f64 f16 bf16 i32 u32 i64 u64]
    parts_have_the_bits_of_their_copies
    every_machine_gives_the_same_bits_of_a_part
}

/// Past every element of two vectors of 16 bytes.
fn starts<T>() -> impl Iterator<Item = usize> {
    0..=2 * (16 / size_of::<T>())
}

#[track_caller]
fn assert_part<T: Sample>(device: &Device, data: &[T], start: usize, length: usize) {
    let buffer = device.upload(data).unwrap();
    let part = buffer.slice(start..start + length).unwrap();
    let expected = sum_on(device, &data[start..start + length]);
    let found = device.reduce_sum(part).unwrap();
    assert_eq!(
        bytes_of(&found),
        bytes_of(&expected),
        "{length} elements from {start} on, {device:?}"
    );
    let mut result = device.zeros(1).unwrap();
    device.reduce_sum_into(part, &mut result).unwrap();
    assert_eq!(bytes_of(&result.to_vec().unwrap()[0]), bytes_of(&expected));
}

fn parts_have_the_bits_of_their_copies<T: Sample>() {
    let tile = tile::<T>();
    let longest = 5 * tile + 3;
    for device in devices() {
        for start in starts::<T>() {
            let data = samples::<T>(start + longest, 11);
            for length in [0, 1, 3, 33, tile - 1, tile, tile + 1, 3 * tile, longest] {
                assert_part(&device, &data, start, length);
            }
        }
    }
}

fn every_machine_gives_the_same_bits_of_a_part<T: Sample>() {
    let length = 9 * tile::<T>() + 7;
    let data = samples::<T>(length + 1, 12);
    for machine in machines() {
        assert_part(&machine, &data, 1, length);
    }
}
