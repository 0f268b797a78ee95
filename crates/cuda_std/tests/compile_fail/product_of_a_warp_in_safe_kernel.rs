//! A warp's product is undefined if a thread of the warp has branched away; here, all but one have.

use cuda_std::mma::{A, B, C};
use cuda_std::prelude::*;
use half::f16;

#[kernel(arch = "sm_80")]
pub fn multiply_in_one_lane(c: GlobalMut<f32>) {
    let own = thread::unique_index();
    if own.get() == 0 {
        let product = C::<f32, 16, 8>::zero().add_product(A::<f16, 16, 16>::zero(), B::<f16, 16, 8>::zero());
        if let Some(c) = c.own(own) {
            c.set(product.get(0));
        }
    }
}

fn main() {}
