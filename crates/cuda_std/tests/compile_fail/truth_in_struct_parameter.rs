//! A struct parameter may contain only types for which every bit pattern is valid, which excludes `bool`.

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
