//! Transfers of a group that borrow their buffers until they are done.

use super::DeviceGroup;
use super::transport::Transfer;
use crate::buffer::{Buffer, BufferView, BufferViewMut};
use crate::element::Element;
use crate::error::Outcome;
use crate::holder::{Holder, Written};
use std::marker::PhantomData;
use std::mem;

/// Transfers that borrow their buffers until they are done.
#[derive(Debug, Default)]
pub struct Exchange<'a> {
    transfers: Vec<Transfer>,
    /// The sources and the destinations in this process, by rank.
    sources: Vec<(usize, Holder<'a>)>,
    destinations: Vec<(usize, Written<'a>)>,
}

impl<'a> Exchange<'a> {
    /// Adds a transfer of `len` elements from rank `from` to rank `to`. `source` is given if this process has rank
    /// `from`, and `destination` if it has rank `to`.
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
        // Other processes make the transfers between themselves.
        if bytes > 0 && (source.is_some() || destination.is_some()) {
            let sources = source.as_ref().map(|it| (from, it.holder()));
            self.sources.extend(sources);
            let destinations = destination.as_ref().map(|it| (to, it.written()));
            self.destinations.extend(destinations);
            self.transfers.push(Transfer {
                from,
                to,
                bytes,
                element: size_of::<T>(),
                source: source.map(|it| it.device_address()),
                destination: destination.map(|it| it.view().device_address()),
            });
        }
    }

    /// Makes the transfers.
    pub fn run(self, group: &DeviceGroup) -> Outcome<()> {
        self.start(group)?.finish()
    }

    /// Starts the transfers, after all work that the group's devices were given before. Later work runs beside them
    /// until the result is finished or dropped; it must not write the sources or use the destinations.
    pub fn start<'g>(self, group: &'g DeviceGroup) -> Outcome<Started<'a, 'g>> {
        let locals = group.local_ranks();
        for it in &self.transfers {
            assert_eq!(it.source.is_some(), locals.contains(&it.from));
            assert_eq!(it.destination.is_some(), locals.contains(&it.to));
        }
        let device = |rank| &group.devices()[group.local_of(rank).expect("it is of this process")];
        for (rank, source) in self.sources {
            source.order_reads(device(rank))?;
        }
        for (rank, destination) in self.destinations {
            destination.order(device(rank))?;
        }
        // If one cannot be started, dropping this finishes the others.
        let started = Started {
            group,
            transfers: self.transfers,
            buffers: PhantomData,
        };
        let transport = &group.members.transport;
        // SAFETY: the bytes are in live allocations, without overlap or conflicting work until `finish` returns:
        // the views that `add` took have the bytes, and are borrowed, destinations mutably, until `started` is
        // gone. It is never forgotten, and finishes when dropped.
        unsafe { transport.start(group.devices(), &started.transfers) }?;
        Ok(started)
    }
}

/// Transfers in progress, which borrow their buffers until they are finished. Forgetting one would free the buffers
/// while they are read and written.
#[must_use]
pub struct Started<'a, 'g> {
    group: &'g DeviceGroup,
    transfers: Vec<Transfer>,
    buffers: PhantomData<&'a mut ()>,
}

impl Started<'_, '_> {
    /// Ends the transfers: work that is submitted later sees what has arrived.
    pub fn finish(mut self) -> Outcome<()> {
        self.end()
    }

    fn end(&mut self) -> Outcome<()> {
        let (group, transfers) = (self.group, mem::take(&mut self.transfers));
        match transfers.is_empty() {
            true => Ok(()),
            false => group.members.transport.finish(group.devices(), &transfers),
        }
    }
}

impl Drop for Started<'_, '_> {
    fn drop(&mut self) {
        // Another error is already being returned.
        let _ = self.end();
    }
}

/// Brings the parts of all ranks, `len_of(rank)` elements each, to every process. Returns, by rank, those of other
/// processes, in buffers on this process's first device; `None` for its own ranks, whose parts `own` gives.
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
    // In a group of several processes, each has one rank.
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
