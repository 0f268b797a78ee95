//! Groups of devices: what they compute has the bits of one device.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod making;
mod reduce;

use tilewright::DeviceGroup;

/// The sizes of groups that are tested.
const RANKS: [usize; 5] = [1, 2, 3, 4, 7];

/// Simulated groups of those sizes.
fn groups() -> impl Iterator<Item = DeviceGroup> {
    RANKS
        .into_iter()
        .map(|ranks| DeviceGroup::simulated(ranks).unwrap())
}
