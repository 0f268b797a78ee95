//! Transfers between devices, concurrent with the work of each.

use super::memory::DeviceMemory;
use crate::error::{Outcome, zeroed_vec};

/// Transfers of a device from and to others, in a separate stream alongside its work.
///
/// A device without streams, such as the simulator, makes each transfer as soon as it is started. Requirement numbers
/// are those of [`Backend`](super::Backend).
pub(crate) trait DevicePeers {
    /// Lets copies of `peer` read this device's memory without going through the host, if the machine supports it.
    fn open_to_peer(&self, _peer: &dyn DeviceMemory) -> Outcome<()> {
        Ok(())
    }

    /// Starts a copy from memory of the device `peer` to this one.
    ///
    /// It runs after the earlier work of both devices, and concurrently with their later work until
    /// [`end_copies_from_peer`].
    ///
    /// # Safety
    /// 1. Requirements 1 and 2 for `bytes` at `destination` on this device, and at `source` on `peer`.
    /// 2. Until the copies are ended, neither device is given work that conflicts with this one.
    ///
    /// [`end_copies_from_peer`]: Self::end_copies_from_peer
    unsafe fn start_copy_from_peer(
        &self,
        destination: u64,
        peer: &dyn DeviceMemory,
        source: u64,
        bytes: usize,
    ) -> Outcome<()>;

    /// Makes later work of this device and of `peer` wait for the copies that were started. If that fails, the copies
    /// are over when it returns.
    fn end_copies_from_peer(&self, _peer: &dyn DeviceMemory) -> Outcome<()> {
        Ok(())
    }

    /// The stream of transfers, for NCCL; `None` for a device without streams.
    #[cfg(feature = "cuda")]
    fn transfer_stream(&self) -> Option<std::ptr::NonNull<std::ffi::c_void>> {
        None
    }

    /// Makes later transfers wait for the device's earlier work.
    #[cfg(feature = "cuda")]
    fn start_transfers(&self) -> Outcome<()> {
        Ok(())
    }

    /// Makes later work of this device wait for the transfers that were started. If that fails, the transfers are over
    /// when it returns.
    #[cfg(feature = "cuda")]
    fn end_transfers(&self) -> Outcome<()> {
        Ok(())
    }

    /// Whether all transfers that were started are done; does not wait for them.
    #[cfg(feature = "cuda")]
    fn are_transfers_done(&self) -> Outcome<bool> {
        Ok(true)
    }
}

/// Copies from memory of the device `peer` to `own` through host memory; done when it returns.
///
/// # Safety
/// Requirements 1 and 2 of [`Backend`](super::Backend) for `bytes` at `destination` on `own`, and at `source` on
/// `peer`.
pub(crate) unsafe fn copy_through_host(
    own: &dyn DeviceMemory,
    destination: u64,
    peer: &dyn DeviceMemory,
    source: u64,
    bytes: usize,
) -> Outcome<()> {
    let mut on_host = zeroed_vec(bytes)?;
    // SAFETY: live memory and no conflicting work on either device: the caller's contract.
    unsafe {
        peer.copy_to_host(&mut on_host, source)?;
        own.copy_to_device(destination, &on_host)
    }
}
