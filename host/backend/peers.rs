//! Transfers between devices, beside the work of each.

use super::memory::DeviceMemory;
use crate::error::{ErrorKind, Outcome};

/// What a device transfers from and to others, in a stream of its own beside the stream of its work.
///
/// A device without streams, as the simulator, makes a transfer where it is started.
/// The requirements of [`Backend`](super::Backend) hold by their numbers.
pub(crate) trait DevicePeers {
    /// Lets copies of `peer` read this device's memory without the host, where the machine can.
    fn open_to_peer(&self, _peer: &dyn DeviceMemory) -> Outcome<()> {
        Ok(())
    }

    /// Starts a copy from memory of the device `peer` to this one, after the work that either was given
    /// before, and beside the work that either is given later, until [`end_copies_from_peer`].
    ///
    /// # Safety
    /// 1. Requirements 1 and 2 for `bytes` at `destination`, and of `peer` at `source`.
    /// 2. Until the copies are ended, no work that is given to either conflicts with it.
    ///
    /// [`end_copies_from_peer`]: Self::end_copies_from_peer
    unsafe fn start_copy_from_peer(
        &self,
        destination: u64,
        peer: &dyn DeviceMemory,
        source: u64,
        bytes: usize,
    ) -> Outcome<()>;

    /// Work that this device or `peer` is given from now on comes after the copies that were started.
    fn end_copies_from_peer(&self, _peer: &dyn DeviceMemory) -> Outcome<()> {
        Ok(())
    }

    /// The stream of transfers, for NCCL, where they come after the work that the device was
    /// given before; `None` for a device without streams.
    #[cfg(feature = "cuda")]
    fn start_transfers(&self) -> Outcome<Option<std::ptr::NonNull<std::ffi::c_void>>> {
        Ok(None)
    }

    /// Work that this device is given from now on comes after the transfers that were started.
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

/// Copies from memory of the device `peer` to `own`, by way of the host's memory: when it returns, it is done.
///
/// # Safety
/// Requirements 1 and 2 of [`Backend`](super::Backend) for `bytes` at `destination` of `own`, and at `source` of `peer`.
pub(crate) unsafe fn copy_through_host(
    own: &dyn DeviceMemory,
    destination: u64,
    peer: &dyn DeviceMemory,
    source: u64,
    bytes: usize,
) -> Outcome<()> {
    let mut on_host = bytemuck::allocation::try_zeroed_vec(bytes).map_err(|()| {
        let requested = bytes as u64;
        ErrorKind::OutOfHostMemory { requested }
    })?;
    // SAFETY: (1) and (2) are the caller's.
    unsafe {
        peer.copy_to_host(&mut on_host, source)?;
        own.copy_to_device(destination, &on_host)
    }
}
