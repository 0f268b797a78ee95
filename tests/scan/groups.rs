//! Scans of more tiles than a group has, and of more groups than a span has.

use crate::common::devices;
use crate::model;
use crate::samples::{Sample, assert_scans, assert_sums, samples, tile};
use tilewright::{Device, SimulatorOptions};
use tilewright_kernels::scan::{FAN, SPAN_TILES};

for_each_type! {
    [f32 f64 i32 u64]
    sums_go_from_group_to_group
}

fn sums_go_from_group_to_group<T: Sample>() {
    let group = FAN * tile::<T>();
    let data = samples::<T>(2 * group + tile::<T>() + 3, 4);
    for device in devices() {
        for length in [group, group + 1, data.len()] {
            assert_scans(&device, &data[..length]);
        }
    }
}

#[test]
fn prefixes_go_from_span_to_span() {
    let data = samples::<f64>((SPAN_TILES + FAN + 1) * tile::<f64>() + 3, 6);
    let expected = model::scan(&data, false);
    for device in devices() {
        let x = device.upload(&data).unwrap();
        let found = device.scan_inclusive(&x).unwrap();
        assert_sums(&found, &expected, &format!("{device:?}"));
    }
}

/// One block after another: none finds a later one's work.
#[test]
fn blocks_one_by_one_give_the_same_bits() {
    let options = SimulatorOptions::default().with_parallel_blocks(false);
    let group = FAN * tile::<f64>();
    assert_scans(
        &Device::simulator_with(options),
        &samples::<f64>(group + 1, 5),
    );
}
