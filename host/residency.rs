//! Residency: the number of blocks of a kernel that a device holds at once, which limits cooperative launches.

use crate::error::counted;
use crate::launch::LaunchConfig;
use simt::occupancy::{BlockResources, Limits};
use simt::{Dim3, MAX_RESIDENT_THREADS};

/// The number of blocks that are resident at once, and the limiting resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Residency {
    pub(crate) blocks: u32,
    /// For example "2 on each of 132 multiprocessors, limited by registers".
    pub(crate) reason: String,
}

impl Residency {
    /// `per_multiprocessor` blocks on each of `multiprocessors`.
    pub(crate) fn on_each(per_multiprocessor: u32, multiprocessors: u32, limiter: &str) -> Self {
        Self {
            blocks: per_multiprocessor.saturating_mul(multiprocessors),
            reason: format!(
                "{per_multiprocessor} on each of {}, limited by {limiter}",
                counted(multiprocessors, "multiprocessor", "multiprocessors")
            ),
        }
    }

    /// The residency on a simulated device with `limits`, for threads with `registers` registers. It is at most the
    /// number of blocks that are simulated at once.
    pub(crate) fn simulated(
        limits: &Limits,
        multiprocessors: u32,
        registers: u32,
        config: &LaunchConfig,
    ) -> Self {
        let threads = block_threads(config.block);
        let occupancy = limits.occupancy(&BlockResources {
            threads,
            registers_per_thread: registers,
            shared_bytes: config.dynamic_shared_bytes,
        });
        let on_device = Self::on_each(
            occupancy.blocks,
            multiprocessors,
            &occupancy.limiter.to_string(),
        );
        let simulated = MAX_RESIDENT_THREADS / threads;
        if simulated >= on_device.blocks {
            return on_device;
        }
        Self {
            blocks: simulated,
            reason: format!("{MAX_RESIDENT_THREADS} threads are simulated at once"),
        }
    }
}

/// The number of threads in a block that was checked against a device's limits.
pub(crate) fn block_threads(block: Dim3) -> u32 {
    u32::try_from(block.count()).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt::Profile;

    #[test]
    fn a_simulated_device_holds_what_its_profile_does_and_no_more_than_is_simulated() {
        let limits = Profile::A100.datasheet().limits;
        let config = LaunchConfig::new(1, 128);
        let few = Residency::simulated(&limits, 8, 128, &config);
        assert_eq!(few.blocks, 4 * 8);
        assert!(few.reason.ends_with("limited by registers"), "{few:?}");
        let many = Residency::simulated(&limits, 108, 32, &config);
        assert_eq!(many.blocks, MAX_RESIDENT_THREADS / 128);
        let config = config.with_dynamic_shared(160 << 10);
        let one = Residency::simulated(&limits, 8, 128, &config);
        assert_eq!(one.blocks, 8);
        assert!(one.reason.ends_with("limited by shared memory"), "{one:?}");
    }
}
