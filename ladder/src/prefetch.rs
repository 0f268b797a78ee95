//! The prefetch ladder, after NVIDIA's article "Boosting Application Performance with GPU Memory
//! Prefetching".

mod prepared;
mod variant;
mod workload;

use prepared::Launch;
use tilewright::{Buffer, Device, ErrorKind, Result};
use workload::OPERATION;

pub use variant::{Layout, Variant};
pub use workload::{DISTANCES, MAX_BLOCK_THREADS, Workload};

/// Sums a function of each thread's elements of `x`, without waiting. Element i belongs to thread i modulo
/// [`Workload::threads`].
///
/// ```
/// use tilewright::Device;
/// use tilewright_ladder::prefetch::{self, Variant, Workload};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let workload = Workload { generations: 1, blocks: 2, block_threads: 64, is_synced: true };
/// let elements: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
/// let x = device.upload(&elements)?;
/// let mut sums = device.zeros(workload.threads())?;
/// prefetch::launch(&device, Variant::ScalarRolling, 4, workload, &x, &mut sums)?;
/// assert_eq!(sums.to_vec()?, workload.sums(&elements));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`ErrorKind::WrongLength`] if `sums` does not have an element for each of [`Workload::threads`];
/// [`ErrorKind::LaunchConfig`] if the variant has no such distance, or the device or the kernel does
/// not allow the workload's blocks; [`ErrorKind::TooLarge`] if a thread would have more than 2^31
/// elements; [`ErrorKind::WrongDevice`] if a buffer is on another device; and those of launches.
pub fn launch(
    device: &Device,
    variant: Variant,
    distance: u32,
    workload: Workload,
    x: &Buffer<f64>,
    sums: &mut Buffer<f64>,
) -> Result<()> {
    if sums.len() != workload.threads() {
        return Err(ErrorKind::WrongLength {
            what: "the buffer of the sums".to_owned(),
            rule: "one for each thread",
            expected: workload.threads(),
            found: sums.len(),
        }
        .during(OPERATION));
    }
    if !variant.distances().contains(&distance) {
        return Err(ErrorKind::LaunchConfig {
            kernel: variant.info().kernel,
            reason: format!(
                "there is none for distance {distance}; there is for {:?}",
                variant.distances()
            ),
        }
        .during(OPERATION));
    }
    if x.is_empty() {
        *sums = device.zeros(sums.len())?;
        return Ok(());
    }
    let launch = Launch::new(device, variant, distance, workload, x.len())?;
    launch.run(variant, x, sums)
}
