//! The rounds of loops in a constant are no steps of a kernel.

use cuda_std::prelude::*;

#[device_function]
const fn power(base: u32, exponent: u32) -> u32 {
    let (mut result, mut left) = (1, exponent);
    while left > 0 {
        result *= base;
        left -= 1;
    }
    result
}

fn main() {}
