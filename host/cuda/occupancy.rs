//! The number of resident blocks of a compiled kernel.

use super::context::Current;
use super::driver::{Failure, call};
use super::function::Function;
use crate::launch::LaunchConfig;
use crate::properties::DeviceProperties;
use crate::residency::{Residency, block_threads};
use simt::occupancy::{BlockResources, Limits};

/// The driver's answer for the whole device, with the occupancy calculator's reason.
pub fn residency(
    function: &Function,
    config: &LaunchConfig,
    properties: &DeviceProperties,
    _current: &Current<'_>,
) -> Result<Residency, Failure> {
    let threads = block_threads(config.block);
    let block_size = i32::try_from(threads).unwrap_or(i32::MAX);
    let bytes = config.dynamic_shared_bytes as usize;
    let mut blocks = 0;
    // SAFETY: `blocks` is valid for one number, and the function is of a loaded module.
    unsafe {
        call!(cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &raw mut blocks,
            function.raw,
            block_size,
            bytes,
        ))
    }?;
    let resources = BlockResources {
        threads,
        registers_per_thread: function.registers,
        shared_bytes: function.static_shared_bytes + config.dynamic_shared_bytes,
    };
    let limits = properties
        .compute_capability
        .and_then(|(major, minor)| Limits::of_compute_capability(major, minor));
    let limiter = limits.map(|limits| limits.occupancy(&resources).limiter.to_string());
    Ok(Residency::on_each(
        u32::try_from(blocks).unwrap_or(0),
        properties.multiprocessors,
        limiter.as_deref().unwrap_or("what a multiprocessor has"),
    ))
}
