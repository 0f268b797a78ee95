//! Maps by functions of this crate's own: of elements, and of rows.

mod elements;
mod names;
mod products;
mod promises;
mod rows;
mod values;

use tilewright::testing::seeds;
use tilewright::{Device, SimulatorOptions};

/// Simulators under several seeds: the kernels of this program have no PTX.
fn simulators() -> impl Iterator<Item = Device> {
    let options = |seed| SimulatorOptions::default().with_seed(seed);
    seeds(3).map(options).map(Device::simulator_with)
}
