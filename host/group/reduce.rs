//! Reductions of buffers over several devices.
//!
//! The tree of a reduction has tiles, blocks of tiles, and a last step that combines the blocks
//! (`kernels/reduce/plan.rs`). A rank has whole blocks, and computes their partial results by the same kernels as
//! one device does. The partial results of all ranks, 2048 at most, go to the host, which combines them in the same
//! tree.

use super::DeviceGroup;
use super::buffer::ShardedBuffer;
use super::exchange::remote_parts;
use crate::buffer::{Buffer, BufferView, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result, check_length};
use crate::reduce::{
    CHECK_FIRST, Reduce, ReduceElement, Reducible, ReduciblePairs, ReproducibleElement,
    ReproducibleSum, ops,
};

impl DeviceGroup {
    /// The sum of all elements of `x`; 0 for none.
    ///
    /// The bits are those of [`Device::reduce_sum`] for the same elements on one device, for any number of ranks.
    /// In a group of several processes each gets the sum.
    ///
    /// ```
    /// use tilewright::{Device, DeviceGroup};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let data: Vec<f32> = (0..20_000).map(|i| 1.0 / (i as f32 + 1.0)).collect();
    /// let device = Device::simulator();
    /// let expected = device.reduce_sum(&device.upload(&data)?)?;
    /// let group = DeviceGroup::simulated(4)?;
    /// assert_eq!(group.reduce_sum(&group.upload(&data)?)?, expected);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`GroupError::OtherGroup`](crate::GroupError::OtherGroup) in [`ErrorKind::Group`] if `x` belongs to another
    /// group; the other errors of [`ErrorKind::Group`] if a rank of another process fails; those of
    /// [`Device::reduce_sum`].
    pub fn reduce_sum<T: ReduceElement>(&self, x: &ShardedBuffer<T>) -> Result<T::Sum> {
        self.together(|| self.reduced::<ops::Sum, T>(x))
            .during("reduce_sum")
    }

    /// Reduces all elements of `x` by `operation`, one of [`ops`].
    ///
    /// The bits are those of [`Device::reduce`] for the same elements on one device. The places that
    /// [`ops::ArgMax`] and the like return are indices in the whole buffer.
    ///
    /// ```
    /// use tilewright::{DeviceGroup, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let group = DeviceGroup::simulated(2)?;
    /// let x = group.upload(&[3.0_f64, -4.0, 0.5])?;
    /// assert_eq!(group.reduce(&x, ops::ArgMin)?, 1);
    /// assert_eq!(group.reduce(&x, ops::Norm1)?, 7.5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoElements`] for a minimum, a maximum or the place of one if there are no elements, and those
    /// of [`DeviceGroup::reduce_sum`].
    pub fn reduce<R, T: Reducible<R>>(
        &self,
        x: &ShardedBuffer<T>,
        operation: R,
    ) -> Result<T::Output> {
        let _: R = operation;
        self.together(|| self.reduced::<R, T>(x)).during("reduce")
    }

    /// Writes the result of [`DeviceGroup::reduce`] to a buffer on each device.
    ///
    /// `results` are buffers of one element, or parts of buffers, one for each rank of this process, in the order
    /// of the ranks. Every device gets the same bits. The call waits for the partial results, which the host
    /// combines.
    ///
    /// ```
    /// use tilewright::{DeviceGroup, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let group = DeviceGroup::simulated(2)?;
    /// let [one, other] = group.devices() else { unreachable!() };
    /// let x = group.upload(&[3.0_f64, -4.0, 0.5])?;
    /// let mut sums = [one.zeros(1)?, other.zeros(1)?];
    /// group.reduce_into(&x, ops::Sum, &mut sums)?;
    /// assert_eq!(sums[1].to_vec()?, [-0.5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`] unless there is one result for each rank of this process, of one element each;
    /// [`ErrorKind::WrongDevice`] if one is not on its rank's device; those of [`DeviceGroup::reduce`].
    pub fn reduce_into<'r, R, T: Reducible<R>>(
        &self,
        x: &ShardedBuffer<T>,
        operation: R,
        results: impl IntoIterator<Item: Into<BufferViewMut<'r, T::Output>>>,
    ) -> Result<()> {
        let _: R = operation;
        self.together(|| self.leave_on_each(results, || self.reduced::<R, T>(x)))
            .during("reduce_into")
    }

    /// The dot product of `x` and `y`, which are equally long.
    ///
    /// The bits are those of [`Device::reduce_dot`] for the same elements on one device.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`] if one has more elements than the other, and those of
    /// [`DeviceGroup::reduce_sum`].
    pub fn reduce_dot<T: ReduciblePairs<ops::Dot>>(
        &self,
        x: &ShardedBuffer<T>,
        y: &ShardedBuffer<T>,
    ) -> Result<T::Output> {
        self.together(|| self.reduced_pairs::<ops::Dot, T>(x, y))
            .during("reduce_dot")
    }

    /// Writes the result of [`DeviceGroup::reduce_dot`] to a buffer on each device.
    ///
    /// `results` are as for [`reduce_into`](Self::reduce_into).
    ///
    /// # Errors
    /// The errors of [`reduce_into`](Self::reduce_into) for `results`, and of [`DeviceGroup::reduce_dot`].
    pub fn reduce_dot_into<'r, T: ReduciblePairs<ops::Dot>>(
        &self,
        x: &ShardedBuffer<T>,
        y: &ShardedBuffer<T>,
        results: impl IntoIterator<Item: Into<BufferViewMut<'r, T::Output>>>,
    ) -> Result<()> {
        self.together(|| self.leave_on_each(results, || self.reduced_pairs::<ops::Dot, T>(x, y)))
            .during("reduce_dot_into")
    }

    /// The exact sum of all elements of `x`, as a state that can be merged with others.
    ///
    /// It merges the states of the ranks. See [`Device::reproducible_sum`].
    ///
    /// ```
    /// use tilewright::DeviceGroup;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let group = DeviceGroup::simulated(2)?;
    /// let sum = group.reproducible_sum(&group.upload(&[1e300_f64, 3.0, -1e300, 4.0])?)?;
    /// assert_eq!(sum.value(), 7.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`DeviceGroup::reduce_sum`].
    pub fn reproducible_sum<T: ReproducibleElement>(
        &self,
        x: &ShardedBuffer<T>,
    ) -> Result<ReproducibleSum<T>> {
        self.together(|| self.merged_states(x))
            .during("reproducible_sum")
    }

    fn reduced<R, T: Reducible<R>>(&self, x: &ShardedBuffer<T>) -> Outcome<T::Output> {
        self.check_owns("the buffer to reduce", x.group())?;
        self.combined::<R, T, 1>(x, |rank| x.shard(rank).map(|x| [x]))
    }

    fn reduced_pairs<R, T: ReduciblePairs<R>>(
        &self,
        x: &ShardedBuffer<T>,
        y: &ShardedBuffer<T>,
    ) -> Outcome<T::Output> {
        self.check_owns("the first buffer", x.group())?;
        self.check_owns("the second buffer", y.group())?;
        let rule = "as many as the first buffer";
        check_length("the second buffer", y.len(), x.len(), rule)?;
        self.combined::<R, T, 2>(x, |rank| Some([x.shard(rank)?, y.shard(rank)?]))
    }

    /// Reduces one array or two, divided as `x` is; `shards_of` returns the shards of a rank of this process.
    fn combined<'x, R, T: Reduce<R, ARRAYS>, const ARRAYS: usize>(
        &self,
        x: &ShardedBuffer<T>,
        shards_of: impl Fn(usize) -> Option<[BufferView<'x, T>; ARRAYS]>,
    ) -> Outcome<T::Value> {
        if T::NEEDS_AN_ELEMENT && x.is_empty() {
            return Err(ErrorKind::NoElements {
                what: "the buffer to reduce".to_owned(),
                remedy: CHECK_FIRST,
            });
        }
        let launch = |rank, device: &Device, blocks| {
            let shards = shards_of(rank).expect("the rank is of this process");
            device.partials_of::<R, T, ARRAYS>(shards, blocks)
        };
        let mut partials = self.partials(x, launch)?;
        for rank in 0..self.ranks() {
            for partial in &mut partials[x.stripes().blocks_of(rank)] {
                *partial =
                    T::with_place(*partial, |index| x.stripes().index_in_buffer(rank, index));
            }
        }
        Ok(T::value_of(&partials, x.len()))
    }

    /// The partial results of all blocks; `launch` starts the computation of those of a rank of this process.
    fn partials<A: Element, T: Element>(
        &self,
        x: &ShardedBuffer<T>,
        launch: impl Fn(usize, &Device, u32) -> Outcome<Buffer<A>>,
    ) -> Outcome<Vec<A>> {
        let blocks_of = |rank| x.stripes().blocks_of(rank).len();
        let mut own = Vec::new();
        for (rank, device) in self.locals() {
            own.push(match blocks_of(rank) {
                0 => Buffer::uninit(device, 0)?,
                blocks => launch(rank, device, blocks as u32)?,
            });
        }
        let own_of = |rank| {
            let partials: &Buffer<A> = &own[self.local_of(rank)?];
            let of_blocks = partials.view().part(..blocks_of(rank));
            Some(of_blocks.expect("there is one for each block"))
        };
        Ok(self.parts_on_host(blocks_of, own_of)?.concat())
    }

    fn merged_states<T: ReproducibleElement>(
        &self,
        x: &ShardedBuffer<T>,
    ) -> Outcome<ReproducibleSum<T>> {
        self.check_owns("the buffer to reduce", x.group())?;
        let states = self.locals().map(|(rank, device)| {
            let shard = x.shard(rank).expect("the rank is of this process");
            device.state_words_of(shard)
        });
        let states = states.collect::<Outcome<Vec<_>>>()?;
        let own_of = |rank| Some(states[self.local_of(rank)?].view());
        let words = ReproducibleSum::<T>::new().words().len();
        let mut sum = ReproducibleSum::new();
        for state in self.parts_on_host(|_| words, own_of)? {
            let state = ReproducibleSum::from_words(&state);
            sum.merge(&state.expect("all states of a type have as many words"));
        }
        Ok(sum)
    }

    /// The parts of all ranks, `len_of(rank)` elements each, on the host; `own` has those of this process.
    fn parts_on_host<'a, T: Element>(
        &self,
        len_of: impl Fn(usize) -> usize,
        own: impl Fn(usize) -> Option<BufferView<'a, T>>,
    ) -> Outcome<Vec<Vec<T>>> {
        let remote = remote_parts(self, len_of, &own)?;
        let parts = remote.iter().enumerate().map(|(rank, remote)| {
            let part = remote.as_ref().map(Buffer::view).or_else(|| own(rank));
            part.expect("a rank is here or not").elements()
        });
        parts.collect()
    }

    /// Checks `results`, and writes what `reduced` returns to the one element of each.
    fn leave_on_each<'r, T: Element>(
        &self,
        results: impl IntoIterator<Item: Into<BufferViewMut<'r, T>>>,
        reduced: impl FnOnce() -> Outcome<T>,
    ) -> Outcome<()> {
        let mut results: Vec<_> = results.into_iter().map(Into::into).collect();
        let len = self.check_buffers(&results)?;
        check_length("each result buffer", len, 1, "it takes one value")?;
        let value = reduced()?;
        let mut results = results.iter_mut();
        results.try_for_each(|result| result.read_host(&[value]))
    }
}
