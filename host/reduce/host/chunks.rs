//! Reductions of consecutive chunks.

use super::gather::gather;
use super::slices::{HostReducer, check_elements};
use crate::buffer::{Buffer, BufferView};
#[expect(unused_imports, reason = "for the documentation")]
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Error, Outcome, Result, check_length};
use crate::reduce::operations::Reducible;
use crate::reduce::ops::{
    All, Any, ArgMax, ArgMin, Count, Max, Min, MinMax, NormInf, Product, Sum,
};
use crate::reduce::reproducible::{ReproducibleElement, ReproducibleSum};
use half::{bf16, f16};
use tilewright_kernels::reduce::Plan;

/// Most blocks of a launch for consecutive elements: enough for the speed of the link to the device.
const MOST_BLOCKS: u32 = 256;

/// An element type whose reduction by `R` does not depend on the order of the elements.
///
/// | operations | elements |
/// |---|---|
/// | `Min`, `Max`, `MinMax`, `ArgMin`, `ArgMax` | all |
/// | `Sum`, `Product` | integers |
/// | `NormInf` | floats |
/// | `Count`, `Any`, `All` | u8 |
///
/// The other operations round. To give the bits of a whole buffer, they need elements from all parts of the data at
/// once: [`HostReducer::reduce_from`] reads them in that order, and [`HostReducer::reduce_gathered`] keeps all of them.
#[diagnostic::on_unimplemented(
    message = "chunks of `{Self}` that come one after another cannot be reduced by `{R}`",
    note = "the bits of the value depend on the order of the elements: read the data at any place, with \
            `HostReducer::reduce_from`, gather it on the device, with `HostReducer::reduce_gathered`, or sum it in any \
            order, with `HostReducer::reproducible_sum_chunks`"
)]
pub trait ReducibleInChunks<R>: Reducible<R> {}

macro_rules! in_chunks {
    ($($operations:tt of $elements:tt;)*) => {
        $(in_chunks!(@each $operations $elements);)*
    };
    (@each [$($operation:ident)*] $elements:tt) => {
        $(in_chunks!(@one $operation $elements);)*
    };
    (@one $operation:ident [$($element:ident)*]) => {
        $(impl ReducibleInChunks<$operation> for $element {})*
    };
}
in_chunks! {
    [Min Max MinMax ArgMin ArgMax] of [f32 f64 f16 bf16 i32 u32 i64 u64];
    [Sum Product] of [i32 u32 i64 u64];
    [NormInf] of [f32 f64 f16 bf16];
    [Count Any All] of [u8];
}

impl<T: Element> HostReducer<T> {
    /// Reduces the `len` elements of `chunks`, an iterator of slices, by an operation that does not round.
    ///
    /// The value has the same bits as that of [`Device::reduce`] for a buffer with all elements. For sums and norms
    /// of floats, use [`reduce_from`](Self::reduce_from), [`reduce_gathered`](Self::reduce_gathered) or
    /// [`reproducible_sum_chunks`](Self::reproducible_sum_chunks).
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let mut reducer = device.host_reducer::<f32>(4096)?;
    /// let chunks = [vec![0.5; 10_000], vec![], vec![7.0, -1.0]];
    /// assert_eq!(reducer.reduce_chunks(10_002, &chunks, ops::ArgMax)?, 10_000);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if the chunks do not have `len` elements in total; the
    /// call takes no chunk after the one that exceeds `len`. Otherwise those of [`reduce`](Self::reduce).
    pub fn reduce_chunks<R>(
        &mut self,
        len: usize,
        chunks: impl IntoIterator<Item: AsRef<[T]>>,
        operation: R,
    ) -> Result<<T as Reducible<R>>::Output>
    where
        T: ReducibleInChunks<R>,
    {
        let _: R = operation;
        let device = self.device().clone();
        let mut partials: Vec<T::Accumulator> = Vec::new();
        let launch = |part: BufferView<'_, T>| {
            let blocks = Plan::new(part.len(), size_of::<T>()).blocks;
            device.partials_of::<R, T, 1>([part], blocks.min(MOST_BLOCKS))
        };
        let collect = |start, of_part: Vec<T::Accumulator>| {
            let moved = |partial| T::with_place(partial, |index| start + index);
            partials.extend(of_part.into_iter().map(moved));
        };
        let call = "reduce_chunks";
        self.each_part(call, (len, always(chunks)), launch, collect)?;
        check_elements::<R, T>(len).during(call)?;
        Ok(T::value_of(&partials, len))
    }

    /// Reduces the `len` elements of `chunks`, an iterator of slices that may fail, by any operation.
    ///
    /// The value has the same bits as that of [`Device::reduce`] for a buffer with all elements. Operations that round
    /// need elements from all parts of the data at once, so the device's memory must hold the data. Copies overlap the
    /// work of the iterator. For less memory, read a file with [`reduce_from`](Self::reduce_from), or use an operation
    /// of [`reduce_chunks`](Self::reduce_chunks).
    ///
    /// The order of the operations depends on `len`, so the call needs it before the first chunk. If an iterator can be
    /// cloned, count first: `chunks.clone().map(|chunk| chunk.len()).sum()`.
    ///
    /// ```
    /// use tilewright::{Device, Error, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let mut reducer = device.host_reducer::<f32>(4096)?;
    /// let chunks = [vec![0.5; 10_000], vec![], vec![7.0, -1.0]].map(Ok::<_, Error>);
    /// assert_eq!(reducer.reduce_gathered(10_002, chunks, ops::Sum)?, 5006.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The first error of `chunks`, and those of [`reduce_chunks`](Self::reduce_chunks), converted to `E`.
    pub fn reduce_gathered<R, E: From<Error>>(
        &mut self,
        len: usize,
        chunks: impl IntoIterator<Item = Result<impl AsRef<[T]>, E>>,
        operation: R,
    ) -> Result<<T as Reducible<R>>::Output, E>
    where
        T: Reducible<R>,
    {
        let _: R = operation;
        let call = "reduce_gathered";
        let device = self.device().clone();
        let mut gathered = Buffer::uninit(&device, len).during(call)?;
        let mut filled = 0;
        let copy = |part: BufferView<'_, T>| {
            let place = filled..filled + part.len();
            filled = place.end;
            let place = gathered.slice_mut(place);
            place
                .and_then(|mut place| place.copy_from_buffer(part))
                .and_then(|()| device.zeros::<u8>(0))
                .map_err(Error::into_kind)
        };
        self.each_part(call, (len, chunks), copy, |_, _| ())?;
        let value = device.reduced::<R, T, 1>([gathered.view()]);
        Ok(value.during(call)?)
    }

    /// The exact sum of the `len` elements of `chunks`, as a state that can be merged with others.
    ///
    /// The state is that of [`Device::reproducible_sum`] for a buffer with all elements, in any order.
    /// [`ReproducibleSum::value`] rounds it, which gives the value of [`Device::reduce_sum_reproducible`].
    ///
    /// ```
    /// # let device = tilewright::Device::simulator();
    /// let mut reducer = device.host_reducer::<f32>(4096)?;
    /// let chunks = [vec![1e30, 1.0], vec![-1e30, 0.5]];
    /// assert_eq!(reducer.reproducible_sum_chunks(4, &chunks)?.value(), 1.5);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`reduce_chunks`](Self::reduce_chunks).
    pub fn reproducible_sum_chunks(
        &mut self,
        len: usize,
        chunks: impl IntoIterator<Item: AsRef<[T]>>,
    ) -> Result<ReproducibleSum<T>>
    where
        T: ReproducibleElement,
    {
        self.sum_of_chunks("reproducible_sum_chunks", (len, chunks))
    }

    /// The exact sum of all elements of the host slice `x`, as a state that can be merged with others.
    ///
    /// The state is that of [`Device::reproducible_sum`] for a buffer with these elements.
    ///
    /// # Errors
    /// The errors of [`reduce`](Self::reduce).
    pub fn reproducible_sum(&mut self, x: &[T]) -> Result<ReproducibleSum<T>>
    where
        T: ReproducibleElement,
    {
        self.sum_of_chunks("reproducible_sum", (x.len(), [x]))
    }

    fn sum_of_chunks(
        &mut self,
        call: &'static str,
        data: (usize, impl IntoIterator<Item: AsRef<[T]>>),
    ) -> Result<ReproducibleSum<T>>
    where
        T: ReproducibleElement,
    {
        let device = self.device().clone();
        let mut sum = ReproducibleSum::new();
        let collect = |_, words: Vec<u64>| {
            let state = ReproducibleSum::from_words(&words);
            sum.merge(&state.expect("all states of a type have as many words"));
        };
        let data = (data.0, always(data.1));
        self.each_part(call, data, |part| device.state_words_of(part), collect)?;
        Ok(sum)
    }

    /// Copies all elements to the device, part by part, and launches work for each part. `collect` receives the
    /// index of a part's first element, and the result of its launch.
    fn each_part<P: Element, E: From<Error>>(
        &mut self,
        call: &'static str,
        (len, chunks): (usize, impl IntoIterator<Item = Result<impl AsRef<[T]>, E>>),
        mut launch: impl FnMut(BufferView<'_, T>) -> Outcome<Buffer<P>>,
        mut collect: impl FnMut(usize, Vec<P>),
    ) -> Result<(), E> {
        let mut source = Source::new(call, len, chunks.into_iter().fuse());
        let part_len = self.pipeline.len();
        self.pipeline.run(
            call,
            |_, slot| slot.fill(call, |part| source.fill(part)),
            |_, part| launch(part),
            |number, result| collect(number * part_len, result),
        )
    }
}

/// Chunks that never fail.
fn always<C>(chunks: impl IntoIterator<Item = C>) -> impl Iterator<Item = Result<C>> {
    chunks.into_iter().map(Ok)
}

/// Chunks with a given total number of elements.
struct Source<I, C> {
    /// The call named in errors.
    call: &'static str,
    chunks: I,
    /// The chunk in progress, and the number of its elements already taken.
    current: Option<(C, usize)>,
    /// The number of elements taken in total. A chunk may report a different length each time.
    found: usize,
    expected: usize,
}

impl<I, C> Source<I, C> {
    fn new(call: &'static str, expected: usize, chunks: I) -> Self {
        Self {
            call,
            chunks,
            current: None,
            found: 0,
            expected,
        }
    }

    /// Moves the next elements to `part`, and returns their number. If they do not fill `part`, they are the last.
    fn fill<T: Element, E: From<Error>>(&mut self, part: &mut [T]) -> Result<usize, E>
    where
        I: Iterator<Item = Result<C, E>>,
        C: AsRef<[T]>,
    {
        let mut filled = 0;
        while filled < part.len() {
            let Some((chunk, taken)) = &mut self.current else {
                match self.chunks.next() {
                    Some(chunk) => self.begin(chunk?)?,
                    None => {
                        self.check_length(self.found)?;
                        break;
                    }
                }
                continue;
            };
            let left = chunk.as_ref().get(*taken..).unwrap_or_default();
            let count = left.len().min(part.len() - filled);
            gather(
                &mut part[filled..filled + count],
                [&left[..count]].into_iter(),
            );
            filled += count;
            *taken += count;
            if count == left.len() {
                self.current = None;
            }
            self.found += count;
            self.check_most(self.found)?;
        }
        Ok(filled)
    }

    fn begin<T>(&mut self, chunk: C) -> Result<()>
    where
        C: AsRef<[T]>,
    {
        let found = self.found.saturating_add(chunk.as_ref().len());
        self.current = Some((chunk, 0));
        self.check_most(found)
    }

    /// Fails if `found` exceeds the expected number of elements.
    fn check_most(&self, found: usize) -> Result<()> {
        match found > self.expected {
            true => self.check_length(found),
            false => Ok(()),
        }
    }

    fn check_length(&self, found: usize) -> Result<()> {
        let rule = "the number that the call was given";
        check_length("the data of all chunks", found, self.expected, rule).during(self.call)
    }
}
