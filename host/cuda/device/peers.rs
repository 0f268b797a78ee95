//! Copies between the memories of two devices, in the receiving device's stream of transfers.

use super::CudaDevice;
use crate::backend::{DeviceMemory, DevicePeers, copy_through_host};
use crate::cuda::context::{Current, order};
use crate::cuda::driver::{Failure, call};
use crate::cuda::start::cuda_error;
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
        let (device, of_peer) = (self.gpu.context.device(), peer.gpu.context.device());
        let mut can_access = 0;
        self.run(|current| {
            // SAFETY: `can_access` is valid for one number; the driver checks the devices.
            unsafe { call!(cuDeviceCanAccessPeer(&raw mut can_access, of_peer, device)) }?;
            match can_access {
                0 => Ok(()),
                _ => self.gpu.allocator.open_to(of_peer, current),
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
        let contexts = (self.gpu.context.raw(), peer.gpu.context.raw());
        let transfers = self.transfers.raw();
        // SAFETY: live streams, and the current context: both streams live as long as their devices, and the context
        // is the peer's.
        peer.run_with(self, |_current| unsafe {
            order(peer.stream.raw(), transfers)
        })?;
        self.run_with(peer, |_current| {
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
        self.run_with(peer, |current| {
            let own = self.let_work_wait();
            // SAFETY: live streams, and the current context: both streams live as long as their devices, and the
            // context is this device's.
            let of_peer = unsafe { order(self.transfers.raw(), peer.stream.raw()) };
            self.ended(own.and(of_peer), current)
        })
    }

    fn end_transfers(&self) -> Outcome<()> {
        self.run(|current| self.ended(self.let_work_wait(), current))
    }

    fn transfer_stream(&self) -> Option<NonNull<c_void>> {
        NonNull::new(self.transfers.raw().cast())
    }

    fn start_transfers(&self) -> Outcome<()> {
        self.run(|_current| self.let_transfers_wait())
    }

    fn are_transfers_done(&self) -> Outcome<bool> {
        self.run(|current| self.transfers.is_done(current))
    }
}

impl CudaDevice {
    /// Runs `body` in the device's context, with work of `peer` in it. A failure that loses a device is an error of the
    /// one whose own stream reports it.
    fn run_with<R>(
        &self,
        peer: &Self,
        body: impl FnOnce(&Current<'_>) -> Result<R, Failure>,
    ) -> Outcome<R> {
        let current = self.gpu.enter()?;
        body(&current).map_err(|failure| {
            if !failure.loses_device() {
                return cuda_error(failure);
            }
            let state = |device: &Self| device.run(|current| device.stream.is_done(current));
            let lost = [self, peer]
                .into_iter()
                .find_map(|device| state(device).err());
            lost.unwrap_or_else(|| cuda_error(failure))
        })
    }

    /// Returns `ordered`, whether later work waits for the transfers. If it does not, they are over when this returns:
    /// their buffers may be written or freed then.
    fn ended(&self, ordered: Result<(), Failure>, current: &Current<'_>) -> Result<(), Failure> {
        // If waiting fails, too, the device is lost, and no transfer of it runs.
        ordered.inspect_err(|_| _ = self.transfers.synchronize(current))
    }

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
