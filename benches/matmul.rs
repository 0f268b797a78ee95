//! Products under criterion, with cuBLAS in the same run: `cargo bench --bench matmul`. Criterion's
//! elements are floating-point operations.

mod common;
mod rivals;

use common::{criterion, products};
use rivals::Rivals;
use std::process::ExitCode;

fn main() -> ExitCode {
    criterion::main(products::cases, Rivals::of_products)
}
