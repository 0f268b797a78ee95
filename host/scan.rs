//! Prefix sums of buffers.

use crate::buffer::{Buffer, BufferView, BufferViewMut};
use crate::device::{Device, default_device};
use crate::element::Element;
use crate::error::{During, Outcome, Result, check_length};
use crate::kernels::module_of;
use crate::launch::LaunchConfig;
use crate::launch_args::{global, global_mut};
use crate::module::Module;
use crate::module_source::ModuleSource;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use tilewright_kernels::for_each_scan;
use tilewright_kernels::scan::{self, SCAN_THREADS, ScanPlan};

/// An element type whose buffers have prefix sums, of the same type: f32 and f64, rounded to nearest at
/// each addition, and i32, u32, i64 and u64, wrapping.
#[diagnostic::on_unimplemented(
    message = "buffers of `{Self}` have no prefix sums",
    note = "scans are for f32, f64, i32, u32, i64 and u64"
)]
pub trait ScanElement: Element + sealed::Scan {}

mod sealed {
    use super::{Element, Global, GlobalMut, Kernel, ModuleSource};

    /// An element type with kernels that scan it.
    pub trait Scan: Element {
        /// The type that the kernels add: as wide, and unsigned where it is an integer.
        type Scanned: Element;
        type Inclusive: for<'launch> Kernel<
            Params<'launch> = (
                Global<'launch, Self::Scanned>,
                GlobalMut<'launch, Self::Scanned>,
                GlobalMut<'launch, u64>,
            ),
        >;
        const INCLUSIVE_MODULE: &'static ModuleSource;
        type Exclusive: for<'launch> Kernel<
            Params<'launch> = <Self::Inclusive as Kernel>::Params<'launch>,
        >;
        const EXCLUSIVE_MODULE: &'static ModuleSource;
    }
}

macro_rules! scans {
    ($($element:ident: $inclusive:ident, $exclusive:ident;)*) => {$(
        impl sealed::Scan for $element {
            type Scanned = Self;
            type Inclusive = scan::$inclusive;
            const INCLUSIVE_MODULE: &'static ModuleSource = module_of!($inclusive);
            type Exclusive = scan::$exclusive;
            const EXCLUSIVE_MODULE: &'static ModuleSource = module_of!($exclusive);
        }

        impl ScanElement for $element {}
    )*};
}
for_each_scan!(scans);

/// Two's complement: one wrapping addition serves signed and unsigned integers.
macro_rules! signed_scans {
    ($($signed:ident as $unsigned:ident;)*) => {$(
        impl sealed::Scan for $signed {
            type Scanned = $unsigned;
            type Inclusive = <$unsigned as sealed::Scan>::Inclusive;
            const INCLUSIVE_MODULE: &'static ModuleSource =
                <$unsigned as sealed::Scan>::INCLUSIVE_MODULE;
            type Exclusive = <$unsigned as sealed::Scan>::Exclusive;
            const EXCLUSIVE_MODULE: &'static ModuleSource =
                <$unsigned as sealed::Scan>::EXCLUSIVE_MODULE;
        }

        impl ScanElement for $signed {}
    )*};
}
signed_scans! {
    i32 as u32;
    i64 as u64;
}

/// Which elements a prefix sum has.
#[derive(Clone, Copy)]
enum Kind {
    /// Those before an element, and itself.
    Inclusive,
    /// Those before an element.
    Exclusive,
}

impl Device {
    /// The inclusive prefix sums of `x`, a buffer or a part of one ([`Buffer::slice`]): element i is
    /// the sum of `x[0]` to `x[i]` (NumPy's `cumsum`, CUB's `InclusiveSum`).
    ///
    /// Sums have the type of the elements; integers wrap. The order of the additions depends on the
    /// number of elements and their type alone: the same elements give the same bits in every run and
    /// on every device. With the height h of [`scan_height`], |s' - s| <= gamma_h * sum |x| over the
    /// elements of each sum, where gamma_h = h u / (1 - h u). Sums of elements that are not negative
    /// may descend by that error.
    ///
    /// A sum is infinite or NaN as IEEE 754 has it, from there to the end; every NaN is the canonical
    /// one. A sum that is zero is +0.
    ///
    /// It does not wait: work that is submitted later sees the sums.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[3, -1, 4, 1])?;
    /// assert_eq!(device.scan_inclusive(&x)?.to_vec()?, [3, 2, 6, 7]);
    /// assert_eq!(device.scan_inclusive(x.slice(2..)?)?.to_vec()?, [4, 5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if `x` is of another device; [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory),
    /// [`ErrorKind::NoModule`](crate::ErrorKind::NoModule), [`ErrorKind::DeviceLost`](crate::ErrorKind::DeviceLost) or [`ErrorKind::Cuda`](crate::ErrorKind::Cuda).
    #[doc(alias = "cumsum")]
    #[doc(alias = "prefix sum")]
    #[doc(alias = "InclusiveSum")]
    pub fn scan_inclusive<'x, T: ScanElement>(
        &self,
        x: impl Into<BufferView<'x, T>>,
    ) -> Result<Buffer<T>> {
        self.scanned(Kind::Inclusive, x.into())
            .during("scan_inclusive")
    }

    /// The exclusive prefix sums of `x`: element i is the sum of the i elements before `x[i]`, and
    /// element 0 is 0 (CUB's `ExclusiveSum`). The rules are those of [`Device::scan_inclusive`].
    ///
    /// Of integers it is the inclusive scan, one element later; of floats the two may differ by the
    /// error that each has.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let lengths = device.upload(&[3_u64, 0, 4, 1])?;
    /// assert_eq!(device.scan_exclusive(&lengths)?.to_vec()?, [0, 3, 3, 7]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Device::scan_inclusive`].
    #[doc(alias = "cumsum")]
    #[doc(alias = "prefix sum")]
    #[doc(alias = "ExclusiveSum")]
    pub fn scan_exclusive<'x, T: ScanElement>(
        &self,
        x: impl Into<BufferView<'x, T>>,
    ) -> Result<Buffer<T>> {
        self.scanned(Kind::Exclusive, x.into())
            .during("scan_exclusive")
    }

    /// Writes what [`Device::scan_inclusive`] returns to `sums`, a buffer or a part of one
    /// ([`Buffer::slice_mut`]).
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `sums` is not as long as `x`, and those of
    /// [`Device::scan_inclusive`].
    pub fn scan_inclusive_into<'x, 's, T: ScanElement>(
        &self,
        x: impl Into<BufferView<'x, T>>,
        sums: impl Into<BufferViewMut<'s, T>>,
    ) -> Result<()> {
        self.scanned_into(Kind::Inclusive, x.into(), sums.into())
            .during("scan_inclusive_into")
    }

    /// Writes what [`Device::scan_exclusive`] returns to `sums`, a buffer or a part of one.
    ///
    /// # Errors
    /// Those of [`Device::scan_inclusive_into`].
    pub fn scan_exclusive_into<'x, 's, T: ScanElement>(
        &self,
        x: impl Into<BufferView<'x, T>>,
        sums: impl Into<BufferViewMut<'s, T>>,
    ) -> Result<()> {
        self.scanned_into(Kind::Exclusive, x.into(), sums.into())
            .during("scan_exclusive_into")
    }

    fn scanned<T: ScanElement>(&self, kind: Kind, x: BufferView<'_, T>) -> Outcome<Buffer<T>> {
        let mut sums = Buffer::uninit(self, x.len())?;
        self.scanned_into(kind, x, sums.view_mut())?;
        Ok(sums)
    }

    fn scanned_into<T: ScanElement>(
        &self,
        kind: Kind,
        x: BufferView<'_, T>,
        sums: BufferViewMut<'_, T>,
    ) -> Outcome<()> {
        self.check_owns(|| "the buffer to scan".to_owned(), x.device())?;
        self.check_owns(|| "the buffer of the sums".to_owned(), sums.device())?;
        let rule = "one for each element of the buffer to scan";
        check_length("the buffer of the sums", sums.len(), x.len(), rule)?;
        if x.is_empty() {
            return Ok(());
        }
        self.launch_scan(kind, x, sums)
    }

    /// Scans `x`, of one element at least, to as many `sums`.
    fn launch_scan<T: ScanElement>(
        &self,
        kind: Kind,
        x: BufferView<'_, T>,
        sums: BufferViewMut<'_, T>,
    ) -> Outcome<()> {
        let plan = ScanPlan::new(x.len(), size_of::<T>());
        // A tile has 32 KiB, so no memory holds more of them than the number does.
        let config = LaunchConfig::new(plan.tiles as u32, SCAN_THREADS);
        let mut state = Buffer::<u64>::zeroed(self, plan.state_words())?;
        let (x, sums) = (global(x), global_mut(sums));
        // SAFETY: (1) of both: what is scanned is as wide as an element, and aligned alike.
        let params = unsafe {
            (
                Global::from_raw_parts(x.as_ptr().cast::<T::Scanned>(), x.len()),
                GlobalMut::from_raw_parts(sums.as_mut_ptr().cast::<T::Scanned>(), sums.len()),
                global_mut(state.view_mut()),
            )
        };
        // SAFETY: (1) the kernel's (1): the launch is the plan's. Its (2): the lengths were compared. Its
        // (3): the state is new, and zeros. (2) `x` and `sums` are borrowed until this returns, and the
        // memory of the state is freed after the launch, in the device's order.
        unsafe {
            match kind {
                Kind::Inclusive => Module::on_demand(self, T::INCLUSIVE_MODULE)
                    .launch_params::<T::Inclusive>(config, params),
                Kind::Exclusive => Module::on_demand(self, T::EXCLUSIVE_MODULE)
                    .launch_params::<T::Exclusive>(config, params),
            }
        }
    }
}

/// The inclusive prefix sums of `data` on the default device, by [`Device::scan_inclusive`].
///
/// ```
/// assert_eq!(tilewright::scan_inclusive(&[1.0_f32, 2.0, 3.5])?, [1.0, 3.0, 6.5]);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// Those of [`Device::from_env`], [`Device::upload`] and [`Device::scan_inclusive`].
#[doc(alias = "cumsum")]
#[doc(alias = "prefix sum")]
pub fn scan_inclusive<T: ScanElement>(data: &[T]) -> Result<Vec<T>> {
    let device = default_device()?;
    device.scan_inclusive(&device.upload(data)?)?.to_vec()
}

/// The exclusive prefix sums of `data` on the default device, by [`Device::scan_exclusive`].
///
/// ```
/// assert_eq!(tilewright::scan_exclusive(&[1.0_f32, 2.0, 3.5])?, [0.0, 1.0, 3.0]);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// Those of [`Device::from_env`], [`Device::upload`] and [`Device::scan_exclusive`].
#[doc(alias = "cumsum")]
#[doc(alias = "prefix sum")]
pub fn scan_exclusive<T: ScanElement>(data: &[T]) -> Result<Vec<T>> {
    let device = default_device()?;
    device.scan_exclusive(&device.upload(data)?)?.to_vec()
}

/// The most additions between an element and a prefix sum of `len` elements of type `T`: the h of the
/// error bound of [`Device::scan_inclusive`]. It grows by one for every 2^23 f32, or 2^22 f64.
///
/// ```
/// assert_eq!(tilewright::scan_height::<f32>(8192), 31);
/// assert_eq!(tilewright::scan_height::<f32>(1 << 28), 76);
/// ```
#[must_use]
pub fn scan_height<T: ScanElement>(len: usize) -> u32 {
    ScanPlan::new(len, size_of::<T>()).height()
}
