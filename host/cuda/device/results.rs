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
            // SAFETY: `place` is for one address; the allocation is live, and kernels access it
            // without a flag at the allocation, as devices do that share the host's addresses.
            unsafe { call!(cuMemHostGetDevicePointer_v2(place, first, 0)) }?;
            Ok(address)
        });
        match address {
            Ok(device) => Ok(Mapped { host, device }),
            Err(error) => {
                // SAFETY: (1) the allocation is new, and its address is not returned.
                unsafe { self.free_pinned(host, bytes) };
                Err(error)
            }
        }
    }

    unsafe fn read_mapped(&self, destination: &mut [u8], source: Mapped) -> Outcome<()> {
        self.run(|current| self.wait(current))?;
        // SAFETY: by (1) of the trait the source has the bytes, which `allocate_pinned` initialised;
        // the work that writes them is done, and by (2) there is no other. `destination` is borrowed
        // mutably, so it does not overlap.
        unsafe {
            let source = source.host.as_ptr();
            source.copy_to_nonoverlapping(destination.as_mut_ptr(), destination.len());
        }
        Ok(())
    }
}
