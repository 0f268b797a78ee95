//! Sums of all elements of a buffer.

use crate::buffer::{Buffer, BufferView};
use crate::device::{Device, default_device};
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::kernels::module_of;
use crate::launch::LaunchConfig;
use crate::launch_args::{global, global_mut};
use crate::module::Module;
use crate::module_source::ModuleSource;
use crate::result_slot::ResultSlot;
use crate::workspace::{LARGEST_PARTIAL, Workspace};
use bytemuck::Zeroable;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use half::{bf16, f16};
use std::ptr;
use tilewright_kernels::for_each_reduction;
use tilewright_kernels::reduce::{self, BLOCK_THREADS, Plan, Sum};

/// A type whose buffers can be summed.
///
/// | elements | sum | arithmetic |
/// |---|---|---|
/// | f32 | f32 | rounded to nearest at each addition |
/// | f64 | f64 | rounded to nearest at each addition |
/// | f16, bf16 | f32 | each element exactly, then as for f32 |
/// | i32 | i64 | exact |
/// | u32 | u64 | exact |
/// | i64, u64 | i64, u64 | wrapping |
#[diagnostic::on_unimplemented(
    message = "buffers of `{Self}` cannot be summed",
    note = "sums are for f32, f64, f16, bf16, i32, u32, i64 and u64"
)]
pub trait ReduceElement: Element + sealed::Reduce<Sum, Output = Self::Sum> {
    /// The type of the sum.
    type Sum: Element + PartialEq;
}

mod sealed {
    use super::{Element, Global, GlobalMut, Kernel, ModuleSource};

    /// An element type that the operation `R` reduces.
    pub trait Reduce<R>: Element {
        /// What elements are combined in: the type of the blocks' partial results.
        type Accumulator: bytemuck::Pod;
        /// The value of an array.
        type Output: Element;
        /// The kernel for elements that start at a multiple of 16 bytes.
        type Kernel: for<'launch> Kernel<
            Params<'launch> = (
                Global<'launch, Self>,
                GlobalMut<'launch, Self::Accumulator>,
                GlobalMut<'launch, u32>,
                GlobalMut<'launch, Self::Output>,
            ),
        >;
        const KERNEL: Self::Kernel;
        const MODULE: &'static ModuleSource;
        /// The kernel for elements that start elsewhere; it gives the same bits.
        type Unaligned: for<'launch> Kernel<
            Params<'launch> = <Self::Kernel as Kernel>::Params<'launch>,
        >;
        const UNALIGNED: Self::Unaligned;
        const UNALIGNED_MODULE: &'static ModuleSource;
    }
}

macro_rules! reduce_elements {
    ($($kernel:ident, $unaligned:ident: $operation:ident of $element:ident in $accumulator:ident gives $output:ident;)*) => {$(
        impl sealed::Reduce<reduce::$operation> for $element {
            type Accumulator = $accumulator;
            type Output = $output;
            type Kernel = reduce::$kernel;
            const KERNEL: Self::Kernel = reduce::$kernel();
            const MODULE: &'static ModuleSource = module_of!($kernel);
            type Unaligned = reduce::$unaligned;
            const UNALIGNED: Self::Unaligned = reduce::$unaligned();
            const UNALIGNED_MODULE: &'static ModuleSource = module_of!($unaligned);
        }
        reduce_elements!(@public $operation $element $output);
    )*};
    (@public Sum $element:ident $output:ident) => {
        impl ReduceElement for $element {
            type Sum = $output;
        }
    };
    (@public $operation:ident $element:ident $output:ident) => {};
}
for_each_reduction!(reduce_elements);

/// The bytes that a kernel reads at once, at whose multiples they start.
const VECTOR_BYTES: u64 = 16;

/// The name of the operation in errors.
const OPERATION: &str = "reduce_sum";

impl Device {
    /// The sum of all elements of `x`, a buffer or a part of one ([`Buffer::slice`]); 0 for none.
    ///
    /// The additions form a tree that depends on the number of elements and their type alone: the
    /// same elements give the same bits in every run and on every device. With h the tree's height
    /// ([`reduce_sum_height`], 30 for 2^24 f32), |s' - s| <= gamma_h * sum |x| where gamma_h =
    /// h u / (1 - h u) (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
    ///
    /// Infinities go through as IEEE 754 has them. A NaN, of a term or of inf - inf, gives the one
    /// canonical NaN, whatever its sign and payload: the bits 0x7fff_ffff in f32,
    /// 0x7fff_ffff_ffff_ffff in f64. A sum that is zero is +0: that of no terms, that of terms that
    /// are all -0, and that of terms that cancel.
    ///
    /// It waits for all submitted work, and so for the result. [`Device::reduce_sum_into`] does not.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[i32::MAX, i32::MAX, 2])?;
    /// assert_eq!(device.reduce_sum(&x)?, 4_294_967_296_i64);
    /// assert_eq!(device.reduce_sum(x.slice(1..)?)?, 2_147_483_649);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongDevice`] if `x` is of another device; [`ErrorKind::OutOfMemory`],
    /// [`ErrorKind::OutOfHostMemory`], [`ErrorKind::NoModule`], [`ErrorKind::DeviceLost`] or
    /// [`ErrorKind::Cuda`].
    pub fn reduce_sum<'x, T: ReduceElement>(
        &self,
        x: impl Into<BufferView<'x, T>>,
    ) -> Result<T::Sum> {
        self.sum(x.into()).during(OPERATION)
    }

    /// Writes the sum of all elements of `x` to the one element of `result`, without waiting: work
    /// that is submitted later sees it.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`] if `result` does not have one element, and those of
    /// [`Device::reduce_sum`].
    pub fn reduce_sum_into<'x, T: ReduceElement>(
        &self,
        x: impl Into<BufferView<'x, T>>,
        result: &mut Buffer<T::Sum>,
    ) -> Result<()> {
        self.sum_into(x.into(), result).during(OPERATION)
    }

    fn sum<T: ReduceElement>(&self, x: BufferView<'_, T>) -> Outcome<T::Sum> {
        self.check_owns(|| "the buffer to sum".to_owned(), x.device())?;
        if x.is_empty() {
            return Ok(T::Sum::zeroed());
        }
        let mut result = ResultSlot::take(self)?;
        self.in_context(|| {
            self.launch_reduction::<Sum, T>(x, result.global_mut())?;
            result.wait()
        })?
    }

    fn sum_into<T: ReduceElement>(
        &self,
        x: BufferView<'_, T>,
        result: &mut Buffer<T::Sum>,
    ) -> Outcome<()> {
        self.check_owns(|| "the buffer to sum".to_owned(), x.device())?;
        self.check_owns(|| "the buffer of the result".to_owned(), result.device())?;
        if result.len() != 1 {
            return Err(ErrorKind::WrongLength {
                expected: 1,
                found: result.len(),
            });
        }
        if x.is_empty() {
            return result.view_mut().clear();
        }
        self.launch_reduction::<Sum, T>(x, global_mut(result.view_mut()))
    }

    /// Reduces `x`, which has an element, to the one element of `result`, which is of this device
    /// and which nothing else uses until this returns.
    fn launch_reduction<R, T: sealed::Reduce<R>>(
        &self,
        x: BufferView<'_, T>,
        result: GlobalMut<'_, T::Output>,
    ) -> Outcome<()> {
        const { assert!(size_of::<T::Accumulator>() <= LARGEST_PARTIAL) };
        let is_aligned = x.device_address().is_multiple_of(VECTOR_BYTES);
        let source = if is_aligned {
            T::MODULE
        } else {
            T::UNALIGNED_MODULE
        };
        let module = Module::on_demand(self, source);
        let plan = Plan::new(x.len(), size_of::<T>());
        let mut workspace = Workspace::lock(self);
        let (ticket, partials) = workspace.addresses()?;
        // SAFETY: (1) the workspace has room for a ticket and MAX_BLOCKS partial results, each aligned
        // to 256 bytes, and accumulators are no larger, by the assertion; `Plan` has no more
        // blocks. (2) No other thread submits work that uses the workspace while it is locked, and
        // work that was submitted before comes before.
        let (partials, ticket) = unsafe {
            let partials = ptr::with_exposed_provenance_mut(partials as usize);
            (
                GlobalMut::from_raw_parts(partials, plan.blocks as usize),
                GlobalMut::from_raw_parts(ticket, 1),
            )
        };
        let params = (global(x), partials, ticket, result);
        let config = LaunchConfig::new(plan.blocks, BLOCK_THREADS);
        // SAFETY: (1) the kernel's (1): blocks and partial results are the plan's. Its (2): `x` starts
        // where the selected kernel asks, and `result` has an element. Its (3): the ticket is 0
        // between launches that succeed, and a workspace whose launch failed is discarded. (2) The
        // workspace is locked; `x` is borrowed until this returns, and `result` is the launch's.
        let launched = unsafe {
            if is_aligned {
                module.launch_params(T::KERNEL, config, params)
            } else {
                module.launch_params(T::UNALIGNED, config, params)
            }
        };
        if launched.is_err() {
            workspace.discard();
        }
        launched
    }
}

/// The sum of all elements of `data` on the default device; 0 for none.
///
/// ```
/// assert_eq!(tilewright::reduce_sum(&[1.0_f32, 2.0, 3.5])?, 6.5);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// Those of [`Device::from_env`], [`Device::upload`] and [`Device::reduce_sum`].
pub fn reduce_sum<T: ReduceElement>(data: &[T]) -> Result<T::Sum> {
    let device = default_device()?;
    device.reduce_sum(&device.upload(data)?)
}

/// The height of the tree in which `len` elements of type `T` are added: the most additions
/// between an element and the sum, and so the h of the error bound of [`Device::reduce_sum`].
///
/// It grows slowly as long as more elements bring more blocks, and by one for every 2^23 f32 (2^24
/// f16 or bf16, 2^22 f64) from there on:
///
/// | elements | f16, bf16 | f32 | f64 |
/// |---:|---:|---:|---:|
/// | 2^10 | 14 | 13 | 12 |
/// | 2^20 | 23 | 22 | 22 |
/// | 2^24 | 30 | 30 | 31 |
/// | 2^26 | 33 | 36 | 43 |
/// | 2^28 | 45 | 60 | 91 |
/// | 2^30 | 93 | 156 | 283 |
/// | 2^33 | 541 | 1052 | 2075 |
///
/// ```
/// assert_eq!(tilewright::reduce_sum_height::<f32>(1 << 24), 30);
/// assert_eq!(tilewright::reduce_sum_height::<f64>(1 << 33), 2075);
/// ```
#[must_use]
pub fn reduce_sum_height<T: ReduceElement>(len: usize) -> u32 {
    Plan::new(len, size_of::<T>()).tree_height()
}
