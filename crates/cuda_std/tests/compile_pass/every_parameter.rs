//! What `#[kernel]` takes: also names that the code it writes could have had.

use cuda_std::kernel::{Kernel, ParamSlots, SafeKernel};
use cuda_std::prelude::*;

/// Every kind of parameter, one of them changed by the kernel.
#[kernel(max_threads = 1024, min_blocks = 1, max_registers = 255)]
#[allow(unused_variables, clippy::too_many_arguments)]
pub fn everything(mut a: u8, b: i64, x: Global<f32>, x_len: usize, body: cuda_std::global::GlobalMut<half::f16>, argument_0: f64, length_2: u32, _unused: bool32, texture: Texture2d) {
    a += 1;
}

/// Another name for a scalar is a scalar.
#[allow(non_camel_case_types)]
type bool32 = u32;

/// No parameter.
#[kernel()]
pub unsafe fn nothing() {}

/// Only where it is asked for.
#[cfg(any())]
#[kernel]
pub fn never(x: Global<DoesNotExist>) {}

fn is_safe<K: SafeKernel>(_: K) {}

fn main() {
    is_safe(everything);
    assert_eq!((everything::NAME, nothing::NAME), ("everything", "nothing"));
    assert_eq!(everything::BOUNDS.max_threads, Some(1024));
    assert_eq!(nothing::BOUNDS.max_threads, None);
    // SAFETY: (1), (2) no element is touched.
    let (x, y) = unsafe { (Global::from_raw_parts(8 as *const f32, 5), GlobalMut::from_raw_parts(16 as *mut half::f16, 6)) };
    // SAFETY: (1) it is not read.
    let texture = unsafe { Texture2d::from_handle(77) };
    let slots = ParamSlots::of((1_u8, -1_i64, x, 2_usize, y, 1.0_f64, 3_u32, 4_u32, texture));
    assert_eq!(slots.as_slice(), [1, u64::MAX, 8, 5, 2, 16, 6, 1.0_f64.to_bits(), 3, 4, 77]);
    assert!(ParamSlots::of(()).as_slice().is_empty());
}
