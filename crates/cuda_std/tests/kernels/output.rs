//! Lines that kernels print, and panics whose locations the host receives.

use cuda_std::prelude::*;
use half::{bf16, f16};

/// Prints a line of each kind of value from the first thread.
#[kernel]
pub fn print_values(small: i8, large: u64, x: f32, y: f64) {
    if thread::unique_index().get() != 0 {
        return;
    }
    gpu_println!("no value");
    gpu_println!("{small} {large} {x} {y:?}");
    gpu_println!("{:*>8.3}|{:<6}|{:#06x}|{:$^+9}", x, small, large & 0xFF, y);
    gpu_println!("{0} {1} {0}", x > 1.0, 'x');
    gpu_println!("{} {} {{}}", f16::from_f32(x), bf16::from_f32(x));
}

// A plain name, which the expansion for a GPU must not hide.
const NOTE: u32 = 1024;

/// Each thread prints its index and the square of it.
#[kernel(max_threads = NOTE)]
pub fn print_threads() {
    let i = thread::unique_index().get();
    gpu_println!("thread {i} of block {}: {}", thread::block_idx_x(), i * i);
}

/// Thread 5 of block 1 prints a line and then panics by an assertion.
#[kernel]
pub fn assert_in_one_thread(limit: u32) {
    let index = thread::rank_in_block();
    if thread::block_idx_x() == 1 && index == 5 {
        gpu_println!("before the assertion");
    }
    assert!(thread::block_idx_x() * index < limit, "too far"); // panic: assert_in_one_thread
}
