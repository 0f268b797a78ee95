//! Registers of a warpgroup: counted, and no more.

/// Gives registers back until each thread of the warpgroup has `COUNT`.
#[track_caller]
pub fn decrease_registers<const COUNT: u32>() {
    simt::set_max_registers(COUNT, false);
}

/// Waits until each thread of the warpgroup can have `COUNT` registers.
#[track_caller]
pub fn increase_registers<const COUNT: u32>() {
    simt::set_max_registers(COUNT, true);
}
