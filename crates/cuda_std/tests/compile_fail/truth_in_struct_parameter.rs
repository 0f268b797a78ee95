//! A field may have another type on the host than on the GPU, so a struct is one of which all bytes are a value.

use cuda_std::prelude::*;

#[derive(Clone, Copy, bytemuck::NoUninit)]
#[repr(C)]
pub struct Switch {
    on: bool,
    level: u8,
}

#[kernel]
pub fn set(switch: Switch) {
    assert!(switch.on && switch.level > 0);
}

#[kernel]
pub fn set_all(switches: [bool; 4]) {
    assert!(switches[0]);
}

fn main() {}
