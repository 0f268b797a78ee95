//! Launches of bodies that borrow from their test.

#![allow(dead_code, reason = "no test file uses all of it")]

use simt::{Body, Defect, Launch, Report};

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
    // SAFETY: the callers drop the result before they return, and no kernel of these tests starts a host thread
    // that could use what it borrows any longer.
    unsafe { Body::borrowing(body) }
}
