//! Barriers in shared memory. The simulator checks that an address is an initialised barrier, and
//! reports violations.

/// Makes the word a barrier whose phases end with `arrivals` arrivals.
///
/// # Safety
/// 1. None: the simulator checks the address.
#[track_caller]
pub unsafe fn mbarrier_init(barrier: *mut u64, arrivals: u32) {
    simt::mbarrier_init(barrier.addr(), arrivals);
}

/// Makes this thread's initialised barriers visible to the cluster and to bulk copies.
#[track_caller]
pub fn fence_mbarrier_init() {
    simt::fence_mbarrier_init();
}

/// Arrives at a barrier of this block.
///
/// # Safety
/// 1. None: the simulator checks the address.
#[track_caller]
pub unsafe fn mbarrier_arrive(barrier: *mut u64) {
    simt::mbarrier_arrive(barrier.addr());
}

/// Arrives at the barrier at the same offset in the block of rank `rank`.
///
/// # Safety
/// 1. None: the simulator checks the address and the block.
#[track_caller]
pub unsafe fn mbarrier_arrive_in(barrier: *mut u64, rank: u32) {
    simt::mbarrier_arrive(simt::map_shared(barrier.addr(), rank));
}

/// Arrives at a barrier of this block, and makes its phase wait for `bytes` more bytes.
///
/// # Safety
/// 1. None: the simulator checks the address.
#[track_caller]
pub unsafe fn mbarrier_arrive_expect(barrier: *mut u64, bytes: u32) {
    simt::mbarrier_arrive_expect(barrier.addr(), bytes);
}

/// Waits until the phase of this parity has ended.
///
/// # Safety
/// 1. None: the simulator checks the address.
#[track_caller]
pub unsafe fn mbarrier_wait(barrier: *mut u64, parity: bool) {
    simt::mbarrier_wait(barrier.addr(), parity);
}
