//! Device memory: from a pool of our own where the driver has pools, else straight from the
//! driver. And page-locked memory of the host.

use super::context::{Current, Stream};
use super::driver::{Failure, call};
use super::properties::attribute_of;
use cudarc::driver::sys;
use std::mem;
use std::ptr::{self, NonNull};

/// Where a device's memory comes from.
#[derive(Debug)]
pub struct Allocator {
    /// Allocation in the order of the stream; `None` on devices and systems without pools.
    pool: Option<sys::CUmemoryPool>,
}

// SAFETY: the driver's functions may be called with one pool from any thread.
unsafe impl Send for Allocator {}
// SAFETY: as for `Send`.
unsafe impl Sync for Allocator {}

impl Allocator {
    pub fn new(device: sys::CUdevice, _current: &Current<'_>) -> Result<Self, Failure> {
        let has_pools = attribute_of(
            device,
            sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
        )?;
        let pool = if has_pools != 0 {
            Some(create_pool(device)?)
        } else {
            None
        };
        Ok(Self { pool })
    }

    /// Memory straight from the driver, for devices that exchange it: other users of the driver
    /// free it with `cuMemFree`, as this allocator frees theirs.
    #[cfg(feature = "cust")]
    pub fn of_the_driver() -> Self {
        Self { pool: None }
    }

    /// Whether memory comes straight from the driver.
    #[cfg(feature = "cust")]
    pub fn is_the_drivers(&self) -> bool {
        self.pool.is_none()
    }

    /// Allocates memory for work that `stream` is given from now on. When there is none, it
    /// waits for the stream, gives unused memory of the pool back, and tries once more.
    pub fn allocate(
        &self,
        bytes: usize,
        stream: &Stream,
        current: &Current<'_>,
    ) -> Result<u64, Failure> {
        match self.try_allocate(bytes, stream) {
            Err(Failure::OUT_OF_MEMORY) => {
                stream.synchronize(current)?;
                self.trim()?;
                self.try_allocate(bytes, stream)
            }
            result => result,
        }
    }

    fn try_allocate(&self, bytes: usize, stream: &Stream) -> Result<u64, Failure> {
        let mut address = 0;
        let place = &raw mut address;
        match self.pool {
            // SAFETY: `place` is for one address; pool and stream are alive.
            Some(pool) => unsafe {
                call!(cuMemAllocFromPoolAsync(place, bytes, pool, stream.raw()))
            },
            // SAFETY: `place` is for one address, and a context is current (`allocate`).
            None => unsafe { call!(cuMemAlloc_v2(place, bytes)) },
        }?;
        Ok(address)
    }

    /// Gives memory back to the driver that the pool keeps for later.
    fn trim(&self) -> Result<(), Failure> {
        match self.pool {
            // SAFETY: the pool is alive.
            Some(pool) => unsafe { call!(cuMemPoolTrimTo(pool, 0)) },
            None => Ok(()),
        }
    }

    /// Bytes that allocations could have: those of the device that are free, and those that the
    /// pool keeps.
    pub fn free_bytes(&self, _current: &Current<'_>) -> Result<u64, Failure> {
        use sys::CUmemPool_attribute_enum as Attribute;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both are places for one number, and a context is current.
        unsafe { call!(cuMemGetInfo_v2(&raw mut free, &raw mut total)) }?;
        let Some(pool) = self.pool else {
            return Ok(free as u64);
        };
        let read = |attribute| {
            let mut bytes = 0_u64;
            let place = (&raw mut bytes).cast();
            // SAFETY: the pool is alive, and both attributes are numbers of 64 bits.
            unsafe { call!(cuMemPoolGetAttribute(pool, attribute, place)) }?;
            Ok(bytes)
        };
        let reserved = read(Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
        let used = read(Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?;
        // Other threads may allocate between the two.
        Ok(free as u64 + reserved.saturating_sub(used))
    }

    /// Lets the device `peer`, which can access this one's memory, do so. Memory that comes straight from the
    /// driver stays closed; copies to other devices go by way of the host.
    pub fn open_to(&self, peer: sys::CUdevice, _current: &Current<'_>) -> Result<(), Failure> {
        let Some(pool) = self.pool else {
            return Ok(());
        };
        let location = sys::CUmemLocation {
            type_: sys::CUmemLocationType_enum::CU_MEM_LOCATION_TYPE_DEVICE,
            id: peer,
        };
        let flags = sys::CUmemAccess_flags_enum::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        let access = sys::CUmemAccessDesc { location, flags };
        // SAFETY: the pool is alive, and there is one description.
        unsafe { call!(cuMemPoolSetAccess(pool, &raw const access, 1)) }
    }

    /// Frees an allocation after the work that the stream was given before.
    ///
    /// # Safety
    /// 1. `address` is a live allocation of this allocator, which is not used again.
    pub unsafe fn free(
        &self,
        address: u64,
        stream: &Stream,
        current: &Current<'_>,
    ) -> Result<(), Failure> {
        if self.pool.is_some() {
            // SAFETY: by (1) this is the last use of the allocation; the stream is alive.
            return unsafe { call!(cuMemFreeAsync(address, stream.raw())) };
        }
        stream.synchronize(current)?;
        // SAFETY: by (1) this is the last use, and no work that uses it is left in the stream.
        unsafe { call!(cuMemFree_v2(address)) }
    }

    /// Gives the pool back; memory that is still in use stays until it is freed.
    ///
    /// # Safety
    /// 1. The allocator is not used again.
    pub unsafe fn destroy(&self, _current: &Current<'_>) {
        if let Some(pool) = self.pool {
            // SAFETY: by (1) this is the last use of the pool.
            let _ = unsafe { call!(cuMemPoolDestroy(pool)) };
        }
    }
}

/// Page-locked host memory, filled with zero bytes. It begins with a page.
pub fn allocate_pinned(bytes: usize, _current: &Current<'_>) -> Result<NonNull<u8>, Failure> {
    let mut first = ptr::null_mut();
    // Other devices' copies know that it is page-locked, too.
    let flags = sys::CU_MEMHOSTALLOC_PORTABLE;
    // SAFETY: `first` is a place for one pointer, and a context is current.
    unsafe { call!(cuMemHostAlloc(&raw mut first, bytes, flags)) }?;
    let first = NonNull::new(first.cast::<u8>()).ok_or(Failure::OUT_OF_MEMORY)?;
    // SAFETY: the driver has just allocated the bytes, and nothing else refers to them.
    unsafe { first.write_bytes(0, bytes) };
    Ok(first)
}

/// Frees page-locked host memory.
///
/// # Safety
/// 1. `first` is a live allocation of `allocate_pinned`, which nothing uses any more.
pub unsafe fn free_pinned(first: NonNull<u8>, _current: &Current<'_>) -> Result<(), Failure> {
    // SAFETY: by (1) this is the last use of the allocation.
    unsafe { call!(cuMemFreeHost(first.as_ptr().cast())) }
}

/// A pool that keeps what is freed: asking the driver for fresh memory costs far more than a
/// temporary's kernel. It is our own, so other users of the device's default pool see nothing.
fn create_pool(device: sys::CUdevice) -> Result<sys::CUmemoryPool, Failure> {
    // SAFETY: zero is a value of every field: no handle type, no security attributes, no location.
    let mut properties: sys::CUmemPoolProps = unsafe { mem::zeroed() };
    properties.allocType = sys::CUmemAllocationType_enum::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type_ = sys::CUmemLocationType_enum::CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    let mut pool = ptr::null_mut();
    // SAFETY: `pool` is a place for one handle, and the properties are complete.
    unsafe { call!(cuMemPoolCreate(&raw mut pool, &raw const properties)) }?;

    const RELEASE_THRESHOLD: sys::CUmemPool_attribute =
        sys::CUmemPool_attribute_enum::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    let mut keep_all_bytes = u64::MAX;
    let value = (&raw mut keep_all_bytes).cast();
    // SAFETY: the pool is alive, and this attribute's value is a number of 64 bits.
    unsafe { call!(cuMemPoolSetAttribute(pool, RELEASE_THRESHOLD, value)) }?;
    Ok(pool)
}
