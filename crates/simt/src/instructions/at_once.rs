//! The fastest path of loads and stores through the checks: [`AtOnce`].

use crate::basics::{Access, AccessKind, Space};
use crate::block::Thread;
use crate::check::{AtOnce, BlockCheck, CellOf};
use crate::current::{Here, is_shared};
use crate::state::is_quiet;
use std::panic::Location;

/// Records a correct load of global memory on the shortest path of the checks, if nothing else observes it; returns
/// whether it did. Values that only other paths need are no arguments: keeping them would take as long as everything
/// else. `here` is an argument: finding it takes a call, before which the others would have to be saved.
#[cold]
#[inline(never)]
pub(super) fn load_at_once(
    here: Here,
    view_base: usize,
    address: usize,
    bytes: usize,
    site: &'static Location<'static>,
) -> bool {
    let range = (address, bytes);
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

/// Records a load of a known cell; returns whether it did. It is not inlined into [`load_at_once`], which is all that
/// most loads need.
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

/// [`load_at_once`] for stores.
#[cold]
#[inline(never)]
pub(super) fn store_at_once(
    here: Here,
    view_base: usize,
    address: usize,
    bytes: usize,
    site: &'static Location<'static>,
) -> bool {
    let range = (address, bytes);
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

/// [`load_at_once`] for shared memory. Loads that it does not record are left to [`is_recorded_in_page`], which is
/// called elsewhere: a call from here would make this function save registers.
#[cold]
#[inline(never)]
pub(super) fn load_shared_at_once(
    here: Here,
    address: usize,
    bytes: usize,
    site: &'static Location<'static>,
) -> bool {
    let range = (here.shared_offset_of(address), bytes);
    let is_recorded = |_: &Thread, check: &BlockCheck| check.load_shared_at_once(range, site);
    is_quiet() && here.try_with_checks(is_recorded) == Some(true)
}

/// [`load_shared_at_once`] for stores.
#[cold]
#[inline(never)]
pub(super) fn store_shared_at_once(
    here: Here,
    address: usize,
    bytes: usize,
    site: &'static Location<'static>,
) -> bool {
    let range = (here.shared_offset_of(address), bytes);
    let is_recorded = |thread: &Thread, check: &BlockCheck| {
        check.store_shared_at_once(thread.number, range, site)
    };
    is_quiet() && here.try_with_checks(is_recorded) == Some(true)
}

/// Records a load or store of shared memory that is not recorded at once, if nothing but the checks observes it;
/// returns whether it did.
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

/// Records an access whose cell the checks of the running block know; returns whether it did.
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
