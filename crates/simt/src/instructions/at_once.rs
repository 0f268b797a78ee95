//! The fastest path through the checks: loads and stores of shared memory.

use crate::basics::{Access, AccessKind, CallSite, Space};
use crate::block::Thread;
use crate::check::BlockCheck;
use crate::current::{Here, is_shared};
use crate::state::is_quiet;

/// Records a correct load of shared memory on the shortest path of the checks, if nothing else observes it; returns
/// whether it did. Values that only other paths need are no arguments: keeping them would take as long as everything
/// else. `here` is an argument: finding it takes a call, before which the others would have to be saved. Loads that it
/// does not record are left to [`is_recorded_in_page`], which is called elsewhere: a call from here would make this
/// function save registers.
#[cold]
#[inline(never)]
pub(super) fn load_shared_at_once(
    here: Here,
    address: usize,
    bytes: usize,
    site: CallSite,
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
    site: CallSite,
) -> bool {
    let range = (here.shared_offset_of(address), bytes);
    let is_recorded = |thread: &Thread, check: &BlockCheck| {
        check.store_shared_at_once(thread.number, range, site)
    };
    is_quiet() && here.try_with_checks(is_recorded) == Some(true)
}

/// Records a load or store of shared memory that is not recorded at once, if nothing but the checks observes it;
/// returns whether it did.
pub(super) fn is_recorded_in_page(access: &Access, site: CallSite) -> bool {
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
