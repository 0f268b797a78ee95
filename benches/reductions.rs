//! Reductions, segments, scans, selections and sums without an order under criterion, with CUB in the same run:
//! `cargo bench --bench reductions`.

mod common;
mod rivals;

use common::cases::Case;
use common::{criterion, reductions, reproducible, scans, segments, selections};
use rivals::Rivals;
use std::process::ExitCode;
use tilewright::Device;

fn main() -> ExitCode {
    criterion::main(cases, Rivals::of_reductions)
}

fn cases(device: &Device) -> Vec<Case> {
    let of_kind = [
        reductions::cases,
        segments::cases,
        scans::cases,
        selections::cases,
        reproducible::cases,
    ];
    of_kind.iter().flat_map(|cases| cases(device)).collect()
}
