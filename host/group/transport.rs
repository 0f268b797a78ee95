//! How bytes move from the device of one rank to that of another.

mod deadline;
#[cfg(feature = "cuda")]
mod nccl;
mod peer_copies;
mod sockets;

#[cfg(feature = "cuda")]
pub use nccl::{Nccl, unique_id};
pub use peer_copies::PeerCopies;
pub use sockets::Sockets;

use crate::device::Device;
use crate::error::{ErrorKind, GroupError, Outcome};
use std::fmt::Debug;

/// Some bytes that one rank sends to another.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    pub from: usize,
    pub to: usize,
    pub bytes: usize,
    /// Bytes of an element. If processes disagree on it, they made different calls.
    pub element: usize,
    /// The device address, if this process has rank `from`.
    pub source: Option<u64>,
    /// The device address, if this process has rank `to`.
    pub destination: Option<u64>,
}

/// Moves bytes from one rank to another.
///
/// All processes of a group call it with the same transfers, each with the addresses of its own ranks.
pub trait Transport: Debug + Send + Sync {
    /// Starts all transfers, in any order, after all work that `devices` were given before.
    ///
    /// Later work of the devices runs beside the transfers until [`finish`](Self::finish). `devices` are those of
    /// this process, in the order of their ranks. A transport that cannot work beside the devices makes the
    /// transfers here.
    ///
    /// # Safety
    /// 1. The bytes at each address are in one live allocation of the device of that rank. No two destinations
    ///    overlap, nor a source and a destination.
    /// 2. Until `finish` returns, no thread submits conflicting work, and the allocations stay alive.
    unsafe fn start(&self, devices: &[Device], transfers: &[Transfer]) -> Outcome<()>;

    /// Ends the transfers: work that is submitted later sees what has arrived, and may write the sources.
    fn finish(&self, devices: &[Device], transfers: &[Transfer]) -> Outcome<()>;

    /// Tells the other processes, if any, that a call failed here and that this process makes no more calls.
    fn abandon(&self, _cause: &ErrorKind) {}
}

/// The error for processes that cannot find one another.
pub fn no_rendezvous(reason: String) -> ErrorKind {
    GroupError::Rendezvous { reason }.into()
}

/// The fault that calls report after one has failed by `cause`.
fn fault_after(cause: &ErrorKind) -> GroupError {
    match cause {
        ErrorKind::Group(
            fault @ (GroupError::PeerLost { .. }
            | GroupError::PeerTimeout { .. }
            | GroupError::OutOfStep { .. }
            | GroupError::NcclTimeout { .. }
            | GroupError::Nccl { .. }
            | GroupError::Over { .. }),
        ) => fault.clone(),
        // Also for wrong arguments: the next call's may be right.
        kind => GroupError::Over {
            cause: kind.to_string(),
        },
    }
}
