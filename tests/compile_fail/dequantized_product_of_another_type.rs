//! A product of quantised matrices as i32, which its epilogue is not computed in.

use tilewright::{Matmul, Matrix, Result};

fn product(a: &Matrix<i8>) -> Result<Matrix<i32>> {
    Matmul::dequantized(a, a).run_as()
}

fn main() {}
