//! Scans of every length.

use crate::common::sizes::sizes;
use crate::common::{devices, machines};
use crate::samples::{Sample, assert_scans, samples, tile};
use tilewright::testing::{seeds, under_seeds};

for_each_type! {
    [f32 f64 i32 u32 i64 u64]
    scans_of_every_length_have_the_bits_of_the_model
    every_machine_gives_the_same_bits
    every_schedule_gives_the_same_bits
}

/// Every size that may matter within a tile, and the ends of tiles.
fn lengths<T>() -> Vec<usize> {
    let tile = tile::<T>();
    let tiles = [1, 2, 3, 7].map(|tiles| tiles * tile);
    let around_tiles = tiles.into_iter().flat_map(|end| [end - 1, end, end + 1]);
    sizes(tile).into_iter().chain(around_tiles).collect()
}

fn scans_of_every_length_have_the_bits_of_the_model<T: Sample>() {
    let lengths = lengths::<T>();
    let data = samples::<T>(*lengths.iter().max().unwrap(), 1);
    for device in devices() {
        for length in &lengths {
            assert_scans(&device, &data[..*length]);
        }
    }
}

/// Among them simulators whose blocks run in parallel, and one after another.
fn every_machine_gives_the_same_bits<T: Sample>() {
    let data = samples::<T>(9 * tile::<T>() + 11, 2);
    for machine in machines() {
        assert_scans(&machine, &data);
    }
}

fn every_schedule_gives_the_same_bits<T: Sample>() {
    let data = samples::<T>(3 * tile::<T>() + 5, 3);
    under_seeds(seeds(6), |device| assert_scans(device, &data));
}
