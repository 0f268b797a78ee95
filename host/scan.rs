//! Prefix sums of buffers here; scans of buffers, rows, columns and segments by other operations in `scan/`.

mod custom;
mod custom_lines;
mod launch;
mod lines;
mod rows;

pub use custom::CustomScan;
pub use rows::Scannable;

use crate::buffer::{Buffer, BufferView, BufferViewMut, IntoBufferView};
use crate::device::{Device, default_device};
use crate::element::Element;
use crate::error::{During, Outcome, Result, check_length};
use crate::kernels::{OwnKernel, own_kernels};
use crate::launch::LaunchConfig;
use crate::launch_args::{global, global_mut};
use crate::module::Module;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use half::{bf16, f16};
use tilewright_kernels::for_each_scan;
use tilewright_kernels::scan::{self, PrefixSum, SCAN_THREADS, ScanPlan};

/// An element type whose buffers have prefix sums, of the same type.
///
/// f32 and f64 are rounded to nearest at each addition; f16 and bf16 are added in f32, and each sum is rounded once;
/// i32, u32, i64 and u64 wrap.
#[diagnostic::on_unimplemented(
    message = "buffers of `{Self}` have no prefix sums",
    note = "scans are for f32, f64, f16, bf16, i32, u32, i64 and u64"
)]
pub trait ScanElement: Element + sealed::Scan {}

mod sealed {
    use super::{Element, Global, GlobalMut, Kernel, OwnKernel, ScanPlan};

    /// An element type with kernels that scan it.
    pub trait Scan: Element {
        /// The type that the kernels add: of the same size, and unsigned for integers.
        type Scanned: Element;
        type Inclusive: for<'launch> OwnKernel<
            Params<'launch> = (
                Global<'launch, Self::Scanned>,
                GlobalMut<'launch, Self::Scanned>,
                GlobalMut<'launch, u64>,
            ),
        >;
        type Exclusive: for<'launch> OwnKernel<
            Params<'launch> = <Self::Inclusive as Kernel>::Params<'launch>,
        >;
        const PLAN: fn(usize) -> ScanPlan;
    }
}

macro_rules! scans {
    ($($element:ident: $inclusive:ident, $exclusive:ident;)*) => {$(
        own_kernels!(scan: $inclusive, $exclusive);

        impl sealed::Scan for $element {
            type Scanned = Self;
            type Inclusive = scan::$inclusive;
            type Exclusive = scan::$exclusive;
            const PLAN: fn(usize) -> ScanPlan = ScanPlan::of::<PrefixSum, $element>;
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
            type Exclusive = <$unsigned as sealed::Scan>::Exclusive;
            const PLAN: fn(usize) -> ScanPlan = <$unsigned as sealed::Scan>::PLAN;
        }

        impl ScanElement for $signed {}
    )*};
}
signed_scans! {
    i32 as u32;
    i64 as u64;
}

/// Which elements a prefix sum includes.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Those before an element, and the element itself.
    Inclusive,
    /// Those before an element.
    Exclusive,
}

impl Device {
    /// The inclusive prefix sums of `x`: element i is the sum of `x[0]` to `x[i]`.
    ///
    /// This is NumPy's `cumsum` and CUB's `InclusiveSum`. `x` is a buffer or a slice of one ([`Buffer::slice`]).
    ///
    /// Sums have the type of the elements; integers wrap on overflow. The order of the additions depends on the number
    /// of elements and their type alone, so the same elements give the same bits in every run and on every device. With
    /// the height h of [`scan_height`], each sum has an error |s' - s| <= gamma_h * sum |x| over its elements, where
    /// gamma_h = h u / (1 - h u). Within these errors, prefix sums of non-negative floats may decrease.
    ///
    /// Infinities and NaN follow IEEE 754; once a sum is infinite or NaN, so are all later ones. Every NaN is the
    /// canonical one. A zero sum is +0.
    ///
    /// The call does not wait: work that is submitted later sees the sums.
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
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if `x` is on another device;
    /// [`ErrorKind::NoModule`](crate::ErrorKind::NoModule), and those of [`Device::zeros`].
    #[doc(alias = "cumsum")]
    #[doc(alias = "prefix sum")]
    #[doc(alias = "InclusiveSum")]
    pub fn scan_inclusive<'x, T: ScanElement>(
        &self,
        x: impl IntoBufferView<'x, T>,
    ) -> Result<Buffer<T>> {
        self.scanned(Kind::Inclusive, x.into())
            .during("scan_inclusive")
    }

    /// The exclusive prefix sums of `x`: element i is the sum of the i elements before `x[i]`, and element 0 is 0.
    ///
    /// This is CUB's `ExclusiveSum`. The rules are those of [`Device::scan_inclusive`]. For integers, it is the
    /// inclusive scan shifted by one element; for floats, the two may differ by their rounding errors.
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
    /// The errors of [`Device::scan_inclusive`].
    #[doc(alias = "cumsum")]
    #[doc(alias = "prefix sum")]
    #[doc(alias = "ExclusiveSum")]
    pub fn scan_exclusive<'x, T: ScanElement>(
        &self,
        x: impl IntoBufferView<'x, T>,
    ) -> Result<Buffer<T>> {
        self.scanned(Kind::Exclusive, x.into())
            .during("scan_exclusive")
    }

    /// Writes the sums of [`Device::scan_inclusive`] to `sums`, a buffer or a slice of one, without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `sums` is not as long as `x`, and those of
    /// [`Device::scan_inclusive`].
    pub fn scan_inclusive_into<'x, 's, T: ScanElement>(
        &self,
        x: impl IntoBufferView<'x, T>,
        sums: impl Into<BufferViewMut<'s, T>>,
    ) -> Result<()> {
        self.scanned_into(Kind::Inclusive, x.into(), sums.into())
            .during("scan_inclusive_into")
    }

    /// Writes the sums of [`Device::scan_exclusive`] to `sums`, a buffer or a slice of one, without waiting.
    ///
    /// # Errors
    /// The errors of [`Device::scan_inclusive_into`].
    pub fn scan_exclusive_into<'x, 's, T: ScanElement>(
        &self,
        x: impl IntoBufferView<'x, T>,
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

    pub(crate) fn scanned_into<T: ScanElement>(
        &self,
        kind: Kind,
        x: BufferView<'_, T>,
        sums: BufferViewMut<'_, T>,
    ) -> Outcome<()> {
        self.check_reads(|| "the buffer to scan".to_owned(), x.holder())?;
        self.check_writes(|| "the buffer of the sums".to_owned(), sums.written())?;
        let rule = "one for each element of the buffer to scan";
        check_length("the buffer of the sums", sums.len(), x.len(), rule)?;
        if x.is_empty() {
            return Ok(());
        }
        self.launch_scan(kind, x, sums)
    }

    /// Scans `x`, at least one element, to `sums`, which is as long.
    fn launch_scan<T: ScanElement>(
        &self,
        kind: Kind,
        x: BufferView<'_, T>,
        sums: BufferViewMut<'_, T>,
    ) -> Outcome<()> {
        let plan = T::PLAN(x.len());
        // This does not overflow: a tile has 32 KiB, so no memory holds that many.
        let config = LaunchConfig::new(plan.tiles as u32, SCAN_THREADS);
        let mut state = Buffer::<u64>::zeroed(self, plan.state_words())?;
        let (x, sums) = (global(x), global_mut(sums));
        // SAFETY: for both views: the scanned type has the size and the alignment of an element.
        let params = unsafe {
            (
                Global::from_raw_parts(x.as_ptr().cast::<T::Scanned>(), x.len()),
                GlobalMut::from_raw_parts(sums.as_mut_ptr().cast::<T::Scanned>(), sums.len()),
                global_mut(state.view_mut()),
            )
        };
        // SAFETY: the kernel's requirements. The launch is the plan's. The lengths were compared. The state is new
        // and zero. Views of live memory without conflicting work: `x` and `sums` are borrowed until this returns,
        // and the state is freed after the launch, in the device's order.
        unsafe {
            match kind {
                Kind::Inclusive => Module::launch_own::<T::Inclusive>(self, config, params),
                Kind::Exclusive => Module::launch_own::<T::Exclusive>(self, config, params),
            }
        }
    }
}

/// The inclusive prefix sums of `data` on the default device: [`Device::scan_inclusive`].
///
/// ```
/// assert_eq!(tilewright::scan_inclusive(&[1.0_f32, 2.0, 3.5])?, [1.0, 3.0, 6.5]);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Device::from_env`], [`Device::upload`] and [`Device::scan_inclusive`].
#[doc(alias = "cumsum")]
#[doc(alias = "prefix sum")]
pub fn scan_inclusive<T: ScanElement>(data: &[T]) -> Result<Vec<T>> {
    let device = default_device()?;
    device.scan_inclusive(&device.upload(data)?)?.to_vec()
}

/// The exclusive prefix sums of `data` on the default device: [`Device::scan_exclusive`].
///
/// ```
/// assert_eq!(tilewright::scan_exclusive(&[1.0_f32, 2.0, 3.5])?, [0.0, 1.0, 3.0]);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Device::from_env`], [`Device::upload`] and [`Device::scan_exclusive`].
#[doc(alias = "cumsum")]
#[doc(alias = "prefix sum")]
pub fn scan_exclusive<T: ScanElement>(data: &[T]) -> Result<Vec<T>> {
    let device = default_device()?;
    device.scan_exclusive(&device.upload(data)?)?.to_vec()
}

/// The height of a scan of `len` elements of type `T`: the h of [`Device::scan_inclusive`]'s error bound.
///
/// It is the largest number of additions between an element and a prefix sum. For long inputs it grows by one for every
/// 2^23 elements of f32, or 2^22 of f64.
///
/// ```
/// assert_eq!(tilewright::scan_height::<f32>(8192), 31);
/// assert_eq!(tilewright::scan_height::<f32>(1 << 28), 76);
/// ```
#[must_use]
pub fn scan_height<T: ScanElement>(len: usize) -> u32 {
    ScanPlan::new(len, size_of::<T>()).height()
}
