//! A kernel is one PTX entry, so it has one type.

use cuda_std::prelude::*;

/// Doubles each element.
#[kernel]
pub fn double<T: Float>(y: GlobalMut<T>) {
    if let Some(y) = y.own(thread::unique_index()) {
        y.set(y.get() + y.get());
    }
}

fn main() {}
