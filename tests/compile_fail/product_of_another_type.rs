//! A product of a type that has none.

use tilewright::{Device, Matrix};

fn product(device: &Device, words: &Matrix<u32>) {
    let _ = device.matmul(words, words);
}

fn main() {}
