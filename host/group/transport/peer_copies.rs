//! Copies between the devices of one process.

use super::{Transfer, Transport};
use crate::backend::Backend;
use crate::device::Device;
use crate::error::Outcome;

/// Copies from one device directly to another, concurrent with the work of both. Copies between a simulated device and
/// another one go through the host.
#[derive(Debug)]
pub struct PeerCopies;

impl PeerCopies {
    /// Lets each device read the memory of every other.
    pub fn between(devices: &[Device]) -> Outcome<Self> {
        for one in devices {
            for other in devices.iter().filter(|other| !other.is_same(one)) {
                one.backend().open_to_peer(other.backend())?;
            }
        }
        Ok(Self)
    }
}

/// The devices that a transfer goes from and to.
fn ends<'a>(devices: &'a [Device], it: &Transfer) -> (&'a dyn Backend, &'a dyn Backend) {
    (devices[it.from].backend(), devices[it.to].backend())
}

impl Transport for PeerCopies {
    unsafe fn start(&self, devices: &[Device], transfers: &[Transfer]) -> Outcome<()> {
        for it in transfers {
            let (Some(source), Some(destination)) = (it.source, it.destination) else {
                unreachable!("the process has all ranks");
            };
            let (from, to) = ends(devices, it);
            // SAFETY: both places are in live allocations of their devices and do not overlap, and no work
            // conflicts until `finish` ends the copies: the contract of `start`.
            unsafe {
                match it.from == it.to {
                    true => to.copy_on_device(destination, source, it.bytes)?,
                    false => to.start_copy_from_peer(destination, from, source, it.bytes)?,
                }
            }
        }
        Ok(())
    }

    fn finish(&self, devices: &[Device], transfers: &[Transfer]) -> Outcome<()> {
        let mut finished = Ok(());
        for it in transfers.iter().filter(|it| it.from != it.to) {
            let (from, to) = ends(devices, it);
            // If one device is lost, the copies of the others are still ended.
            finished = finished.and(to.end_copies_from_peer(from));
        }
        finished
    }
}
