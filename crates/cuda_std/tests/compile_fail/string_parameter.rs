//! A string lives on the host.

use cuda_std::prelude::*;

#[kernel]
pub fn print(message: String, y: GlobalMut<u32>) {
    let _ = (message, y);
}

fn main() {}
