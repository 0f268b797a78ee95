//! Test helpers: the same test under many schedules of the simulator.

use crate::device::Device;
use crate::kernel_output::print_message;
use crate::simulator::SimulatorOptions;
use std::ops::Range;

/// Runs `test` once for each of `seeds`, each time on a new simulator with that seed.
///
/// Blocks run one after another, so each run can be repeated exactly. If `test` panics, the seed is printed to
/// standard error and the panic continues.
///
/// ```
/// tilewright::testing::under_seeds(0..4, |device| {
///     let x = device.upload(&[1.0_f32; 1000]).unwrap();
///     assert_eq!(device.reduce_sum(&x).unwrap(), 1000.0);
/// });
/// ```
pub fn under_seeds(seeds: impl IntoIterator<Item = u64>, mut test: impl FnMut(&Device)) {
    for seed in seeds {
        let options = SimulatorOptions::default()
            .with_seed(seed)
            .with_parallel_blocks(false);
        let _shown = ShownOnPanic { seed };
        test(&Device::simulator_with(options));
    }
}

/// The environment variable with the number of seeds for tests.
const VARIABLE: &str = "TILEWRIGHT_SEEDS";

/// The seeds from 0 on, for [`under_seeds`]: `default` of them, or the number in `TILEWRIGHT_SEEDS`.
///
/// With the environment variable, a test is quick in every build and thorough once a night.
///
/// ```
/// use tilewright::testing::{seeds, under_seeds};
///
/// under_seeds(seeds(2), |device| {
///     assert_eq!(device.reduce_max(&device.upload(&[1, 3, 2]).unwrap()).unwrap(), 3);
/// });
/// ```
///
/// # Panics
/// If the variable is set, but not to a number from 1 up: with no seeds, every test would pass.
#[must_use]
pub fn seeds(default: u64) -> Range<u64> {
    let Some(value) = std::env::var_os(VARIABLE) else {
        return 0..default;
    };
    let value = value.to_string_lossy();
    match value.parse() {
        // With no seeds, every test would pass.
        Ok(count @ 1..) => 0..count,
        _ => panic!("{VARIABLE} is `{value}`: it must be a number of seeds from 1 up"),
    }
}

/// Prints the seed when a panic drops it.
struct ShownOnPanic {
    seed: u64,
}

impl Drop for ShownOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            print_message(&format!(
                "the test failed under seed {0}: repeat it with \
                 `SimulatorOptions::default().with_seed({0}).with_parallel_blocks(false)`",
                self.seed
            ));
        }
    }
}
