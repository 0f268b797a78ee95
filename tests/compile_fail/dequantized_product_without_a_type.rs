//! A product of quantised matrices whose outputs have no default type.

use tilewright::{Matmul, Matrix};

fn product(a: &Matrix<i8>) {
    let _ = Matmul::dequantized(a, a).run();
}

fn main() {}
