//! The checks before an access of simulated memory.

use super::at_once::{is_recorded_in_page, load_shared_at_once, store_shared_at_once};
use super::control::{fail, uninterrupted};
use super::counting::note_access;
use super::preempt::{PLAIN_WEIGHT, weight_of};
use crate::basics::{
    Access, AccessKind, AtomicOrder, CallSite, DefectKind, Finding, MemoryOrder, MemoryScope,
    Position, SourceLine, Space, element_at, parameter_at,
};
use crate::block::{Block, Thread};
use crate::check::BlockCheck;
use crate::current::{
    Here, is_shared, is_shared_in_cluster, line_or, try_instruction, try_with_current,
};
use crate::memory::{allocation_name, start_of};
use crate::state::is_watching;
use std::panic::Location;

/// Checks an access of simulated memory, before it is made.
///
/// The access covers `bytes` bytes at byte `offset` of the view that starts at address `view_base` and has
/// `view_bytes` bytes. Its address must be a multiple of `align`, a power of two, and shared memory must be that
/// of the running block. A violation ends the launch at the caller's line.
///
/// # Safety
///
/// 1. Until the launch has ended, the registered global memory
///    ([`register_allocation`](crate::register_allocation)) of the view stays valid, and other threads access it only
///    through this crate.
///
/// # Panics
///
/// On a violation outside of a launch.
#[inline]
#[track_caller]
pub unsafe fn access(
    space: Space,
    kind: AccessKind,
    view_base: usize,
    view_bytes: usize,
    offset: usize,
    bytes: usize,
    align: usize,
) {
    let access = Access::plain(space, kind, view_base, view_bytes, offset, bytes, align);
    let site = Location::caller();
    if is_recorded_again(&access, site) {
        return;
    }
    let is_sound = is_sound(&access);
    if !is_sound || is_watching() && !is_recorded_at_once(&access, site) {
        // The numbers are passed one by one, in registers: a kernel has hundreds of these calls, and each would
        // otherwise contain the stores of an `Access`.
        notice(space, kind, view_base, view_bytes, offset, bytes, align);
    }
}

/// Checks an [`access`], as an instruction at line `line`.
///
/// # Safety
///
/// 1. As for [`access`].
///
/// # Panics
///
/// On a violation outside of a launch.
#[track_caller]
#[expect(clippy::too_many_arguments, reason = "those of `access`, and the line")]
pub unsafe fn access_at(
    line: SourceLine,
    space: Space,
    kind: AccessKind,
    view_base: usize,
    view_bytes: usize,
    offset: usize,
    bytes: usize,
    align: usize,
) {
    let access = Access::plain(space, kind, view_base, view_bytes, offset, bytes, align);
    if is_recorded_again(&access, line.0) {
        return;
    }
    if !is_sound(&access) {
        violation(access);
    }
    let is_recorded =
        || is_recorded_at_once(&access, line.0) || is_recorded_in_page(&access, line.0);
    if is_watching() && !is_recorded() {
        observe(&access, line.0);
    }
}

/// Checks a plain write of `value` at `address`, as an instruction at line `line`.
///
/// If the memory has the value already, from a write at the same line by another thread, the two do not race: the
/// hardware makes one of them, and which one makes no difference.
///
/// # Safety
///
/// 1. As for [`access`].
///
/// # Panics
///
/// On a violation outside of a launch.
pub unsafe fn write_at(line: SourceLine, space: Space, address: usize, value: &[u8]) {
    let bytes = value.len();
    let access = Access {
        value: value.as_ptr(),
        ..Access::plain(space, AccessKind::Write, address, bytes, 0, bytes, bytes)
    };
    if !is_sound(&access) {
        violation(access);
    }
    if is_watching() && !is_recorded_at_once(&access, line.0) {
        observe(&access, line.0);
    }
}

/// Records a load of shared memory that the thread has made before; returns whether it did.
#[inline(always)]
fn is_recorded_again(access: &Access, site: CallSite) -> bool {
    (access.space, access.kind) == (Space::Shared, AccessKind::Read)
        && access.is_in_bounds()
        && Here::get().load_shared_again(access.address(), access.bytes, site)
}

/// Records a sound access on the fastest paths of the checks; returns whether it did.
#[inline(always)]
fn is_recorded_at_once(access: &Access, site: CallSite) -> bool {
    let (address, bytes) = (access.address(), access.bytes);
    let here = Here::get();
    match (access.space, access.kind) {
        (Space::Shared, AccessKind::Read) => load_shared_at_once(here, address, bytes, site),
        (Space::Shared, AccessKind::Write) => store_shared_at_once(here, address, bytes, site),
        _ => false,
    }
}

/// Checks an [`access`] by an atomic operation with this order and scope.
///
/// The word has `bytes` bytes and is aligned to them. The operation itself, such as
/// [`atomic_update_u32`](crate::atomic_update_u32), comes next.
///
/// # Safety
///
/// 1. As for [`access`].
///
/// # Panics
///
/// On a violation outside of a launch.
#[track_caller]
pub unsafe fn atomic_access(
    space: Space,
    kind: AccessKind,
    (order, scope): (MemoryOrder, MemoryScope),
    view_base: usize,
    view_bytes: usize,
    offset: usize,
    bytes: usize,
) {
    let access = Access {
        space,
        kind,
        view_base,
        view_bytes,
        offset,
        bytes,
        align: bytes,
        order: AtomicOrder { order, scope },
        value: std::ptr::null(),
    };
    if !is_sound(&access) {
        violation(access);
    }
    if is_watching() {
        observe(&access, line_or(Location::caller()));
    }
}

/// Whether an access is in bounds, aligned and, in shared memory, of the running block.
#[inline]
fn is_sound(access: &Access) -> bool {
    let aligned = access.address() & access.align.wrapping_sub(1) == 0;
    // Even without checks, memory of another block is not touched: it may have been freed.
    access.is_in_bounds() && aligned && (access.space != Space::Shared || is_shared_here(access))
}

#[inline]
fn is_shared_here(access: &Access) -> bool {
    let address = access.address();
    is_shared(address, access.bytes) || is_shared_in_cluster(address, access.bytes)
}

/// Ends the launch at a violation, and shows any other access to the schedule, the checks and the counters of the
/// running block. It is cold, so that a kernel that none of them observes keeps its values in registers; if one does,
/// the call costs the least.
#[cold]
#[inline(never)]
#[track_caller]
fn notice(
    space: Space,
    kind: AccessKind,
    view_base: usize,
    view_bytes: usize,
    offset: usize,
    bytes: usize,
    align: usize,
) {
    let access = Access::plain(space, kind, view_base, view_bytes, offset, bytes, align);
    if !is_sound(&access) {
        violation(access);
    }
    if is_watching() && !is_recorded_in_page(&access, Location::caller()) {
        observe(&access, Location::caller());
    }
}

/// Shows an access to the schedule, the checks and the counters of the running block.
#[inline]
fn observe(access: &Access, site: CallSite) {
    if try_with_current(|thread, block| is_recorded(thread, block, access, site)) != Some(true) {
        begin(access, site);
    }
    note_access(access, site);
}

/// Records the access on the fast path of the checks, if nothing else observes it; returns whether it did.
#[inline]
fn is_recorded(thread: &Thread, block: &Block, access: &Access, site: CallSite) -> bool {
    let Some(check) = &block.check else {
        return false;
    };
    let is_held_up = block.may_not_enter(thread) || block.must_wait(thread);
    if is_held_up || block.is_abandoned() || block.preemption.is_due(PLAIN_WEIGHT) {
        return false;
    }
    let _inside = thread.confinement.inside();
    let is_recorded = check.record_quickly(&thread.position, &block.shared, access, site);
    if is_recorded {
        block.preemption.pass(PLAIN_WEIGHT);
    }
    is_recorded
}

/// Lets other threads run before the access if the schedule says so, and shows it to the checks of the running block,
/// if there are any.
#[inline(never)]
fn begin(access: &Access, site: CallSite) {
    try_instruction(Some(site), |thread, block| {
        if access.space == Space::Global {
            block.check_has_waited(thread, access.kind, site);
        }
        if access.kind.is_atomic() {
            thread.last_word.set(access.address());
        }
        if block.preemption.is_on() {
            block.before_visible_step(thread, weight_of(thread, access));
        }
        if let Some(check) = &block.check
            && !block.is_abandoned()
            && let Err(finding) = record(block, check, &thread.position, access, site)
        {
            block.fail_with(thread, *finding);
        }
    });
}

/// Shows an access to the checks of the block that owns the memory.
#[inline]
fn record(
    block: &Block,
    check: &BlockCheck,
    position: &Position,
    access: &Access,
    site: CallSite,
) -> Result<(), Box<Finding>> {
    if access.space == Space::Shared && block.shared.offset_of(access.address()).is_none() {
        return record_remote(block, check, position, access, site);
    }
    check.record(position, &block.shared, access, site)
}

#[cold]
fn record_remote(
    block: &Block,
    check: &BlockCheck,
    position: &Position,
    access: &Access,
    site: CallSite,
) -> Result<(), Box<Finding>> {
    let Some((owner, _)) = block.owner_of(access.address()) else {
        return Ok(());
    };
    let Some(of_owner) = &owner.check else {
        return Ok(());
    };
    owner.uses_machine.set(true);
    if owner.has_ended() {
        return Err(Box::new(owner.ended_before(position, "an access of", site)));
    }
    of_owner.record_remote(check, position, &owner.shared, access, site)
}

#[cold]
#[inline(never)]
#[track_caller]
fn violation(access: Access) -> ! {
    let Access {
        space,
        kind,
        view_bytes,
        offset,
        bytes,
        align,
        ..
    } = access;
    let fits = offset
        .checked_add(bytes)
        .is_some_and(|end| end <= view_bytes);
    let address = access.address();
    let aligned = address & align.wrapping_sub(1) == 0;
    if fits && aligned {
        fail(
            DefectKind::OutOfBounds,
            format!(
                "{kind} of {bytes} bytes at address {address:#x}, which is not in the block's \
                 shared memory: the view is that of another block or of an earlier launch"
            ),
        );
    }
    let of_memory = describe_view(space, access.view_base);
    if fits {
        fail(
            DefectKind::Misaligned,
            format!(
                "{kind} of {bytes} bytes at byte {offset} of a {space} view{of_memory}: its address is \
                 not a multiple of {align}"
            ),
        );
    }
    let element = element_at(offset, bytes);
    let elements = view_bytes / bytes.max(1);
    fail(
        DefectKind::OutOfBounds,
        format!(
            "{kind} of {bytes} bytes at {element} of a {space} view of {view_bytes} \
             bytes{of_memory}, whose length is {elements}"
        ),
    )
}

/// Names the memory of the view that begins at this address, if the name is known.
///
/// The text follows the word "view": " of buffer `x` (parameter `y`)".
#[cold]
#[must_use]
pub fn describe_view(space: Space, base: usize) -> String {
    uninterrupted(|| match space {
        Space::Shared => shared_array(base),
        _ => buffer_and_parameter(base),
    })
}

/// " of the array of 128 bytes declared at kernel.rs:7:17", in this block or another one of the cluster.
#[cold]
fn shared_array(base: usize) -> String {
    let array = try_with_current(|_, block| {
        let (owner, _) = block.owner_of(base)?;
        owner.shared.describe_array(base)
    });
    let array = array.flatten();
    array.map_or_else(String::new, |array| format!(" of {array}"))
}

/// " of buffer `x` (parameter `y`)", with the names that are known.
#[cold]
fn buffer_and_parameter(base: usize) -> String {
    let buffer =
        allocation_name(base).map_or_else(String::new, |name| format!(" of buffer `{name}`"));
    let start = start_of(base).unwrap_or(base);
    let parameter = try_with_current(|_, block| parameter_at(&block.views, start, base));
    buffer + &parameter.unwrap_or_default()
}
