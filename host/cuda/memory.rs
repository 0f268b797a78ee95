//! Device memory, from a private pool if the driver has pools, otherwise directly from the driver; and page-locked
//! host memory.

use super::context::{Current, Stream};
use super::driver::{Failure, call};
use super::properties::attribute_of;
use super::streams::Streams;
use crate::backend::MemoryUse;
use cuda_bindings::driver::sys;
use std::mem;
use std::ptr::{self, NonNull};

/// The source of a device's memory.
#[derive(Debug)]
pub struct Allocator {
    /// Allocates in stream order; `None` on devices and systems without pools.
    pool: Option<sys::CUmemoryPool>,
}

// SAFETY: any thread may call the driver's functions with a pool.
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

    /// Memory directly from the driver, for devices that exchange it: other users of the driver free it with
    /// `cuMemFree`, and this allocator frees theirs in the same way.
    #[cfg(feature = "cust")]
    pub fn of_the_driver() -> Self {
        Self { pool: None }
    }

    /// Whether memory comes directly from the driver.
    #[cfg(feature = "cust")]
    pub fn is_the_drivers(&self) -> bool {
        self.pool.is_none()
    }

    /// Allocates memory for later work of `stream`. If there is not enough, it waits for all `streams` of the device,
    /// returns unused memory of the pool to the driver, and tries once more.
    pub fn allocate(
        &self,
        bytes: usize,
        stream: &Stream,
        streams: &Streams,
        current: &Current<'_>,
    ) -> Result<u64, Failure> {
        match self.try_allocate(bytes, stream) {
            Err(Failure::OUT_OF_MEMORY) => {
                streams.synchronize(current)?;
                self.trim(0)?;
                self.try_allocate(bytes, stream)
            }
            result => result,
        }
    }

    fn try_allocate(&self, bytes: usize, stream: &Stream) -> Result<u64, Failure> {
        let mut address = 0;
        let place = &raw mut address;
        match self.pool {
            // SAFETY: `place` is valid for one address; pool and stream are alive.
            Some(pool) => unsafe {
                call!(cuMemAllocFromPoolAsync(place, bytes, pool, stream.raw()))
            },
            // SAFETY: `place` is valid for one address, and a context is current (`allocate`).
            None => unsafe { call!(cuMemAlloc_v2(place, bytes)) },
        }?;
        Ok(address)
    }

    /// Returns what the pool keeps beyond `kept` bytes to the driver.
    pub fn trim(&self, kept: u64) -> Result<(), Failure> {
        use sys::CUmemPool_attribute_enum::CU_MEMPOOL_ATTR_USED_MEM_CURRENT as USED;
        let Some(pool) = self.pool else {
            return Ok(());
        };
        let mut used = 0_u64;
        let place = (&raw mut used).cast();
        // SAFETY: the pool is alive, and this attribute is a 64-bit number.
        unsafe { call!(cuMemPoolGetAttribute(pool, USED, place)) }?;
        let reserved = usize::try_from(used.saturating_add(kept)).unwrap_or(usize::MAX);
        // SAFETY: the pool is alive.
        unsafe { call!(cuMemPoolTrimTo(pool, reserved)) }
    }

    /// Lets the pool keep `kept` bytes when the host waits.
    pub fn keep(&self, kept: u64) -> Result<(), Failure> {
        self.pool.map_or(Ok(()), |pool| keep(pool, kept))
    }

    /// The use of the device's memory. Without a pool, the amount allocated here is unknown.
    pub fn memory(&self, _current: &Current<'_>) -> Result<MemoryUse, Failure> {
        use sys::CUmemPool_attribute_enum as Attribute;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both are valid for one number, and a context is current.
        unsafe { call!(cuMemGetInfo_v2(&raw mut free, &raw mut total)) }?;
        let read = |attribute| {
            let mut bytes = 0_u64;
            let Some(pool) = self.pool else {
                return Ok(bytes);
            };
            let place = (&raw mut bytes).cast();
            // SAFETY: the pool is alive, and both attributes are 64-bit numbers.
            unsafe { call!(cuMemPoolGetAttribute(pool, attribute, place)) }?;
            Ok(bytes)
        };
        let reserved = read(Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
        let used = read(Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?;
        Ok(MemoryUse {
            total: total as u64,
            free: free as u64,
            used,
            // Other threads may allocate between the two calls.
            kept: reserved.saturating_sub(used),
        })
    }

    /// Gives `peer` access to this device's memory. `peer` must be able to access it.
    ///
    /// Memory that comes directly from the driver stays closed: copies to other devices go through the host.
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

    /// Frees an allocation after the earlier work of the stream.
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
            // SAFETY: this is the last use of the allocation: the caller's contract. The stream is alive.
            return unsafe { call!(cuMemFreeAsync(address, stream.raw())) };
        }
        stream.synchronize(current)?;
        // SAFETY: this is the last use: the caller's contract. No work that uses it is left in the stream.
        unsafe { call!(cuMemFree_v2(address)) }
    }

    /// Destroys the pool. Memory that is still in use stays until it is freed.
    ///
    /// # Safety
    /// 1. The allocator is not used again.
    pub unsafe fn destroy(&self, _current: &Current<'_>) {
        if let Some(pool) = self.pool {
            // SAFETY: this is the last use of the pool: the caller's contract.
            let _ = unsafe { call!(cuMemPoolDestroy(pool)) };
        }
    }
}

/// Page-locked host memory, filled with zero bytes, aligned to a page.
pub fn allocate_pinned(bytes: usize, _current: &Current<'_>) -> Result<NonNull<u8>, Failure> {
    let mut first = ptr::null_mut();
    // So that other devices' copies also treat it as page-locked.
    let flags = sys::CU_MEMHOSTALLOC_PORTABLE;
    // SAFETY: `first` is valid for one pointer, and a context is current.
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
    // SAFETY: this is the last use of the allocation: the caller's contract.
    unsafe { call!(cuMemFreeHost(first.as_ptr().cast())) }
}

/// A pool that keeps freed memory, because asking the driver for fresh memory costs far more than the kernel of a
/// temporary. It is private, so other users of the device's default pool are not affected.
fn create_pool(device: sys::CUdevice) -> Result<sys::CUmemoryPool, Failure> {
    // SAFETY: zero is a valid value of every field: no handle type, no security attributes, no location.
    let mut properties: sys::CUmemPoolProps = unsafe { mem::zeroed() };
    properties.allocType = sys::CUmemAllocationType_enum::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type_ = sys::CUmemLocationType_enum::CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    let mut pool = ptr::null_mut();
    // SAFETY: `pool` is valid for one handle, and the properties are complete.
    unsafe { call!(cuMemPoolCreate(&raw mut pool, &raw const properties)) }?;

    keep(pool, u64::MAX)?;
    Ok(pool)
}

/// Lets `pool` keep `kept` bytes of freed memory when the host waits.
fn keep(pool: sys::CUmemoryPool, mut kept: u64) -> Result<(), Failure> {
    use sys::CUmemPool_attribute_enum::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD as THRESHOLD;
    let value = (&raw mut kept).cast();
    // SAFETY: the pool is alive, and this attribute's value is a 64-bit number.
    unsafe { call!(cuMemPoolSetAttribute(pool, THRESHOLD, value)) }
}

/// Reads an attribute of the memory at `address` from the driver: zero, if the driver does not know the memory.
///
/// The driver's call for one attribute has an error instead, which `compute-sanitizer` reports.
///
/// # Safety
/// 1. `T` is the type of the attribute's value.
pub unsafe fn read_attribute<T>(
    address: u64,
    mut attribute: sys::CUpointer_attribute,
    value: &mut T,
) -> Result<(), Failure> {
    let mut place = ptr::from_mut(value).cast();
    let places = (&raw mut attribute, &raw mut place);
    // SAFETY: both are valid for one attribute, and `place` for its value: the caller's contract. The driver checks
    // the address.
    unsafe { call!(cuPointerGetAttributes(1, places.0, places.1, address)) }
}
