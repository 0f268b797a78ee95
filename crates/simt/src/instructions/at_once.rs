//! The fastest path of loads and stores through the checks: [`AtOnce`].

use crate::basics::{Access, AccessKind, Space};
use crate::block::Thread;
use crate::check::{AtOnce, BlockCheck, CellOf};
use crate::current::{Here, is_shared};
use crate::state::is_quiet;
use std::panic::Location;

/// Whether the checks of the running block have recorded a sound load of global memory in the shortest way, and
/// nothing else looks at it. What only other ways need is no argument: to keep it would take as long as all
/// else. `here` is one: to find it is a call, before which the others would have to be saved.
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn load_at_once(here: Here, view_base: usize, address: usize, bytes: usize) -> bool {
    let (range, site) = ((address, bytes), Location::caller());
    let is_recorded = |thread: &Thread, check: &BlockCheck| match check
        .load_at_once(view_base, range)
    {
        AtOnce::Recorded => true,
        AtOnce::OfCell(cell) => load_of_cell(thread, check, cell, view_base, address, site),
        AtOnce::OfRegion => is_recorded_in_region::<false>(thread, check, view_base, range, site),
        AtOnce::Unknown => false,
    };
    is_quiet() && here.try_with_checks(is_recorded) == Some(true)
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
pub(super) fn store_at_once(here: Here, view_base: usize, address: usize, bytes: usize) -> bool {
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
    is_quiet() && here.try_with_checks(is_recorded) == Some(true)
}

/// [`load_at_once`] of shared memory. What it does not record is left to [`is_recorded_in_page`], which is called
/// elsewhere: this one saves no registers.
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn load_shared_at_once(here: Here, address: usize, bytes: usize) -> bool {
    let (range, site) = ((here.shared_offset_of(address), bytes), Location::caller());
    let is_recorded = |_: &Thread, check: &BlockCheck| check.load_shared_at_once(range, site);
    is_quiet() && here.try_with_checks(is_recorded) == Some(true)
}

/// [`store_at_once`] of shared memory, otherwise like [`load_shared_at_once`].
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn store_shared_at_once(here: Here, address: usize, bytes: usize) -> bool {
    let (range, site) = ((here.shared_offset_of(address), bytes), Location::caller());
    let is_recorded = |thread: &Thread, check: &BlockCheck| {
        check.store_shared_at_once(thread.number, range, site)
    };
    is_quiet() && here.try_with_checks(is_recorded) == Some(true)
}

/// Whether nothing but the checks looks at a load or a store of shared memory, which is not recorded at once, and they
/// have recorded it.
pub(super) fn is_recorded_in_page(access: &Access, site: &'static Location<'static>) -> bool {
    let (address, bytes) = (access.address(), access.bytes);
    let here = Here::get();
    let range = (here.shared_offset_of(address), bytes);
    let record = |thread: &Thread, check: &BlockCheck| {
        if thread.confinement.excess().is_some() {
            return false;
        }
        let _inside = thread.confinement.inside();
        let position = &thread.position;
        match access.kind {
            AccessKind::Read => check.record_in_page::<false>(position, range, address, site),
            AccessKind::Write => check.record_in_page::<true>(position, range, address, site),
            _ => false,
        }
    };
    let is_known = access.space == Space::Shared && is_shared(address, bytes);
    is_known && is_quiet() && here.try_with_checks(record) == Some(true)
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
