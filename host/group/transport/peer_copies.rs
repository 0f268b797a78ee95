//! Copies between the devices of one process.

use super::{Transfer, Transport};
use crate::device::Device;
use crate::error::Outcome;

/// Copies from one device straight to another; between a simulated one and others, through the host.
#[derive(Debug)]
pub struct PeerCopies;

impl Transport for PeerCopies {
    unsafe fn exchange(&self, devices: &[Device], transfers: &[Transfer]) -> Outcome<()> {
        for it in transfers {
            let (Some(source), Some(destination)) = (it.source, it.destination) else {
                unreachable!("the process has all ranks");
            };
            let (from, to) = (devices[it.from].backend(), devices[it.to].backend());
            // SAFETY: (1) and (2) of the backend are (1) and (2) of the trait.
            unsafe {
                match it.from == it.to {
                    true => to.copy_on_device(destination, source, it.bytes)?,
                    false => to.copy_from_peer(destination, from, source, it.bytes)?,
                }
            }
        }
        Ok(())
    }
}
