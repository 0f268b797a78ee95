//! Operations of a program's own beside those of the library that compute the same, under criterion:
//! `cargo bench --bench custom --features custom`. Scans have CUB in the same run.

#[path = "../common/mod.rs"]
mod common;
mod operations;
#[path = "../rivals/mod.rs"]
mod rivals;

use common::criterion;
use rivals::Rivals;
use std::process::ExitCode;

fn main() -> ExitCode {
    criterion::main(operations::cases, Rivals::of_reductions)
}
