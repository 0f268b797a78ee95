//! Padding bytes are not initialised, so they cannot be passed to the device.

use cuda_std::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Padded {
    first: u8,
    second: u32,
}

#[kernel]
pub fn add(numbers: Padded, y: GlobalMut<u32>) {
    let _ = (numbers.first, numbers.second, y);
}

fn main() {}
