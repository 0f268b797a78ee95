//! Reductions by consecutive equal keys.

use crate::buffer::{Buffer, BufferView, IntoBufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result, check_length};
use crate::kernels::{OwnKernel, own_kernels};
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{global, global_mut};
use crate::module::Module;
use crate::reduce::{Reducible, ReducibleSegments, Segments};
use crate::scan;
use cuda_std::global::{Global, GlobalMut};
use tilewright_kernels::for_each_key_size;
use tilewright_kernels::keys::{self, KEY_THREADS};

/// The key and the value of each run.
type KeysAndValues<K, O> = (Buffer<K>, Buffer<O>);

/// The type of word as which keys are compared, with its kernels.
trait Word: Element {
    type Mark: for<'launch> OwnKernel<
        Params<'launch> = (Global<'launch, Self>, GlobalMut<'launch, u64>),
    >;
    type Place: for<'launch> OwnKernel<
        Params<'launch> = (
            Global<'launch, Self>,
            Global<'launch, u64>,
            GlobalMut<'launch, u64>,
            GlobalMut<'launch, Self>,
        ),
    >;
}

macro_rules! words {
    ($($word:ident: $mark:ident, $place:ident;)*) => {$(
        own_kernels!(keys: $mark, $place);

        impl Word for $word {
            type Mark = keys::$mark;
            type Place = keys::$place;
        }
    )*};
}
for_each_key_size!(words);

impl Device {
    /// Reduces the elements of `x` with consecutive equal keys by `operation`, one of [`ops`](crate::ops).
    ///
    /// The result has the key and the value of each run of equal keys, in order. Equal keys that are not neighbours are
    /// runs of their own: sort the keys first to have one run for each. Keys are elements of 1, 2, 4 or 8 bytes, and
    /// equal if their bits are.
    ///
    /// A run has the bits of [`Device::reduce_segments`]. The call waits for the device.
    /// [`Device::segments_of_keys`] finds the runs once for several reductions, also custom ones.
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let keys = device.upload(&[7_u32, 7, 3, 3, 3, 7])?;
    /// let x = device.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let (keys, sums) = device.reduce_by_key(&keys, &x, ops::Sum)?;
    /// assert_eq!(keys.to_vec()?, [7, 3, 7]);
    /// assert_eq!(sums.to_vec()?, [3.0, 12.0, 6.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if there is not a key for each element, and those of
    /// [`Device::segments_of_keys`] and [`Device::reduce_segments`].
    pub fn reduce_by_key<'k, 'x, K: Element, R, T: ReducibleSegments<R>>(
        &self,
        keys: impl IntoBufferView<'k, K>,
        x: impl IntoBufferView<'x, T>,
        operation: R,
    ) -> Result<KeysAndValues<K, <T as Reducible<R>>::Output>> {
        let _: R = operation;
        let (keys, x) = (keys.into(), x.into());
        let reduce = || {
            let rule = "one for each key";
            check_length("the buffer to reduce", x.len(), keys.len(), rule)?;
            let (segments, of_runs) = self.runs(keys)?;
            let values = self.segments_reduced::<R, T, 1>([x], &segments)?;
            Ok((of_runs, values))
        };
        reduce().during("reduce_by_key")
    }

    /// The runs of consecutive equal keys as [`Segments`], and the key of each.
    ///
    /// Keys are elements of 1, 2, 4 or 8 bytes, and equal if their bits are. The call waits for the device.
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let keys = device.upload(&[7_u32, 7, 3, 3, 3, 7])?;
    /// let (runs, keys) = device.segments_of_keys(&keys)?;
    /// assert_eq!(keys.to_vec()?, [7, 3, 7]);
    /// let x = device.upload(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(device.reduce_segments(&x, &runs, ops::Max)?.to_vec()?, [2, 5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if `keys` are on another device;
    /// [`ErrorKind::NoModule`](crate::ErrorKind::NoModule), and those of [`Device::segments`].
    pub fn segments_of_keys<'k, K: Element>(
        &self,
        keys: impl IntoBufferView<'k, K>,
    ) -> Result<(Segments, Buffer<K>)> {
        self.runs(keys.into()).during("segments_of_keys")
    }

    fn runs<K: Element>(&self, keys: BufferView<'_, K>) -> Outcome<(Segments, Buffer<K>)> {
        const {
            assert!(
                matches!(size_of::<K>(), 1 | 2 | 4 | 8),
                "a key must have 1, 2, 4 or 8 bytes"
            );
        }
        match size_of::<K>() {
            1 => self.runs_of_words::<K, u8>(keys),
            2 => self.runs_of_words::<K, u16>(keys),
            4 => self.runs_of_words::<K, u32>(keys),
            _ => self.runs_of_words::<K, u64>(keys),
        }
    }

    /// The runs of keys of the size of `W`.
    fn runs_of_words<K: Element, W: Word>(
        &self,
        keys: BufferView<'_, K>,
    ) -> Outcome<(Segments, Buffer<K>)> {
        self.check_reads(|| "the buffer of the keys".to_owned(), keys.holder())?;
        let len = keys.len();
        if len == 0 {
            return Ok((self.divided(&[0])?, Buffer::uninit(self, 0)?));
        }
        // Keys whose type has a smaller alignment than words may start anywhere in another program's memory.
        let copy = match keys.device_address().is_multiple_of(align_of::<W>() as u64) {
            true => None,
            false => Some(keys.copied()?),
        };
        let keys = copy.as_ref().map_or(keys, Buffer::view);
        let blocks = len.div_ceil(KEY_THREADS as usize);
        let blocks = grid_x(blocks, || format!("a grid for {len} keys"))?;
        let config = LaunchConfig::new(blocks, KEY_THREADS);
        // SAFETY: a word has the size of a key, and the keys start at a multiple of its alignment.
        let words = || unsafe { Global::from_raw_parts(global(keys).as_ptr().cast::<W>(), len) };
        let mut flags = Buffer::<u64>::uninit(self, len)?;
        let params = (words(), global_mut(flags.view_mut()));
        // SAFETY: the kernel has no requirements. Views of live memory without conflicting work: the keys are borrowed
        // until this returns, and the flags are freed in the device's order.
        unsafe { Module::launch_own::<W::Mark>(self, config, params)? };
        let mut sums = Buffer::<u64>::uninit(self, len)?;
        self.scanned_into(scan::Kind::Inclusive, flags.view(), sums.view_mut())?;
        let mut runs = [0];
        sums.view().part(len - 1..len)?.write_host(&mut runs)?;
        let runs = runs[0] as usize;
        let mut starts = Buffer::<u64>::uninit(self, runs)?;
        let mut of_runs = Buffer::<K>::uninit(self, runs)?;
        let of_words = global_mut(of_runs.view_mut());
        // SAFETY: as for the keys; a buffer starts at a multiple of any word's alignment.
        let of_words =
            unsafe { GlobalMut::from_raw_parts(of_words.as_mut_ptr().cast::<W>(), runs) };
        let params = (
            words(),
            global(sums.view()),
            global_mut(starts.view_mut()),
            of_words,
        );
        // SAFETY: the kernel's requirements: a thread for each key, its sums, and elements for each run, whose number
        // is the last sum. Views of live memory without conflicting work, as above.
        unsafe { Module::launch_own::<W::Place>(self, config, params)? };
        let mut offsets = vec![0_u64; runs];
        starts.view().write_host(&mut offsets)?;
        let offsets: Vec<usize> = offsets
            .iter()
            .map(|&start| start as usize)
            .chain([len])
            .collect();
        Ok((self.divided(&offsets)?, of_runs))
    }
}
