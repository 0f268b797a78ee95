//! Each kernel of the library runs as the PTX of each architecture that it is checked in for, and returns the bits of
//! the kernel as Rust. A kernel that no call here launches fails the test, unless [`TOO_LARGE`] says why.

#[path = "../common/mod.rs"]
mod common;

mod cases;
mod lines;
mod narrow;
mod numbers;
mod products;
mod quantised;
mod reductions;
mod runner;

use runner::{Image, Runner, images};
use std::collections::BTreeSet;

/// Kernels of f64 products by residues, which the library takes from 3072 x 3072 x 3072 multiply-adds on: too many for
/// a simulator. `tests/exact/netlib.rs` runs them on a GPU.
const TOO_LARGE: [&str; 6] = [
    "matmul_left_f64_nt",
    "matmul_mma_left_f64_nt",
    "residues_combine_f64",
    "residues_combine_words_f64",
    "residues_lines_f64",
    "residues_of_f64",
];

#[test]
fn each_image_of_each_kernel_has_the_bits_of_its_source() {
    let runner = Runner::default();
    let cases = [
        reductions::cases(),
        lines::cases(),
        products::cases(),
        narrow::cases(),
        quantised::cases(),
    ];
    runner.run_all(&cases.into_iter().flatten().collect::<Vec<_>>());
    let ran = runner.ran();
    let is_left = |it: &Image| !ran.contains(it) && !TOO_LARGE.contains(&it.kernel.as_str());
    let left: Vec<Image> = images().into_iter().filter(is_left).collect();
    assert!(
        left.is_empty(),
        "no case runs {} images: {left:#?}",
        left.len()
    );
    let kernels: BTreeSet<&str> = ran.iter().map(|it| it.kernel.as_str()).collect();
    let needless = TOO_LARGE.iter().find(|it| kernels.contains(**it));
    assert_eq!(needless, None, "a case runs it");
}
