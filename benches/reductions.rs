//! Reductions under criterion, with CUB in the same run: `cargo bench --bench reductions`.

mod common;
mod rivals;

use common::{criterion, reductions};
use rivals::Rivals;
use std::process::ExitCode;

fn main() -> ExitCode {
    criterion::main(reductions::cases, Rivals::of_reductions)
}
