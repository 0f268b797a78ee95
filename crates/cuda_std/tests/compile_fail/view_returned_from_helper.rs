//! A helper function cannot return a view with a longer lifetime than it was given.

use cuda_std::prelude::*;

fn forever(x: Global<'_, f32>) -> Global<'static, f32> {
    x
}

fn array() -> SharedArray<'static, f32, 4> {
    shared_array![f32; 4]
}

fn dynamic() -> cuda_std::shared::SharedSlice<'static, f32> {
    let memory = dynamic_shared![f32];
    memory
}

fn main() {}
