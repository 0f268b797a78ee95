//! The view of a static array ends with its launch, like other views.

use cuda_std::prelude::*;

global_array! {
    static TOTALS: [f32; 4] = [0.0; 4];
}

fn totals() -> GlobalMut<'static, f32> {
    TOTALS.with(|totals| totals)
}

fn main() {}
