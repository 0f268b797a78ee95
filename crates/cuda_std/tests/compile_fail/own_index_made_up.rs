//! Only `own_index` makes an index, so it is the own one.

use cuda_std::prelude::*;
use cuda_std::thread::OwnIndex;

#[kernel]
pub fn write_first(y: GlobalMut<f32>) {
    let _ = y.own(OwnIndex { index: 0 });
}

fn main() {}
