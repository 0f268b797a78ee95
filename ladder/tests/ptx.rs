//! Properties of the checked-in PTX that the steps demonstrate.

#[path = "../../tests/common/mod.rs"]
#[macro_use]
mod common;

use std::fs;
use std::path::Path;
use tilewright_ptxas::{FOLDERS, modules};

use common::ptx::{Instructions, assert_signatures, entries};

/// The module for an architecture.
fn module(arch: &str) -> String {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let modules = modules(root, arch).expect("the checked-in modules");
    let module = modules.iter().find(|it| it.folder == FOLDERS[1]);
    fs::read_to_string(&module.expect("the module").path).expect("an unpacked module")
}

fn instructions(arch: &str, kernel: &str) -> Instructions {
    Instructions::of(&module(arch), kernel)
}

#[test]
fn every_entry_has_its_signature() {
    for arch in ["sm_75", "sm_80"] {
        let text = module(arch);
        assert!(entries(&text).len() > 30);
        assert_signatures(&text, "tilewright_ladder_kernels::");
    }
}

#[test]
fn completely_unrolled_sums_have_each_round_written_out() {
    for arch in ["sm_75", "sm_80"] {
        for (threads, rounds) in [(64, 0), (128, 1), (256, 2), (512, 3), (1024, 4)] {
            let kernel = format!("sum_completely_unrolled_{threads}");
            let code = instructions(arch, &kernel);
            // One before the rounds; the last warp's six rounds have its own.
            assert_eq!(code.count("barrier.sync"), 1 + rounds, "{arch} {kernel}");
            assert_eq!(code.count("bar.warp.sync"), 6, "{arch} {kernel}");
        }
    }
}

#[test]
fn private_histograms_are_updated_in_shared_memory() {
    for arch in ["sm_75", "sm_80"] {
        for kernel in [
            "histogram_privatised",
            "histogram_contiguous",
            "histogram_interleaved",
            "histogram_vectors",
            "histogram_aggregated",
        ] {
            let code = instructions(arch, kernel);
            assert!(code.count("atom.shared.add.u32") > 0, "{arch} {kernel}");
            // The commit.
            assert_eq!(code.count("atom.global.add.u32"), 1, "{arch} {kernel}");
            assert_eq!(code.count("st.global"), 0, "{arch} {kernel}");
        }
        let code = instructions(arch, "histogram_vectors");
        // Four loads of 16 bytes, an update for each byte, and one for the bytes of a part that is
        // not whole.
        assert_eq!(code.count("ld.global.nc.v4"), 4, "{arch}");
        assert_eq!(code.count("atom.shared.add.u32"), 4 * 16 + 1, "{arch}");
    }
}

#[test]
fn the_cooperative_sum_reads_vectors_and_adds_once_for_each_block() {
    for arch in ["sm_75", "sm_80"] {
        let code = instructions(arch, "sum_cooperative");
        assert!(code.count("ld.global.nc.v4") > 0, "{arch}");
        assert_eq!(code.count("atom.global.add.u64"), 1, "{arch}");
    }
}
