//! Only `unique_index` makes an index, so it is the own one.

use cuda_std::prelude::*;
use cuda_std::thread::UniqueIndex;

#[kernel]
pub fn write_first(y: GlobalMut<f32>) {
    let _ = y.own(UniqueIndex { index: 0 });
}

fn main() {}
