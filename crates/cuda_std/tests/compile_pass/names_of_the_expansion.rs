//! Functions that a kernel calls have any names, and kernels and parameters those of keywords.

use cuda_std::kernel::{Kernel, SafeKernel};
use cuda_std::prelude::*;

fn body(x: f32) -> f32 {
    2.0 * x
}

fn ends_with_its_launch(x: f32) -> f32 {
    x + 1.0
}

#[kernel]
pub fn doubled(x: Global<f32>, y: GlobalMut<f32>) {
    let i = thread::unique_index();
    let x = x.get(i.get()).unwrap_or(0.0);
    if let Some(y) = y.own(i) {
        y.set(ends_with_its_launch(body(x)));
    }
}

#[kernel]
pub fn r#loop(r#type: Global<f32>, r#in: u32) {
    let _ = (r#type, r#in);
}

fn of<K: SafeKernel>(_: K) -> (&'static str, &'static [&'static str]) {
    (K::NAME, K::VIEWS)
}

fn main() {
    assert_eq!(of(doubled).0, "doubled");
    // PTX knows no `r#`.
    assert_eq!(of(r#loop), ("loop", &["type", "", ""][..]));
    assert_eq!(format!("{:?}", r#loop()), "loop");
    let signature = <r#loop as Kernel>::SIGNATURE.unwrap();
    assert!(format!("{signature:?}").contains("::loop("), "{signature:?}");
}
