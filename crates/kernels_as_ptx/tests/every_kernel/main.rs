//! Each kernel of the library runs as the PTX of each architecture that it is checked in for, and returns the bits of
//! the kernel as Rust. A kernel that no case here launches fails the test.

#[path = "../common/mod.rs"]
mod common;

mod cases;
mod lines;
mod narrow;
mod numbers;
mod products;
mod quantised;
mod reductions;
mod residues;
mod runner;

use runner::{Image, Runner, images};

#[test]
fn each_image_of_each_kernel_has_the_bits_of_its_source() {
    let runner = Runner::default();
    let cases = [
        reductions::cases(),
        lines::cases(),
        products::cases(),
        narrow::cases(),
        quantised::cases(),
        residues::cases(),
    ];
    runner.run_all(&cases.into_iter().flatten().collect::<Vec<_>>());
    let ran = runner.ran();
    let left: Vec<Image> = images().difference(&ran).cloned().collect();
    assert!(
        left.is_empty(),
        "no case runs {} images: {left:#?}",
        left.len()
    );
}
