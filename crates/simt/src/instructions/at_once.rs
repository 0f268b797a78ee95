//! The shortest way of loads and stores through the checks: [`AtOnce`].

use crate::block::Thread;
use crate::check::{AtOnce, BlockCheck, CellOf};
use crate::current::{shared_offset_of, try_with_checks};
use crate::state::is_quiet;
use std::panic::Location;

/// Whether the checks of the running block have recorded a sound load of global memory in the shortest way, and
/// nothing else looks at it. What only other ways need is no argument: to keep it would take as long as all
/// else.
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn load_at_once(view_base: usize, address: usize, bytes: usize) -> bool {
    let (range, site) = ((address, bytes), Location::caller());
    let is_recorded = |thread: &Thread, check: &BlockCheck| match check
        .load_at_once(view_base, range)
    {
        AtOnce::Recorded => true,
        AtOnce::OfCell(cell) => load_of_cell(thread, check, cell, view_base, address, site),
        AtOnce::OfRegion => is_recorded_in_region::<false>(thread, check, view_base, range, site),
        AtOnce::Unknown => false,
    };
    is_quiet() && try_with_checks(is_recorded) == Some(true)
}

/// Whether a load of a known cell is recorded: not in [`load_at_once`], which most loads need no more than.
#[inline(never)]
fn load_of_cell(
    thread: &Thread,
    check: &BlockCheck,
    cell: CellOf<'_>,
    view_base: usize,
    address: usize,
    site: &'static Location<'static>,
) -> bool {
    check.record_load(thread.number, cell, address, site)
        || is_recorded_in_region::<false>(thread, check, view_base, (address, cell.bytes()), site)
}

/// [`load_at_once`] of a store.
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn store_at_once(view_base: usize, address: usize, bytes: usize) -> bool {
    let (range, site) = ((address, bytes), Location::caller());
    let is_recorded = |thread: &Thread, check: &BlockCheck| match check.store_at_once(
        thread.number,
        view_base,
        range,
        site,
    ) {
        AtOnce::Recorded => true,
        AtOnce::OfCell(_) | AtOnce::OfRegion => {
            is_recorded_in_region::<true>(thread, check, view_base, range, site)
        }
        AtOnce::Unknown => false,
    };
    is_quiet() && try_with_checks(is_recorded) == Some(true)
}

/// [`load_at_once`] of shared memory.
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn load_shared_at_once(address: usize, bytes: usize) -> bool {
    let (range, site) = ((shared_offset_of(address), bytes), Location::caller());
    let is_recorded = |_: &Thread, check: &BlockCheck| {
        let known = check.load_shared_at_once(range, site);
        is_recorded_of_page::<false>(known, address, bytes, site)
    };
    is_quiet() && try_with_checks(is_recorded) == Some(true)
}

/// [`store_at_once`] of shared memory.
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn store_shared_at_once(address: usize, bytes: usize) -> bool {
    let (range, site) = ((shared_offset_of(address), bytes), Location::caller());
    let is_recorded = |thread: &Thread, check: &BlockCheck| {
        let known = check.store_shared_at_once(thread.number, range, site);
        is_recorded_of_page::<true>(known, address, bytes, site)
    };
    is_quiet() && try_with_checks(is_recorded) == Some(true)
}

/// Whether an access of shared memory is recorded, of which so much is known.
#[inline(always)]
fn is_recorded_of_page<const WRITES: bool>(
    known: AtOnce<'_>,
    address: usize,
    bytes: usize,
    site: &'static Location<'static>,
) -> bool {
    match known {
        AtOnce::Recorded => true,
        AtOnce::OfCell(_) | AtOnce::OfRegion => is_recorded_in_page::<WRITES>(address, bytes, site),
        AtOnce::Unknown => false,
    }
}

/// Whether the checks of the running block have recorded an access whose cell they know.
#[inline(never)]
fn is_recorded_in_region<const WRITES: bool>(
    thread: &Thread,
    check: &BlockCheck,
    view_base: usize,
    range: (usize, usize),
    site: &'static Location<'static>,
) -> bool {
    if thread.confinement.excess().is_some() {
        return false;
    }
    let _inside = thread.confinement.inside();
    check.record_in_region::<WRITES>(&thread.position, view_base, range, site)
}

/// Whether the checks of the running block have recorded an access of shared memory whose cell they know. The arguments
/// are those of the callers, which need not keep others.
#[inline(never)]
fn is_recorded_in_page<const WRITES: bool>(
    address: usize,
    bytes: usize,
    site: &'static Location<'static>,
) -> bool {
    let range = (shared_offset_of(address), bytes);
    let record = |thread: &Thread, check: &BlockCheck| {
        if thread.confinement.excess().is_some() {
            return false;
        }
        let _inside = thread.confinement.inside();
        check.record_in_page::<WRITES>(&thread.position, range, address, site)
    };
    try_with_checks(record) == Some(true)
}
