//! Static arrays in global and constant memory.

use crate::put;
use cuda_std::prelude::*;

global_array! {
    /// The array to which [`add_v_to_u`] adds.
    pub static U: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
}

global_array! {
    /// The array that [`add_v_to_u`] adds.
    pub static V: [f32; 4] = [5.0, 6.0, 7.0, 8.0];
}

global_array! {
    /// An array of odd length with narrow elements, for [`shift`].
    pub static BYTES: [u8; 13] = [0; 13];
}

global_array! {
    /// Counters of [`count`].
    pub static COUNTERS: [u32; 3] = [0; 3];
}

constant_array! {
    /// Factors that the host writes before a launch of [`scale`].
    pub static FACTORS: [f64; 3] = [1.0, 10.0, 100.0];
}

/// `U += V`, element by element.
#[kernel]
pub fn add_v_to_u() {
    U.with(|u| {
        V.with(|v| {
            let u = u.own(thread::unique_index());
            let v = v.own(thread::unique_index());
            if let (Some(u), Some(v)) = (u, v) {
                u.set(u.get() + v.get());
            }
        });
    });
}

/// Rotates [`BYTES`] by one element and adds `step`.
///
/// # Safety
/// 1. The launch has one block.
#[kernel]
pub unsafe fn shift(step: u8) {
    let own = thread::rank_in_block() as usize;
    // SAFETY: the comparison bounds the index. The launch has one block (the caller's contract), so
    // the barrier orders reads before writes.
    BYTES.with(|bytes| unsafe {
        let byte = (own < bytes.len()).then(|| bytes.load(own));
        thread::sync_threads();
        if let Some(byte) = byte {
            bytes.store((own + 1) % bytes.len(), byte.wrapping_add(step));
        }
    });
}

/// Each thread adds 1 to one of [`COUNTERS`].
#[kernel]
pub fn count() {
    let which = thread::unique_index().get() % COUNTERS.len();
    // SAFETY: the remainder bounds the index. All accesses are atomic.
    COUNTERS.with(|counters| unsafe { counters.atomic_add(which, 1) });
}

/// Multiplies `x` by the elements of [`FACTORS`] in turn.
#[kernel]
pub fn scale(x: Global<f64>, y: GlobalMut<f64>) {
    let i = thread::unique_index();
    let factor = FACTORS.get(i.get() % FACTORS.len());
    if let (Some(factor), Some(x), Some(y)) = (factor, x.get(i.get()), y.own(i)) {
        y.set(factor * x);
    }
}

/// Writes the lengths of the arrays, and the address of [`U`] modulo 16.
///
/// # Safety
/// 1. `out` has 4 elements, and the launch one thread.
#[kernel]
pub unsafe fn shapes(out: GlobalMut<u64>) {
    let address = U.with(|u| u.as_mut_ptr() as u64);
    // SAFETY: the length is the caller's contract.
    unsafe {
        put(out, 0, U.len() as u64);
        put(out, 1, BYTES.with(|bytes| bytes.len()) as u64);
        put(out, 2, FACTORS.len() as u64);
        put(out, 3, address % 16);
    }
}
