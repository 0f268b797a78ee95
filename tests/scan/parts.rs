//! Scans of parts of buffers, into parts of buffers: wherever they start.

use crate::common::devices;
use crate::model;
use crate::samples::{Sample, assert_sums, samples, tile};

for_each_type! {
    [f32 f64 i32 u32 i64 u64]
    parts_have_the_bits_of_their_copies
}

fn parts_have_the_bits_of_their_copies<T: Sample>() {
    let longest = 2 * tile::<T>() + 3;
    let data = samples::<T>(longest + 5, 6);
    for device in devices() {
        let x = device.upload(&data).unwrap();
        for (start, to) in [(0, 1), (1, 0), (1, 1), (2, 3), (3, 2), (4, 4), (5, 0)] {
            for length in [0, 1, 33, tile::<T>(), longest] {
                let part = x.slice(start..start + length).unwrap();
                for is_exclusive in [false, true] {
                    let filler = data[0];
                    let mut sums = device.upload(&vec![filler; longest + 5]).unwrap();
                    let within = sums.slice_mut(to..to + length).unwrap();
                    if is_exclusive {
                        device.scan_exclusive_into(part, within).unwrap();
                    } else {
                        device.scan_inclusive_into(part, within).unwrap();
                    }
                    let mut expected = vec![filler; longest + 5];
                    let of_part = model::scan(&data[start..start + length], is_exclusive);
                    expected[to..to + length].copy_from_slice(&of_part);
                    let what = format!("{length} elements from {start} to {to}, {device:?}");
                    assert_sums(&sums, &expected, &what);
                }
            }
        }
    }
}
