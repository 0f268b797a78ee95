//! A variable or a parameter can have the name of a kernel, both in a kernel and in host code.

use cuda_std::kernel::{Kernel, SafeKernel};
use cuda_std::prelude::*;

#[kernel]
pub fn sum(x: Global<f32>, y: GlobalMut<f32>) {
    let sum = x.get(0).unwrap_or(0.0);
    if let Some(y) = y.own(thread::unique_index()) {
        y.set(sum);
    }
}

#[kernel]
pub fn local(local: u32) {
    let sum = local;
    let _ = sum;
}

#[kernel]
pub fn body(body: u32) {
    let _ = body;
}

fn name<K: SafeKernel>(_: K) -> &'static str {
    K::NAME
}

fn main() {
    assert_eq!([name(sum), name(local), name(body)], ["sum", "local", "body"]);
    // The type has the name, too.
    assert_eq!(<sum as Kernel>::NAME, "sum");
    assert_eq!(name(sum()), "sum");
    let sum: f32 = [1.0, 2.0].iter().sum();
    let (local, mut body) = (sum, 0);
    body += 1;
    assert_eq!((local, body), (3.0, 1));
}
