//! Products under criterion, with cuBLAS in the same run: `cargo bench --bench
//! matmul`. What criterion calls an element is one floating-point operation.

mod common;
mod rivals;

use common::{criterion, products};
use rivals::Rivals;
use std::process::ExitCode;

fn main() -> ExitCode {
    criterion::main(products::cases, Rivals::of_products)
}
