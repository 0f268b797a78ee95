//! Broken rules become reports, at once and with the right source line. Nothing hangs, and the next launch works.

#[path = "../borrowed/mod.rs"]
mod borrowed;
#[path = "../common/mod.rs"]
mod common;

mod barriers;
mod blocks;
mod launches;
mod threads;
mod warps;

use common::{launch, sync};
use simt::{Defect, DefectKind, Report};
use std::panic::Location;

/// The defect, after a check that the simulator still works.
#[track_caller]
fn defect(result: Result<Report, Box<Defect>>) -> Box<Defect> {
    launch(2, 64, sync).unwrap();
    result.unwrap_err()
}

/// Checks kind and source line of a defect in the caller's file.
#[track_caller]
fn assert_at(defect: &Defect, kind: DefectKind, line: u32) {
    assert_eq!(defect.kind, kind, "{defect}");
    let location = defect.location.as_ref().expect("a kernel line");
    assert_eq!(location.file, Location::caller().file(), "{defect}");
    assert_eq!(location.line, line, "{defect}");
}
