//! Only `unique_index` makes a unique index, so it is the thread's own.

use cuda_std::prelude::*;
use cuda_std::thread::UniqueIndex;

#[kernel]
pub fn write_first(y: GlobalMut<f32>) {
    let _ = y.own(UniqueIndex { index: 0 });
}

fn main() {}
