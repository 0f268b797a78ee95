//! Collective calls: each rank passes a buffer, and gets a new one or has its own overwritten.

use super::DeviceGroup;
use super::exchange::Exchange;
use crate::buffer::{Buffer, IntoBufferView};
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result, check_length};
use crate::matrix::Matrix;
use crate::partition::part;
use crate::reduce::{Reducible, ReducibleLines};
use std::ops::Range;

/// Collective calls. Each takes the buffers of this process's ranks, in the order of the ranks, each on its rank's
/// device. In a group of one process, these are the buffers of all ranks.
impl DeviceGroup {
    /// Copies rank `root`'s buffer to the buffers of all other ranks, which have the same length.
    ///
    /// ```
    /// use tilewright::DeviceGroup;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let group = DeviceGroup::simulated(2)?;
    /// let [one, other] = group.devices() else { unreachable!() };
    /// let mut buffers = [one.upload(&[1, 2])?, other.zeros(2)?];
    /// group.broadcast(0, &mut buffers)?;
    /// assert_eq!(buffers[1].to_vec()?, [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - [`GroupError::NoRank`](crate::GroupError::NoRank) in [`ErrorKind::Group`](crate::ErrorKind::Group) if
    ///   there is no such rank; the group's other errors if a rank of another process fails.
    /// - [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) unless there is one buffer for each rank of this
    ///   process, all equally long.
    /// - [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if a buffer is not on its rank's device.
    /// - The errors of [any call](crate#errors).
    pub fn broadcast<T: Element>(&self, root: usize, buffers: &mut [Buffer<T>]) -> Result<()> {
        let broadcast = || {
            self.check_rank(root)?;
            let len = self.check_buffers(&*buffers)?;
            self.broadcasted(root, len, buffers)
        };
        self.together(broadcast).during("broadcast")
    }

    /// Concatenates the buffers of all ranks, which are equally long, into a new buffer of each rank.
    ///
    /// The parts are in the order of the ranks.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if all parts are too many elements; those of [`DeviceGroup::broadcast`].
    pub fn all_gather<T: Element>(&self, buffers: &[Buffer<T>]) -> Result<Vec<Buffer<T>>> {
        let gather = || {
            let len = self.check_buffers(buffers)?;
            // Elements of no size can be more than an index counts.
            let overflow = || {
                let ranks = self.ranks();
                ErrorKind::size_overflow(format!("{ranks} buffers of {len} elements each"))
            };
            len.checked_mul(self.ranks()).ok_or_else(overflow)?;
            self.gathered(buffers, |rank| rank * len..(rank + 1) * len)
        };
        self.together(gather).during("all_gather")
    }

    /// Reduces the ranks' buffers element by element, and leaves each rank a part of the result.
    ///
    /// The buffers are equally long. Of n ranks, rank r gets the elements from floor(r len / n) to floor((r + 1)
    /// len / n), in a new buffer. An output has the bits of
    /// [`Device::reduce_columns`](crate::Device::reduce_columns) for the matrix whose row r is the buffer of rank
    /// r: a tree that depends on the number of ranks alone.
    ///
    /// # Errors
    /// The errors of [`DeviceGroup::broadcast`] and of [`Device::reduce_columns`](crate::Device::reduce_columns).
    pub fn reduce_scatter<R, T: ReducibleLines<R>>(
        &self,
        buffers: &[Buffer<T>],
        operation: R,
    ) -> Result<Vec<Buffer<<T as Reducible<R>>::Output>>> {
        let _: R = operation;
        let scatter = || {
            let len = self.check_buffers(buffers)?;
            self.scattered::<R, T>(buffers, self.even_parts(len))
        };
        self.together(scatter).during("reduce_scatter")
    }

    /// Reduces the ranks' buffers element by element, and gives each rank the whole result.
    ///
    /// The buffers are equally long. Each rank gets a new buffer with the same bits, those of
    /// [`reduce_scatter`](Self::reduce_scatter).
    ///
    /// ```
    /// use tilewright::{DeviceGroup, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let group = DeviceGroup::simulated(2)?;
    /// let [one, other] = group.devices() else { unreachable!() };
    /// let buffers = [one.upload(&[1.0_f32, 2.0, 3.0])?, other.upload(&[10.0, 20.0, 30.0])?];
    /// for sum in group.all_reduce(&buffers, ops::Sum)? {
    ///     assert_eq!(sum.to_vec()?, [11.0, 22.0, 33.0]);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`reduce_scatter`](Self::reduce_scatter).
    pub fn all_reduce<R, T: ReducibleLines<R>>(
        &self,
        buffers: &[Buffer<T>],
        operation: R,
    ) -> Result<Vec<Buffer<<T as Reducible<R>>::Output>>> {
        let _: R = operation;
        let reduce = || {
            let len = self.check_buffers(buffers)?;
            let parts = self.scattered::<R, T>(buffers, self.even_parts(len))?;
            self.gathered(&parts, self.even_parts(len))
        };
        self.together(reduce).during("all_reduce")
    }

    /// The part of `len` elements that a reduction leaves on each rank.
    fn even_parts(&self, len: usize) -> impl Fn(usize) -> Range<usize> {
        move |rank| part(len, self.ranks(), rank)
    }

    /// The common length of the buffers or views, one for each rank of this process.
    pub(super) fn check_buffers<'a, T: Element + 'a>(
        &self,
        buffers: impl IntoIterator<Item: IntoBufferView<'a, T>, IntoIter: ExactSizeIterator>,
    ) -> Outcome<usize> {
        let buffers = buffers.into_iter();
        let ranks = self.devices().len();
        let rule = "one buffer for each rank of this process";
        check_length("the list of buffers", buffers.len(), ranks, rule)?;
        let mut first = None;
        for (buffer, (rank, device)) in buffers.zip(self.locals()) {
            let buffer = buffer.into();
            device.check_owns(|| format!("the buffer of rank {rank}"), buffer.device())?;
            let what = format_args!("the buffer of rank {rank}");
            let expected = *first.get_or_insert(buffer.len());
            check_length(what, buffer.len(), expected, "as many as the first buffer")?;
        }
        Ok(first.expect("a process has a rank"))
    }

    fn broadcasted<T: Element>(
        &self,
        root: usize,
        len: usize,
        buffers: &mut [Buffer<T>],
    ) -> Outcome<()> {
        let mut exchange = Exchange::default();
        let mut source = None;
        let mut destinations: Vec<_> = (0..self.ranks()).map(|_| None).collect();
        for (rank, buffer) in self.local_ranks().zip(buffers) {
            match rank == root {
                true => source = Some(buffer.view()),
                false => destinations[rank] = Some(buffer.view_mut()),
            }
        }
        for (to, destination) in destinations.into_iter().enumerate() {
            if to != root {
                exchange.add((root, to), len, source, destination);
            }
        }
        exchange.run(self)
    }

    /// Gathers the ranks' parts, one after another, in a new buffer of each rank; `of_rank` returns the part of a
    /// rank.
    pub(super) fn gathered<T: Element>(
        &self,
        parts: &[Buffer<T>],
        of_rank: impl Fn(usize) -> Range<usize>,
    ) -> Outcome<Vec<Buffer<T>>> {
        let ranks = self.ranks();
        let allocate = |device| Buffer::uninit(device, of_rank(ranks - 1).end);
        let all = self.devices().iter().map(allocate);
        let mut all = all.collect::<Outcome<Vec<_>>>()?;
        let mut exchange = Exchange::default();
        let mut places = Vec::new();
        for buffer in &mut all {
            let lens = (0..ranks).map(|rank| of_rank(rank).len());
            places.push(buffer.view_mut().into_runs(lens)?.into_iter());
        }
        for from in 0..ranks {
            let source = || Some(parts[self.local_of(from)?].view());
            for to in 0..ranks {
                let places = self.local_of(to).map(|local| &mut places[local]);
                let place = places.and_then(Iterator::next);
                exchange.add((from, to), of_rank(from).len(), source(), place);
            }
        }
        exchange.run(self)?;
        Ok(all)
    }

    /// Reduces part `of_rank(rank)` of the buffers, which are equally long, on each rank.
    pub(super) fn scattered<R, T: ReducibleLines<R>>(
        &self,
        buffers: &[Buffer<T>],
        of_rank: impl Fn(usize) -> Range<usize>,
    ) -> Outcome<Vec<Buffer<<T as Reducible<R>>::Output>>> {
        let ranks = self.ranks();
        let mut columns = Vec::new();
        for (rank, device) in self.locals() {
            columns.push(Matrix::<T>::uninit(
                device,
                (ranks, of_rank(rank).len()).into(),
            )?);
        }
        let mut exchange = Exchange::default();
        let mut places = Vec::new();
        for (rank, columns) in self.local_ranks().zip(&mut columns) {
            let lens = (0..ranks).map(|_| of_rank(rank).len());
            places.push(columns.buffer_mut().view_mut().into_runs(lens)?.into_iter());
        }
        for from in 0..ranks {
            for to in 0..ranks {
                let source = match self.local_of(from) {
                    Some(local) => Some(buffers[local].view().part(of_rank(to))?),
                    None => None,
                };
                let places = self.local_of(to).map(|local| &mut places[local]);
                let place = places.and_then(Iterator::next);
                exchange.add((from, to), of_rank(to).len(), source, place);
            }
        }
        exchange.run(self)?;
        let reduce = |columns: &Matrix<T>| columns.device().rows_reduced::<R, T, 1>([columns.t()]);
        columns.iter().map(reduce).collect()
    }
}
