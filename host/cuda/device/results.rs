//! Results in mapped memory: page-locked host memory that kernels write.

use super::CudaDevice;
use crate::backend::{DeviceMemory as _, DeviceResults};
use crate::cuda::driver::call;
use crate::error::Outcome;
use crate::scratch::Mapped;

impl DeviceResults for CudaDevice {
    fn allocate_mapped(&self, bytes: usize) -> Outcome<Mapped> {
        let host = self.allocate_pinned(bytes)?;
        let address = self.run(|_current| {
            let mut address = 0;
            let (place, first) = (&raw mut address, host.as_ptr().cast());
            // SAFETY: `place` is valid for one address. The allocation is live. Kernels can access it without a flag
            // at the allocation, because such devices share the host's addresses.
            unsafe { call!(cuMemHostGetDevicePointer_v2(place, first, 0)) }?;
            Ok(address)
        });
        match address {
            Ok(device) => Ok(Mapped { host, device }),
            Err(error) => {
                // SAFETY: a live allocation that is not used again: it is new, and its address is not returned.
                unsafe { self.free_pinned(host, bytes) };
                Err(error)
            }
        }
    }

    unsafe fn read_mapped(&self, destination: &mut [u8], source: Mapped) -> Outcome<()> {
        self.run(|current| self.wait(current))?;
        // SAFETY: the source has the bytes and no conflicting work: the caller's contract. They are initialised by
        // `allocate_pinned`, and the work that writes them is done. `destination` is borrowed mutably, so it does not
        // overlap.
        unsafe {
            let source = source.host.as_ptr();
            source.copy_to_nonoverlapping(destination.as_mut_ptr(), destination.len());
        }
        Ok(())
    }
}
