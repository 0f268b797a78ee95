//! Descriptions of conflicts with asynchronous operations.

use crate::basics::{AccessKind, DefectKind, Position};
use crate::check::asynchronous::agents::Agent;
use crate::check::cells::cell::Conflict;
use crate::check::cells::event::{Event, EventKind};

/// Describes a conflict with an asynchronous operation. `words` names the place.
pub(in crate::check) fn summary(
    access: AccessKind,
    words: &str,
    conflict: &Conflict,
) -> Option<(DefectKind, String)> {
    let (kind, message) = match conflict {
        Conflict::Mbarrier(_) => (
            DefectKind::BarrierMisuse,
            format!("{access} of {words}, which are those of an mbarrier"),
        ),
        Conflict::Unproxied(_) => (
            DefectKind::MissingProxyFence,
            format!(
                "{access} of {words}, which were written without a fence for the asynchronous proxy"
            ),
        ),
        Conflict::InFlight(other) => {
            let agent = Agent::of(other)?;
            (
                DefectKind::AsyncHazard,
                format!("{access} of {words}, to which {agent} is in flight"),
            )
        }
        Conflict::Unordered(other) | Conflict::UnorderedOthers(other) => {
            let agent = Agent::of(other)?;
            let what = match other.kind {
                EventKind::AsyncRead => "may still read",
                _ => "writes, with no wait for it in between",
            };
            (
                DefectKind::AsyncHazard,
                format!("{access} of {words}, which {agent} {what}"),
            )
        }
        _ => return None,
    };
    Some((kind, message))
}

/// The fix that the report suggests.
pub(in crate::check) fn missing(conflict: &Conflict) -> Option<&'static str> {
    match conflict {
        Conflict::Mbarrier(_) => Some("other memory for one of the two"),
        Conflict::Unproxied(_) => Some(
            "a proxy fence (`fence.proxy.async`) after the write, by its thread or by one that \
             comes after it, and then the barrier before the operation is issued",
        ),
        Conflict::InFlight(other)
        | Conflict::Unordered(other)
        | Conflict::UnorderedOthers(other) => Some(match Agent::of(other)? {
            Agent::Barrier(_) => {
                "a wait for the phase of the mbarrier on which the copy counts its bytes"
            }
            Agent::StoreReads(_) => {
                "a wait by the thread that has issued the store, until its group has been read, \
                     and then a barrier for the others"
            }
            Agent::StoreWrites(_) => {
                "a wait by the thread that has issued the store, until its group is complete, \
                     and then a barrier for the others"
            }
            Agent::Products(_) => {
                "a wait by the warpgroup for the group of the product, and then a barrier for \
                     the others"
            }
        }),
        _ => None,
    }
}

/// Describes an operation of an asynchronous side, with its block, thread or warp.
pub(in crate::check) fn describe(position: &Position, event: &Event) -> Option<String> {
    let block = position.grid_dim.index_of(u64::from(event.of_block()));
    let of_thread = |thread| position.block_dim.index_of(u64::from(thread));
    Some(match Agent::of(event)? {
        Agent::Barrier(_) => format!(
            "a bulk copy that counts on an mbarrier of block {block}: {}",
            event.kind
        ),
        Agent::StoreReads(thread) | Agent::StoreWrites(thread) => format!(
            "a bulk store of thread {} of block {block}: {}",
            of_thread(thread),
            event.kind
        ),
        Agent::Products(warp) => {
            format!("a product of warp {warp} of block {block}: {}", event.kind)
        }
    })
}
