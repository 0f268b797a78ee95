//! A relaxed fence would order nothing: the orders of fences are types.

use cuda_std::atomic::{DeviceScope, Relaxed, fence};
use cuda_std::prelude::*;

#[kernel]
pub fn wait() {
    fence(Relaxed, DeviceScope);
}

fn main() {}
