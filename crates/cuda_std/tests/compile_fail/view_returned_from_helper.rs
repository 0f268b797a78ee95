//! A helper function returns a view with the lifetime that it was given, and no longer one.

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
