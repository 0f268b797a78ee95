//! Registers of a warpgroup, which are only counted.

/// Releases registers until each thread of the warpgroup has `COUNT`.
///
/// # Safety
/// 1. All threads of the warpgroup make the call together, converged.
/// 2. The kernel states its bounds, and each thread has at least `COUNT` registers.
/// 3. Since the last such call all threads of the warpgroup have passed a barrier.
#[track_caller]
pub unsafe fn decrease_registers<const COUNT: u32>() {
    simt::set_max_registers(COUNT, false);
}

/// Waits until each thread of the warpgroup can have `COUNT` registers.
///
/// # Safety
/// As for [`decrease_registers`], except that each thread has at most `COUNT` registers.
#[track_caller]
pub unsafe fn increase_registers<const COUNT: u32>() {
    simt::set_max_registers(COUNT, true);
}
