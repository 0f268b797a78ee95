//! Transfers of a group whose buffers are borrowed until they were made.

use super::DeviceGroup;
use super::transport::Transfer;
use crate::buffer::{Buffer, BufferView, BufferViewMut};
use crate::element::Element;
use crate::error::Outcome;
use std::marker::PhantomData;
use std::mem;

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
        self.start(group)?.finish()
    }

    /// Starts the transfers, after the work that the group's devices were given, and beside the work that they are
    /// given until the result is finished or dropped: none of it writes the sources or uses the destinations.
    pub fn start<'g>(self, group: &'g DeviceGroup) -> Outcome<Started<'a, 'g>> {
        let locals = group.local_ranks();
        for it in &self.transfers {
            assert_eq!(it.source.is_some(), locals.contains(&it.from));
            assert_eq!(it.destination.is_some(), locals.contains(&it.to));
        }
        // Where one cannot be started, the others are finished by the drop.
        let started = Started {
            group,
            transfers: self.transfers,
            buffers: PhantomData,
        };
        let transport = &group.members.transport;
        // SAFETY: (1) and (2) the views that `add` took are borrowed until `started` is gone, destinations
        // mutably, and have the bytes; it is never forgotten, and finishes before it goes.
        unsafe { transport.start(group.devices(), &started.transfers) }?;
        Ok(started)
    }
}

/// Transfers that were started, whose buffers are borrowed until they are finished. To forget it would leave the
/// buffers free while they are read and written.
#[must_use]
pub struct Started<'a, 'g> {
    group: &'g DeviceGroup,
    transfers: Vec<Transfer>,
    buffers: PhantomData<&'a mut ()>,
}

impl Started<'_, '_> {
    /// Ends the transfers: work that is submitted later sees what has come.
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
        // Another error is on its way already.
        let _ = self.end();
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
