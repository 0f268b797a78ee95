//! Kernels without one of their barriers, fences or waits. The simulator finds each mutant, unless `known.rs` says
//! why not.
//!
//! `cargo test --package tilewright-kernels-as-ptx --test mutations -- --ignored --nocapture` prints the table of all.

#[path = "../common/mod.rs"]
mod common;

mod cases;
mod known;
mod mutants;
mod planted;

use cases::CASES;
use known::{HARMLESS, rare_seed};
use mutants::{Verdict, unchanged, verdict};
use std::collections::BTreeMap;

/// Seeds of the table, besides those that are known to find a mutant.
const SEEDS: u64 = 8;

#[test]
fn the_first_seed_finds_mutants() {
    let kernels = [
        "reduce_sum_f32",
        "sum_along_f32",
        "scan_inclusive_f32",
        "matmul_tiled_f32_nn",
        "matmul_coarsened_small_f32_nn",
        "matmul_mma_f16_nn",
    ];
    for case in CASES.iter().filter(|it| kernels.contains(&it.kernel)) {
        let (bits, places) = unchanged(case);
        assert!(!places.is_empty(), "{}", case.name);
        for place in places {
            let verdict = verdict(case, &bits, &place, 0..1);
            let is_finding = matches!(verdict, Verdict::Finding(..));
            assert!(is_finding, "{place}: {verdict:?}");
        }
    }
}

#[test]
#[ignore = "takes half a minute"]
fn all_mutants() {
    let mut counts = BTreeMap::<&str, usize>::new();
    let (mut unreached, mut same) = (Vec::new(), Vec::new());
    println!("| call | kernel | instruction removed | without it | first seed |");
    println!("|---|---|---|---|---:|");
    for case in CASES {
        let (bits, places) = unchanged(case);
        for place in places {
            let mutant = (place.kernel, place.number);
            let mut verdict = verdict(case, &bits, &place, 0..SEEDS);
            if let (Verdict::NoDifference, Some(seed)) = (&verdict, rare_seed(mutant)) {
                verdict = mutants::verdict(case, &bits, &place, seed..seed + 1);
            }
            println!("| {} | {place} | {verdict} |", case.name);
            *counts.entry(verdict.name()).or_default() += 1;
            match verdict {
                Verdict::NotReached => unreached.push(mutant),
                Verdict::NoDifference => same.push(mutant),
                Verdict::Finding(..) | Verdict::WrongBits(_) => {}
            }
        }
    }
    println!("\n{counts:?}");
    assert_eq!(unreached, [], "instructions that nothing executes");
    assert_eq!(same, HARMLESS, "mutants that nothing finds");
}
