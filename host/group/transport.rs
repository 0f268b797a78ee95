//! How bytes come from the device of one rank to that of another.

mod deadline;
#[cfg(feature = "cuda")]
mod nccl;
mod peer_copies;
mod sockets;

#[cfg(feature = "cuda")]
pub use nccl::{Nccl, unique_id};
pub use peer_copies::PeerCopies;
pub use sockets::Sockets;

use super::DeviceGroup;
use crate::buffer::{Buffer, BufferView, BufferViewMut};
use crate::element::Element;
use crate::error::{ErrorKind, GroupError, Outcome};
use std::fmt::Debug;
use std::marker::PhantomData;

/// Some bytes of one rank that another one gets.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    pub from: usize,
    pub to: usize,
    pub bytes: usize,
    /// The device address, if this process has rank `from`.
    pub source: Option<u64>,
    /// The device address, if this process has rank `to`.
    pub destination: Option<u64>,
}

/// How bytes come from one rank to another.
///
/// All processes of a group call it with the same transfers, each with the addresses of its own ranks.
pub trait Transport: Debug + Send + Sync {
    /// Makes all transfers, in no order that matters. Work that is submitted later sees what has come; the
    /// sources may be written by it.
    ///
    /// # Safety
    /// 1. The bytes at each address are in one live allocation of the device of that rank, and no two
    ///    destinations overlap, nor a source and a destination.
    /// 2. No other thread submits conflicting work at the same time.
    unsafe fn exchange(&self, group: &DeviceGroup, transfers: &[Transfer]) -> Outcome<()>;

    /// Tells the other processes, if there are any, that this one makes no more calls, because one failed.
    fn abandon(&self, _cause: &ErrorKind) {}
}

/// The fault of calls after one that failed by `cause`.
fn fault_after(cause: &ErrorKind) -> GroupError {
    match cause {
        ErrorKind::Group(fault) => fault.clone(),
        kind => GroupError::Over {
            cause: kind.to_string(),
        },
    }
}

/// Transfers whose buffers are borrowed until they were made.
#[derive(Debug, Default)]
pub struct Exchange<'a> {
    transfers: Vec<Transfer>,
    buffers: PhantomData<&'a mut ()>,
}

impl<'a> Exchange<'a> {
    /// `len` elements of rank `from` go to rank `to`. `source` has them if this process has the one,
    /// `destination` has room for them if it has the other.
    pub fn add<T: Element>(
        &mut self,
        (from, to): (usize, usize),
        len: usize,
        source: Option<BufferView<'a, T>>,
        destination: Option<BufferViewMut<'a, T>>,
    ) {
        assert!(
            source.is_none_or(|it| it.len() == len),
            "the source's length"
        );
        assert!(
            destination.as_ref().is_none_or(|it| it.len() == len),
            "the destination's length"
        );
        let bytes = len * size_of::<T>();
        // What goes between two other processes is theirs.
        if bytes > 0 && (source.is_some() || destination.is_some()) {
            self.transfers.push(Transfer {
                from,
                to,
                bytes,
                source: source.map(|it| it.device_address()),
                destination: destination.map(|it| it.view().device_address()),
            });
        }
    }

    /// Makes the transfers.
    pub fn run(self, group: &DeviceGroup) -> Outcome<()> {
        let locals = group.local_ranks();
        for it in &self.transfers {
            assert_eq!(it.source.is_some(), locals.contains(&it.from));
            assert_eq!(it.destination.is_some(), locals.contains(&it.to));
        }
        // SAFETY: (1) and (2) the views that `add` took are borrowed until `self` is gone, destinations
        // mutably, and have the bytes.
        unsafe { group.members.transport.exchange(group, &self.transfers) }
    }
}

/// Parts that the ranks have, `len_of(rank)` elements each, in every process: those of other processes, by
/// rank, on this one's first device; `None` for ranks of its own, whose parts `own` gives.
pub fn remote_parts<'a, T: Element>(
    group: &DeviceGroup,
    len_of: impl Fn(usize) -> usize,
    own: impl Fn(usize) -> Option<BufferView<'a, T>>,
) -> Outcome<Vec<Option<Buffer<T>>>> {
    let mut parts = Vec::new();
    for rank in 0..group.ranks() {
        let is_remote = group.local_of(rank).is_none();
        let place = || Buffer::uninit(&group.devices()[0], len_of(rank));
        parts.push(is_remote.then(place).transpose()?);
    }
    if group.is_whole() {
        return Ok(parts);
    }
    // A process of a group of several has one rank.
    let mut exchange = Exchange::default();
    for (from, part) in parts.iter_mut().enumerate() {
        let mut destination = part.as_mut().map(Buffer::view_mut);
        for to in (0..group.ranks()).filter(|to| *to != from) {
            let is_here = group.local_of(to).is_some();
            let destination = destination.take_if(|_| is_here);
            exchange.add((from, to), len_of(from), own(from), destination);
        }
    }
    exchange.run(group)?;
    Ok(parts)
}
