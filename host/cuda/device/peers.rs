//! Copies between the memories of two devices, in the receiving device's stream of transfers.

use super::CudaDevice;
use crate::backend::{DeviceMemory, DevicePeers, copy_through_host};
use crate::cuda::context::order;
use crate::cuda::driver::{Failure, call};
use crate::error::Outcome;
use std::any::Any;
use std::ffi::c_void;
use std::ptr::NonNull;

fn as_cuda(peer: &dyn DeviceMemory) -> Option<&CudaDevice> {
    let any: &dyn Any = peer;
    any.downcast_ref()
}

impl DevicePeers for CudaDevice {
    fn open_to_peer(&self, peer: &dyn DeviceMemory) -> Outcome<()> {
        let Some(peer) = as_cuda(peer) else {
            return Ok(());
        };
        let (device, of_peer) = (self.context.device(), peer.context.device());
        let mut can_access = 0;
        self.run(|current| {
            // SAFETY: `can_access` is valid for one number; the driver checks the devices.
            unsafe { call!(cuDeviceCanAccessPeer(&raw mut can_access, of_peer, device)) }?;
            match can_access {
                0 => Ok(()),
                _ => self.allocator.open_to(of_peer, current),
            }
        })
    }

    unsafe fn start_copy_from_peer(
        &self,
        destination: u64,
        peer: &dyn DeviceMemory,
        source: u64,
        bytes: usize,
    ) -> Outcome<()> {
        let Some(peer) = as_cuda(peer) else {
            // SAFETY: live memory and no conflicting work on either device: the caller's contract.
            return unsafe { copy_through_host(self, destination, peer, source, bytes) };
        };
        let contexts = (self.context.raw(), peer.context.raw());
        let transfers = self.transfers.raw();
        // SAFETY: live streams, and the current context: both streams live as long as their devices, and the context
        // is the peer's.
        peer.run(|_current| unsafe { order(peer.stream.raw(), transfers) })?;
        self.run(|_current| {
            self.let_transfers_wait()?;
            // SAFETY: both ranges are live in their contexts, without conflicting work before the copies are ended:
            // the caller's contract.
            unsafe {
                call!(cuMemcpyPeerAsync(
                    destination,
                    contexts.0,
                    source,
                    contexts.1,
                    bytes,
                    transfers,
                ))
            }
        })
    }

    fn end_copies_from_peer(&self, peer: &dyn DeviceMemory) -> Outcome<()> {
        let Some(peer) = as_cuda(peer) else {
            return Ok(());
        };
        self.run(|_current| {
            self.let_work_wait()?;
            // SAFETY: live streams, and the current context: both streams live as long as their devices, and the
            // context is this device's.
            unsafe { order(self.transfers.raw(), peer.stream.raw()) }
        })
    }

    fn end_transfers(&self) -> Outcome<()> {
        self.run(|_current| self.let_work_wait())
    }

    fn start_transfers(&self) -> Outcome<Option<NonNull<c_void>>> {
        self.run(|_current| self.let_transfers_wait())?;
        Ok(NonNull::new(self.transfers.raw().cast()))
    }

    fn are_transfers_done(&self) -> Outcome<bool> {
        self.run(|current| self.transfers.is_done(current))
    }
}

impl CudaDevice {
    /// Orders later transfers after the earlier work of the device.
    ///
    /// The device's context must be current.
    fn let_transfers_wait(&self) -> Result<(), Failure> {
        // SAFETY: live streams, and the current context: both streams live as long as the device, whose context is
        // current.
        unsafe { order(self.stream.raw(), self.transfers.raw()) }
    }

    /// Orders later work of the device after the transfers that were started.
    ///
    /// The device's context must be current.
    fn let_work_wait(&self) -> Result<(), Failure> {
        // SAFETY: live streams, and the current context: both streams live as long as the device, whose context is
        // current.
        unsafe { order(self.transfers.raw(), self.stream.raw()) }
    }
}
