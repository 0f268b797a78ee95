//! Helpers for the simulator's tests.

#![allow(dead_code, reason = "no test file uses all of it")]

pub mod child;

use simt::{Defect, Launch, Options, Report};

/// Runs `body` on blocks and threads along x.
pub fn launch(blocks: u32, threads: u32, body: impl Fn() + Sync) -> Result<Report, Box<Defect>> {
    launch_with(&Options::default(), blocks, threads, body)
}

/// [`launch`] with options.
pub fn launch_with(
    options: &Options,
    blocks: u32,
    threads: u32,
    body: impl Fn() + Sync,
) -> Result<Report, Box<Defect>> {
    crate::borrowed::run(&Launch::new("test_kernel", blocks, threads, options), &body)
}

/// Options under which a run is exactly repeatable.
pub fn serial(seed: u64) -> Options {
    Options {
        seed,
        parallel_blocks: false,
        ..Options::default()
    }
}

/// The x index of the running thread in its block.
pub fn thread_x() -> u32 {
    simt::position().thread_idx.x
}

/// The x index of the running block.
pub fn block_x() -> u32 {
    simt::position().block_idx.x
}

/// Waits for the whole block at barrier 0.
#[track_caller]
pub fn sync() {
    simt::block_barrier(simt::BarrierId(0), None);
}
