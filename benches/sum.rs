//! Sums under criterion, with CUB in the same run: `cargo bench --bench sum`.

mod common;
mod rivals;

use common::{criterion, sums};
use rivals::Rivals;
use std::process::ExitCode;

fn main() -> ExitCode {
    criterion::main(sums::cases, Rivals::of_sums)
}
