//! A buffer over the devices of a group.

use super::DeviceGroup;
use super::exchange::remote_parts;
use crate::buffer::{Buffer, BufferView, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result, check_length, zeroed_vec};
use crate::partition::Stripes;
use std::fmt;
use std::ops::Range;

/// A buffer that is divided over the devices of a [`DeviceGroup`]: each rank has a *shard*.
///
/// A reduction works in tiles of 16 KiB, which it deals to at most 2048 blocks in turn. A rank has the tiles of
/// consecutive blocks. So for up to 32 MiB it has one run of elements, and beyond that one run in each 32 MiB. Any
/// number of elements is allowed: ranks without elements have empty shards.
///
/// ```
/// use tilewright::DeviceGroup;
///
/// # fn main() -> tilewright::Result<()> {
/// let group = DeviceGroup::simulated(2)?;
/// let x = group.upload(&vec![1_u8; 40_000])?;
/// assert_eq!(x.runs(0)?.collect::<Vec<_>>(), [0..16_384]);
/// assert_eq!(x.runs(1)?.collect::<Vec<_>>(), [16_384..40_000]);
/// assert_eq!(x.to_vec()?, [1; 40_000]);
/// # Ok(())
/// # }
/// ```
pub struct ShardedBuffer<T: Element> {
    group: DeviceGroup,
    stripes: Stripes,
    /// The shards of this process's ranks.
    shards: Vec<Buffer<T>>,
}

impl DeviceGroup {
    /// Copies `data` to the devices, divided over them.
    ///
    /// In a group of several processes, each passes all of `data`.
    ///
    /// # Errors
    /// The errors of [any call](crate#errors).
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<ShardedBuffer<T>> {
        let uploaded = || {
            let mut buffer = ShardedBuffer::uninit(self, data.len())?;
            buffer.read_host(data)?;
            Ok(buffer)
        };
        uploaded().during("upload")
    }

    /// Makes a buffer of `len` elements whose bytes are all zero, divided over the devices.
    ///
    /// # Errors
    /// The errors of [`Device::zeros`](crate::Device::zeros).
    pub fn zeros<T: Element>(&self, len: usize) -> Result<ShardedBuffer<T>> {
        let made = ShardedBuffer::made(self, len, Buffer::zeroed);
        made.during("zeros")
    }
}

impl<T: Element> ShardedBuffer<T> {
    fn uninit(group: &DeviceGroup, len: usize) -> Outcome<Self> {
        Self::made(group, len, Buffer::uninit)
    }

    fn made(
        group: &DeviceGroup,
        len: usize,
        allocate: impl Fn(&Device, usize) -> Outcome<Buffer<T>>,
    ) -> Outcome<Self> {
        let stripes = Stripes::new(len, size_of::<T>(), group.ranks());
        let shards = group
            .locals()
            .map(|(rank, device)| allocate(device, stripes.len_of(rank)))
            .collect::<Outcome<_>>()?;
        Ok(Self {
            group: group.clone(),
            stripes,
            shards,
        })
    }

    /// The number of elements of all ranks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stripes.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The group whose devices hold the elements.
    #[must_use]
    pub fn group(&self) -> &DeviceGroup {
        &self.group
    }

    /// The elements of a rank, as runs of indices; in its shard they lie one run after another.
    ///
    /// # Errors
    /// [`GroupError::NoRank`](crate::GroupError::NoRank) in [`ErrorKind::Group`](crate::ErrorKind::Group) if there is
    /// no such rank.
    pub fn runs(&self, rank: usize) -> Result<impl Iterator<Item = Range<usize>> + use<T>> {
        self.group.check_rank(rank).during("runs")?;
        Ok(self.stripes.runs(rank))
    }

    pub(super) fn stripes(&self) -> Stripes {
        self.stripes
    }

    /// The shard of a rank, in the memory of its device; `None` if another process has it.
    #[must_use]
    pub fn shard(&self, rank: usize) -> Option<BufferView<'_, T>> {
        let local = self.group.local_of(rank)?;
        Some(self.shards[local].view())
    }

    /// The shard of a rank, for writing; `None` if another process has it.
    #[must_use]
    pub fn shard_mut(&mut self, rank: usize) -> Option<BufferViewMut<'_, T>> {
        let local = self.group.local_of(rank)?;
        Some(self.shards[local].view_mut())
    }

    /// Overwrites all elements with those of `source`, which each process passes whole.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `source` does not have [`len`](Self::len) elements;
    /// and those of [any call](crate#errors).
    pub fn copy_from_slice(&mut self, source: &[T]) -> Result<()> {
        self.read_host(source).during("copy_from_slice")
    }

    fn read_host(&mut self, source: &[T]) -> Outcome<()> {
        let rule = "as many as the buffer that it overwrites";
        check_length("the source", source.len(), self.len(), rule)?;
        for (rank, shard) in self.group.local_ranks().zip(&mut self.shards) {
            let runs = || self.stripes.runs(rank);
            let places = shard.view_mut().into_runs(runs().map(|run| run.len()))?;
            for (run, mut place) in runs().zip(places) {
                place.read_host(&source[run])?;
            }
        }
        Ok(())
    }

    /// Copies all elements to host memory, in each process.
    ///
    /// # Errors
    /// The errors of [`Buffer::to_vec`], and in a group of several processes
    /// [`ErrorKind::Group`](crate::ErrorKind::Group).
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.group.together(|| self.elements()).during("to_vec")
    }

    fn elements(&self) -> Outcome<Vec<T>> {
        let mut elements = zeroed_vec(self.len())?;
        let len_of = |rank| self.stripes.len_of(rank);
        let remote = remote_parts(&self.group, len_of, |rank| self.shard(rank))?;
        for (rank, remote) in remote.iter().enumerate() {
            let shard = match remote {
                Some(remote) => remote,
                None => &self.shards[rank - self.group.members.first],
            };
            for (run, at) in with_offsets(self.stripes.runs(rank)) {
                let shard = shard.view().part(at..at + run.len())?;
                shard.write_host(&mut elements[run])?;
            }
        }
        Ok(elements)
    }
}

impl<T: Element> fmt::Debug for ShardedBuffer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ShardedBuffer")
            .field("element", &std::any::type_name::<T>())
            .field("len", &self.len())
            .field("group", &self.group)
            .finish()
    }
}

/// Runs, each with the number of elements in the runs before it.
fn with_offsets(
    runs: impl Iterator<Item = Range<usize>>,
) -> impl Iterator<Item = (Range<usize>, usize)> {
    runs.scan(0, |next, run| {
        let at = *next;
        *next += run.len();
        Some((run, at))
    })
}
