//! Static and dynamic global memory: `u += v` for arrays that the module declares, and for buffers
//! that the host allocates.
//!
//! Step: the host accesses the arrays by name, as `cudaMemcpyToSymbol` does. The kernel needs no
//! parameters for them, and their length is a constant.
//!
//! Prediction: no difference in time: both are global memory.

use cuda_std::prelude::*;

/// Elements of [`STATIC_U`] and of [`STATIC_V`].
pub const STATIC_ELEMENTS: usize = 1 << 20;

global_array! {
    /// The array that is updated.
    pub static STATIC_U: [f32; STATIC_ELEMENTS] = [0.0; STATIC_ELEMENTS];
}

global_array! {
    /// The summands.
    pub static STATIC_V: [f32; STATIC_ELEMENTS] = [0.0; STATIC_ELEMENTS];
}

/// Adds `v` to `u`. Each thread adds one element.
#[inline(always)]
fn add(u: GlobalMut<f32>, v: GlobalMut<f32>) {
    let u = u.own(thread::unique_index());
    let v = v.own(thread::unique_index());
    if let (Some(u), Some(v)) = (u, v) {
        u.set(u.get() + v.get());
    }
}

/// `STATIC_U += STATIC_V`.
#[kernel(max_threads = 256)]
pub fn memory_add_static() {
    STATIC_U.with(|u| STATIC_V.with(|v| add(u, v)));
}

/// `u += v`.
#[kernel(max_threads = 256)]
pub fn memory_add_buffers(u: GlobalMut<f32>, v: GlobalMut<f32>) {
    add(u, v);
}
