//! Softmax, normalisation, sums of exponentials and quantisation of rows under criterion, with torch and a copy in the same
//! run: `cargo bench --bench rows`.

mod common;
mod rivals;

use common::cases::Case;
use common::{copies, criterion, row_values, rows};
use rivals::Rivals;
use std::process::ExitCode;
use tilewright::Device;

fn main() -> ExitCode {
    criterion::main(cases, Rivals::of_rows)
}

fn cases(device: &Device) -> Vec<Case> {
    let of_rows = [copies::cases(device), rows::cases(device)].concat();
    of_rows
        .into_iter()
        .chain(row_values::cases(device))
        .collect()
}
