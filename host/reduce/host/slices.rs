//! Reductions of slices, and of data with random access.

use super::pipeline::{Pipeline, Slot};
use crate::buffer::{Buffer, BufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Error, ErrorKind, Outcome, Result};
use crate::partition::Stripes;
use crate::reduce::CHECK_FIRST;
use crate::reduce::operations::Reducible;
use crate::reduce::sealed::Reduce;

/// Bytes of a chunk of [`Device::reduce_host`]. It is copied in about a millisecond, far longer than a launch takes.
const CHUNK_BYTES: usize = 64 << 20;

/// Most chunks of [`Device::reduce_host`]. So a chunk of long data has eight of 2048 blocks, which run at once: fewer
/// may take longer than the copy.
const MOST_CHUNKS: usize = 256;

/// Reduces host data of any size, and keeps its memory for the next reduction.
///
/// [`Device::host_reducer`] creates one. It holds device memory for two chunks: while the device copies and reduces one
/// chunk, the host fills the other. The values have the same bits as those of [`Device::reduce`]
/// for a buffer with all elements, whatever the size of a chunk.
///
/// | data | method |
/// |---|---|
/// | a slice, including a memory-mapped file | [`reduce`](Self::reduce) |
/// | a file, or computed values | [`reduce_from`](Self::reduce_from) |
/// | an iterator of chunks | [`reduce_chunks`](Self::reduce_chunks), [`reduce_gathered`](Self::reduce_gathered) |
/// | floats, with one rounding of the sum | [`reproducible_sum`](Self::reproducible_sum), [`reproducible_sum_chunks`](Self::reproducible_sum_chunks) |
///
/// ```
/// use tilewright::{Device, ops};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let mut reducer = device.host_reducer::<i32>(4096)?;
/// let x = Vec::from_iter(0..10_000);
/// assert_eq!(reducer.reduce(&x, ops::Sum)?, 49_995_000);
/// assert_eq!(reducer.reduce(&x, ops::ArgMax)?, 9_999);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct HostReducer<T: Element> {
    pub(super) pipeline: Pipeline<T>,
}

impl Device {
    /// Reduces all elements of the host slice `x`, which may be larger than the device's memory.
    ///
    /// The value has the same bits as that of [`Device::reduce`] for a buffer with these elements. The device's memory
    /// holds two chunks at a time. A chunk is 64 MiB or a 256th of the data, whichever is more. Copies overlap
    /// reductions. To reuse this memory for further reductions, or to choose the chunk size, use
    /// [`Device::host_reducer`].
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = vec![0.5_f32; 100_000];
    /// assert_eq!(device.reduce_host(&x, ops::Sum)?, 50_000.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`HostReducer::reduce`] and [`Device::host_reducer`].
    pub fn reduce_host<R, T: Reducible<R>>(&self, x: &[T], operation: R) -> Result<T::Output> {
        let _: R = operation;
        let reduced = || {
            if size_of_val(x) <= CHUNK_BYTES {
                let buffer = self.upload(x).map_err(Error::into_kind)?;
                return self.reduced::<R, T, 1>([buffer.view()]);
            }
            let bytes = CHUNK_BYTES.max(size_of_val(x).div_ceil(MOST_CHUNKS));
            let chunk = bytes.div_ceil(size_of::<T>());
            let mut reducer = HostReducer::new(self, chunk)?;
            let value = reducer.reduced::<R>("reduce_host", x);
            value.map_err(Error::into_kind)
        };
        reduced().during("reduce_host")
    }

    /// Creates a reducer of host data that works in chunks of `chunk` elements.
    ///
    /// It uses device memory for two chunks, and page-locked memory: for slices 2 MiB for each of up to eight host
    /// threads, for other data as much as for two chunks. Both are allocated on first use and freed on drop.
    ///
    /// Copying 64 MiB takes far longer than a launch, so that is a good chunk size. For more than 16 GiB of data,
    /// choose a 256th of the data, so that enough blocks run at once. A launch for all the data has 2048 blocks, and a
    /// chunk covers at least two of them. So [`reduce`](HostReducer::reduce) and
    /// [`reduce_from`](HostReducer::reduce_from) need chunks of at least 16 KiB and at least a 1024th of the data; if
    /// `chunk` is smaller, the memory grows.
    ///
    /// # Errors
    /// The errors of [`Device::new_stream`].
    pub fn host_reducer<T: Element>(&self, chunk: usize) -> Result<HostReducer<T>> {
        HostReducer::new(self, chunk).during("host_reducer")
    }
}

impl<T: Element> HostReducer<T> {
    fn new(device: &Device, chunk: usize) -> Outcome<Self> {
        let pipeline = Pipeline::new(device, chunk.max(1))?;
        Ok(Self { pipeline })
    }

    /// The device that runs the reductions.
    #[must_use]
    pub fn device(&self) -> &Device {
        self.pipeline.device()
    }

    /// Reduces all elements of the host slice `x` by `operation`, one of [`ops`](crate::ops).
    ///
    /// The value has the same bits as that of [`Device::reduce`] for a buffer with these elements.
    ///
    /// # Errors
    /// [`ErrorKind::NoElements`] if `x` is empty and the operation needs an element;
    /// [`ErrorKind::OutOfHostMemory`], [`ErrorKind::NoModule`], and those of [`Device::pinned`] and
    /// [`Device::zeros`].
    pub fn reduce<R>(&mut self, x: &[T], operation: R) -> Result<<T as Reducible<R>>::Output>
    where
        T: Reducible<R>,
    {
        let _: R = operation;
        self.reduced::<R>("reduce", x)
    }

    fn reduced<R>(&mut self, call: &'static str, x: &[T]) -> Result<T::Value>
    where
        T: Reduce<R>,
    {
        let is_direct = {
            let backend = self.device().backend();
            backend.copies_directly(bytemuck::cast_slice(x))
        };
        match is_direct {
            true => self.reduced_from::<R, Error>(call, x.len(), |stripes, part, slot| {
                let runs = Vec::from_iter(stripes.runs(part));
                slot.copy(x, &runs).during(call)
            }),
            false => self.gathered::<R>(x).during(call),
        }
    }

    /// Reduces elements that host threads gather.
    pub(super) fn gathered<R>(&mut self, x: &[T]) -> Outcome<T::Value>
    where
        T: Reduce<R>,
    {
        check_elements::<R, T>(x.len())?;
        if x.is_empty() {
            return Ok(T::value_of(&[], 0));
        }
        let stripes = self.stripes(x.len());
        let device = self.device().clone();
        let of_parts = self.pipeline.run_by_two(
            stripes.ranks(),
            |part, slot| slot.gather(x, &Vec::from_iter(stripes.runs(part))),
            |part, chunk| partials_of_part::<R, T>(&device, stripes, part, chunk),
        )?;
        let of_parts = of_parts.into_iter().enumerate();
        let partials = of_parts.flat_map(|(part, of_part)| placed::<R, T>(stripes, part, of_part));
        Ok(T::value_of(&Vec::from_iter(partials), x.len()))
    }

    /// The division of `len` elements into chunks; grows the memory if they need it.
    fn stripes(&mut self, len: usize) -> Stripes {
        let stripes = Stripes::of_at_most(self.pipeline.len(), len, size_of::<T>());
        let longest = (0..stripes.ranks()).map(|part| stripes.len_of(part)).max();
        self.pipeline.grow(longest.unwrap_or(0));
        stripes
    }

    /// Reduces `len` elements that `read` supplies, for files and other data with random access.
    ///
    /// `read(start, elements)` fills `elements` with the elements from index `start` on. Each element is read once, but
    /// not in ascending order, because the additions do not follow the order of the data. A run has at least 16 KiB,
    /// unless it ends at the end of the data. The value has the same bits as that of [`Device::reduce`] for a buffer
    /// with all elements.
    ///
    /// ```
    /// use std::io::{Cursor, Read, Seek, SeekFrom};
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut file = Cursor::new(vec![1_u8; 100_000]);
    /// let device = Device::simulator();
    /// let mut reducer = device.host_reducer::<u8>(1 << 16)?;
    /// let count = reducer.reduce_from(100_000, ops::Count, |start, elements| {
    ///     file.seek(SeekFrom::Start(start as u64))?;
    ///     file.read_exact(elements)?;
    ///     Ok::<_, Box<dyn std::error::Error>>(())
    /// })?;
    /// assert_eq!(count, 100_000);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of `read`, and those of [`reduce`](Self::reduce), converted to `E`.
    pub fn reduce_from<R, E: From<Error>>(
        &mut self,
        len: usize,
        operation: R,
        mut read: impl FnMut(usize, &mut [T]) -> Result<(), E>,
    ) -> Result<<T as Reducible<R>>::Output, E>
    where
        T: Reducible<R>,
    {
        let _: R = operation;
        let call = "reduce_from";
        self.reduced_from::<R, E>(call, len, |stripes, part, slot| {
            slot.fill(call, |mut chunk| {
                for run in stripes.runs(part) {
                    let (elements, rest) = chunk.split_at_mut(run.len());
                    read(run.start, elements)?;
                    chunk = rest;
                }
                Ok(stripes.len_of(part))
            })
        })
    }

    /// Reduces `len` elements; `load` loads the elements of one part of the stripes, one run after another, and
    /// returns their number.
    fn reduced_from<R, E: From<Error>>(
        &mut self,
        call: &'static str,
        len: usize,
        mut load: impl FnMut(Stripes, usize, &mut Slot<T>) -> Result<usize, E>,
    ) -> Result<T::Value, E>
    where
        T: Reduce<R>,
    {
        check_elements::<R, T>(len).during(call)?;
        if len == 0 {
            return Ok(T::value_of(&[], 0));
        }
        let stripes = self.stripes(len);
        let parts = 0..stripes.ranks();
        let device = self.device().clone();
        let mut partials: Vec<T::Accumulator> = Vec::new();
        self.pipeline.run(
            call,
            |part, slot| match parts.contains(&part) {
                true => load(stripes, part, slot),
                false => Ok(0),
            },
            |part, chunk| partials_of_part::<R, T>(&device, stripes, part, chunk),
            |part, of_part| partials.extend(placed::<R, T>(stripes, part, of_part)),
        )?;
        Ok(T::value_of(&partials, len))
    }
}

/// Starts the reduction of a part of the stripes to a partial result for each of its blocks.
fn partials_of_part<R, T: Reduce<R>>(
    device: &Device,
    stripes: Stripes,
    part: usize,
    chunk: BufferView<'_, T>,
) -> Outcome<Buffer<T::Accumulator>> {
    let blocks = stripes.blocks_of(part).len() as u32;
    device.partials_of::<R, T, 1>([chunk], blocks)
}

/// The partial results of a part, with places in all of the data.
fn placed<R, T: Reduce<R>>(
    stripes: Stripes,
    part: usize,
    of_part: Vec<T::Accumulator>,
) -> impl Iterator<Item = T::Accumulator> {
    let place = move |index| stripes.index_in_buffer(part, index);
    let of_blocks = of_part.into_iter().take(stripes.blocks_of(part).len());
    of_blocks.map(move |partial| T::with_place(partial, place))
}

/// Fails without elements if the operation needs one.
pub fn check_elements<R, T: Reduce<R>>(len: usize) -> Outcome<()> {
    match T::NEEDS_AN_ELEMENT && len == 0 {
        true => Err(ErrorKind::NoElements {
            what: "the host data to reduce".to_owned(),
            remedy: CHECK_FIRST,
        }),
        false => Ok(()),
    }
}
