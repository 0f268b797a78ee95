//! Warp-wide operations: the lanes of a mask meet and read what each of them
//! has brought (`shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`,
//! `bar.warp.sync` of the PTX ISA).

use crate::basics::{CallSite, DefectKind};
use crate::block::{Block, Thread, Wait, Warp, count};
use crate::count::Operation;
use crate::current::{line_or, with_current};
use crate::state::{LaneValues, Rendezvous};
use std::any::TypeId;
use std::panic::Location;
use std::ptr;

/// Exchanges one value per lane: each lane in `mask` brings `value`, and calls `read` with the values of all.
///
/// Bit `i` of `mask` is lane `i` of the running thread's warp. Lanes of the same mask must meet in the same `kind` of
/// operation. Operations of disjoint masks may be under way at once. These end the launch: a lane that is not in its
/// mask, a mask with lanes that do not exist or have exited, and lanes that wait for each other at different
/// operations. `read` only reads: it calls no other warp-wide operation.
///
/// # Safety
///
/// 1. `read` calls no instruction, and lends the values to no other host thread: later launches write them.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub unsafe fn warp_collective<R>(
    kind: &'static str,
    mask: u64,
    value: u64,
    read: impl FnOnce(&LaneValues) -> R,
) -> R {
    let site = line_or(Location::caller());
    with_current(|thread, block| {
        let inside = block.enter(thread, Some(site));
        if block.is_unwinding(thread) {
            drop(inside);
            return read(&LaneValues {
                values: [0; 64],
                mask,
            });
        }
        let warp = block.warp_of(thread);
        let operation = block.counted_collective(kind);
        let kind = (kind, None);
        let (rendezvous, _) = block.join((thread, warp), (kind, operation), mask, value, site);
        // `read` is the caller's code.
        drop(inside);
        // SAFETY: the rendezvous is complete when `join` returns, and this lane is marked as having read only below.
        let result = read(unsafe { rendezvous.values() });
        warp.collectives.mark_read(rendezvous, thread.lane_bit());
        result
    })
}

/// Combines parts of all lanes in `mask`: the last lane to arrive calls `combine` with all of them.
///
/// `combine` gets the parts in the order of lanes and may change them; then each lane continues with its part. It is
/// one instruction of the warp, counted as `operation` if there is one. The rules for masks and for lanes that meet
/// are those of [`warp_collective`]; all parts have one type.
///
/// # Safety
///
/// 1. `combine` calls no instruction: during one, the lanes whose parts it has may continue.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub unsafe fn warp_exchange<T: 'static>(
    kind: &'static str,
    operation: Option<Operation>,
    mask: u64,
    part: &mut T,
    combine: impl FnOnce(&mut [&mut T]),
) {
    let site = line_or(Location::caller());
    with_current(|thread, block| {
        let inside = block.enter(thread, Some(site));
        if block.is_unwinding(thread) {
            return;
        }
        let address = ptr::from_mut(part).expose_provenance() as u64;
        let warp = block.warp_of(thread);
        let kind = (kind, Some(TypeId::of::<T>()));
        let (rendezvous, is_last) =
            block.join((thread, warp), (kind, operation), mask, address, site);
        // `combine` is the caller's code.
        drop(inside);
        if is_last {
            // SAFETY: the rendezvous is complete when `join` returns, and this lane is marked as having read only
            // below.
            let lanes = unsafe { rendezvous.values() };
            let members = (0..lanes.values.len()).filter(|lane| lanes.mask >> lane & 1 == 1);
            let parts = members.map(|lane| {
                let part = ptr::with_exposed_provenance_mut(lanes.values[lane] as usize);
                // SAFETY: each value is the address of a `T` of its own; `join` has compared the types. The other
                // lanes lend theirs until `join` returns, and none of them runs before the next instruction, which
                // `combine` does not contain: the caller's contract.
                unsafe { &mut *part }
            });
            combine(&mut parts.collect::<Vec<_>>());
        }
        warp.collectives.mark_read(rendezvous, thread.lane_bit());
    });
}

/// The only warp-wide operation that orders memory.
const WARP_BARRIER: &str = "warp barrier";

/// Waits for all lanes in `mask`, and sees their earlier writes.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn warp_barrier(mask: u64) {
    // SAFETY: nothing is read.
    unsafe { warp_collective(WARP_BARRIER, mask, 0, |_| ()) };
}

/// The lanes of the running thread's warp that have not exited.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn active_lanes() -> u64 {
    with_current(|thread, block| block.warp_of(thread).active())
}

/// A name usually has one address; comparing text is the slow path.
fn is_same_kind(one: &'static str, other: &'static str) -> bool {
    ptr::eq(one, other) || one == other
}

impl Block {
    /// Brings `value`, a number or the address of a part, to the rendezvous of `mask`, and waits until it is complete.
    ///
    /// Returns the rendezvous, and whether this lane was the last to arrive: the others wait while it runs.
    fn join<'a>(
        &self,
        (thread, warp): (&Thread, &'a Warp),
        ((kind, part), operation): ((&'static str, Option<TypeId>), Option<Operation>),
        mask: u64,
        value: u64,
        site: CallSite,
    ) -> (&'a Rendezvous, bool) {
        let collectives = &warp.collectives;
        if mask & thread.lane_bit() == 0 || mask & !warp.active() != 0 {
            self.fail_mask(thread, warp, kind, mask, site);
        }
        let rendezvous = match collectives.find(mask) {
            Some(rendezvous) => rendezvous,
            None => collectives.open((kind, part), mask),
        };
        if !is_same_kind(rendezvous.kind(), kind) || rendezvous.part() != part {
            self.fail_kind(thread, kind, rendezvous.kind(), site);
        }
        let is_complete = rendezvous.arrive(thread.position.lane, value);
        if let Some(operation) = operation {
            self.note_operation(thread, operation, site);
        }
        if is_complete {
            self.complete_collective(thread, rendezvous);
        } else {
            if collectives.has_several() {
                self.check_no_mutual_wait(thread, rendezvous, site);
            }
            thread.wait_for(Wait::Collective { kind, mask }, site);
        }
        (rendezvous, is_complete)
    }

    /// Gathers all lanes of a warp at an instruction that they execute together, with one `value`;
    /// returns whether the lane is the last to arrive, which then acts for all.
    pub(super) fn meet_warp(
        &self,
        thread: &Thread,
        kind: &'static str,
        value: u64,
        site: CallSite,
    ) -> bool {
        let warp = self.warp_of(thread);
        let operation = self.counted_collective(kind);
        let (rendezvous, is_last) = self.join(
            (thread, warp),
            ((kind, None), operation),
            warp.existing,
            value,
            site,
        );
        if is_last {
            // SAFETY: the rendezvous is complete, and this lane is marked as having read only
            // below.
            let values = unsafe { rendezvous.values() };
            let lanes = values.values.iter().enumerate();
            let other = lanes
                .filter(|(lane, _)| warp.existing >> lane & 1 == 1)
                .find(|(_, other)| **other != value);
            if let Some((lane, _)) = other {
                let message = format!(
                    "lanes {} and {lane} give different operands to one {kind}",
                    thread.position.lane
                );
                self.fail_warp(thread, message, site);
            }
        }
        warp.collectives.mark_read(rendezvous, thread.lane_bit());
        is_last
    }

    fn complete_collective(&self, thread: &Thread, rendezvous: &Rendezvous) {
        let warp = self.warp_of(thread);
        if is_same_kind(rendezvous.kind(), WARP_BARRIER) {
            self.order_lanes(thread.position.warp, warp, rendezvous.mask());
        }
        warp.collectives.complete(rendezvous);
        let met = rendezvous.unread();
        self.note_gathered(thread.position.warp as usize, met);
        let waiting = met & !thread.lane_bit();
        if waiting != 0 {
            self.make_ready(thread.position.warp as usize, waiting);
        }
        self.note_progress();
        count(&self.counters.warp_collectives);
    }

    /// Orders the earlier accesses of the lanes of `mask` before their later ones.
    fn order_lanes(&self, number: u32, warp: &Warp, mask: u64) {
        let Some(check) = &self.check else { return };
        if mask == warp.existing {
            check.after_warp_barrier(number);
        } else {
            check.after_partial_barrier(std::iter::once((number, mask)));
        }
    }

    /// Finds the common case of lanes that can never meet, as soon as it arises: two rendezvous
    /// each wait for a lane that waits at the other.
    fn check_no_mutual_wait(&self, thread: &Thread, rendezvous: &Rendezvous, site: CallSite) {
        let collectives = &self.warp_of(thread).collectives;
        let crossed = collectives
            .gathering()
            .find(|other| rendezvous.crosses(other));
        if let Some(other) = crossed {
            let message = format!(
                "lanes wait for each other under different masks: {:#x} for {}, {:#x} for {}",
                rendezvous.mask(),
                rendezvous.kind(),
                other.mask(),
                other.kind()
            );
            self.fail_warp(thread, message, site);
        }
    }

    #[cold]
    fn fail_mask(
        &self,
        thread: &Thread,
        warp: &Warp,
        kind: &'static str,
        mask: u64,
        site: CallSite,
    ) -> ! {
        let lane = thread.position.lane;
        let missing = mask & !warp.existing;
        let exited = mask & warp.exited.get();
        let message = if mask & thread.lane_bit() == 0 {
            format!("lane {lane} calls {kind} with mask {mask:#x}, which does not name it")
        } else if missing != 0 {
            format!(
                "mask {mask:#x} of {kind} names lane {}, which does not exist in this warp",
                missing.trailing_zeros()
            )
        } else {
            format!(
                "mask {mask:#x} of {kind} names lane {}, which has exited",
                exited.trailing_zeros()
            )
        };
        self.fail_warp(thread, message, site)
    }

    #[cold]
    fn fail_kind(
        &self,
        thread: &Thread,
        kind: &'static str,
        other: &'static str,
        site: CallSite,
    ) -> ! {
        let lane = thread.position.lane;
        let message = match is_same_kind(kind, other) {
            true => format!(
                "lane {lane} and others of its mask bring values of different types to {kind}"
            ),
            false => {
                format!("lane {lane} is at {kind}, while other lanes of its mask wait at {other}")
            }
        };
        self.fail_warp(thread, message, site)
    }

    #[cold]
    fn fail_warp(&self, thread: &Thread, message: String, site: CallSite) -> ! {
        self.fail_among_others(thread, DefectKind::WarpDivergence, message, site)
    }
}
