//! Launches of bodies that borrow from their test.

#![allow(dead_code, reason = "no test file uses all of it")]

use simt::{Body, Defect, LaneValues, Launch, Report};

/// [`simt::run`] of a body that starts no host threads.
pub fn run(launch: &Launch<'_>, body: &(dyn Fn() + Sync)) -> Result<Report, Box<Defect>> {
    simt::run(launch, &borrowing(body))
}

/// [`simt::run_cooperative`] of a body that starts no host threads.
pub fn run_cooperative(
    launch: &Launch<'_>,
    body: &(dyn Fn() + Sync),
) -> Result<Report, Box<Defect>> {
    simt::run_cooperative(launch, &borrowing(body))
}

/// [`simt::under_seeds`] of a body that starts no host threads.
pub fn under_seeds(
    seeds: impl IntoIterator<Item = u64>,
    launch: &Launch<'_>,
    body: &(dyn Fn() + Sync),
) -> Result<(), Box<Defect>> {
    simt::under_seeds(seeds, launch, &borrowing(body))
}

fn borrowing(body: &(dyn Fn() + Sync)) -> Body {
    // SAFETY: the callers drop the result before they return, and no kernel of these tests starts a host thread that
    // could use its borrows longer.
    unsafe { Body::borrowing(body) }
}

/// [`simt::warp_collective`] with a `read` that only reads.
#[track_caller]
pub fn warp_collective<R>(
    kind: &'static str,
    mask: u64,
    value: u64,
    read: impl FnOnce(&LaneValues) -> R,
) -> R {
    // SAFETY: the tests' `read` starts no host threads. If it calls an instruction, the test expects its defect.
    unsafe { simt::warp_collective(kind, mask, value, read) }
}
