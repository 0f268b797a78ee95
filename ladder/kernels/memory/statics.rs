//! Static and dynamic global memory: `u += v`, where `u` and `v` are arrays that the
//! module declares, and where they are buffers that the host allocated.
//!
//! Step: the host reaches the arrays by their names, as `cudaMemcpyToSymbol` does; a kernel
//! needs no parameters for them, and their length is a constant.
//!
//! Prediction: no difference in time: both are global memory.

use cuda_std::prelude::*;

/// Elements of [`STATIC_U`] and of [`STATIC_V`].
pub const STATIC_ELEMENTS: usize = 1 << 20;

global_array! {
    /// What is added to.
    pub static STATIC_U: [f32; STATIC_ELEMENTS] = [0.0; STATIC_ELEMENTS];
}

global_array! {
    /// What is added.
    pub static STATIC_V: [f32; STATIC_ELEMENTS] = [0.0; STATIC_ELEMENTS];
}

/// Adds `v` to `u`, each thread its own element.
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
