//! The code that `#[kernel]` generates refers to the device library's items and `core`'s types, whatever names are in
//! scope.

use ::cuda_std::global::{Global, GlobalMut};
use ::cuda_std::kernel::{Kernel, SafeKernel};
use ::cuda_std::{gpu_println, thread};

#[allow(dead_code)]
mod cuda_std {
    pub mod kernel {
        pub trait Kernel {}
        pub unsafe trait SafeKernel {}
        pub const fn assert_scalar<T>() {}
    }
}

#[allow(dead_code, non_camel_case_types)]
type usize = u8;
#[allow(dead_code, non_camel_case_types)]
struct str;

/// A loop, a printed line and views.
#[::cuda_std::kernel(max_threads = 64)]
pub fn scale(factor: f32, x: Global<f32>, y: GlobalMut<f32>) {
    for i in thread::unique_indices(y.len()) {
        if let (Some(x), Some(y)) = (x.get(i.get()), y.own(i)) {
            gpu_println!("{}", factor);
            y.set(factor * x);
        }
    }
}

fn is_safe<K: SafeKernel>(_: K) {}

fn main() {
    is_safe(scale);
    assert_eq!(scale::NAME, "scale");
}
