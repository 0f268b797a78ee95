//! Blocks of bytes that the host passes to a kernel by value.

use bytemuck::Pod;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

/// A kernel parameter passed by value: a `T` in constant parameter memory (`__grid_constant__` in CUDA C++).
///
/// Use it for data that must stay in parameter memory, at its own alignment: a tensor map, whose 128 bytes are
/// aligned to 64 and whose address instructions take, or a table that the kernel reads by reference. For a small
/// struct, [`ValueParam`](crate::kernel::ValueParam) is simpler. Reads are `ld.param`; [`as_ptr`](Self::as_ptr) is
/// the generic address, for instructions that take one. The host passes a `&T`, whose bytes are copied when the
/// launch is submitted.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// The part of a line to draw.
/// #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// pub struct Window {
///     first: u64,
///     scale: f32,
///     shift: f32,
/// }
///
/// /// `y[i] = scale * x[first + i] + shift`.
/// #[kernel]
/// pub fn draw(window: GridConstant<Window>, x: Global<f32>, y: GlobalMut<f32>) {
///     let i = thread::unique_index();
///     let from = window.first as usize + i.get();
///     if let (Some(x), Some(y)) = (x.get(from), y.own(i)) {
///         y.set(window.scale.mul_add(x, window.shift));
///     }
/// }
/// ```
///
/// Like the views of [`global`](crate::global), it ends with its launch and stays with its thread.
#[derive(Clone, Copy)]
pub struct GridConstant<'launch, T> {
    /// A raw pointer is neither `Send` nor `Sync`.
    value: *const T,
    launch: PhantomData<&'launch T>,
}

impl<'launch, T: Pod> GridConstant<'launch, T> {
    /// The parameter for a launch submitted while the borrow lasts.
    ///
    /// Host code only: some instructions need the address of a parameter, not of a variable.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    #[must_use]
    pub const fn new(value: &'launch T) -> Self {
        Self {
            value,
            launch: PhantomData,
        }
    }

    /// The parameter at `value`.
    ///
    /// # Safety
    /// 1. `value` is aligned, and points to a `T` that lives and is not written for `'launch`. On a GPU, that is in
    ///    parameter, constant or global memory.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_raw(value: *const T) -> Self {
        Self {
            value,
            launch: PhantomData,
        }
    }

    /// The generic address of the value.
    #[inline(always)]
    #[must_use]
    pub const fn as_ptr(self) -> *const T {
        self.value
    }
}

impl<T: Pod> Deref for GridConstant<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the value is aligned, lives and is not written: the contract of `from_raw`, or
        // the borrow of `new`.
        unsafe { &*self.value }
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for GridConstant<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("GridConstant")
            .field(&**self)
            .finish()
    }
}

/// The one type that `#[kernel]` passes by value in parameter memory.
#[doc(hidden)]
pub trait ByValue: sealed::ByValue {
    /// The type of the value.
    type Value: Pod;
}

impl<T: Pod> sealed::ByValue for GridConstant<'_, T> {}
impl<T: Pod> ByValue for GridConstant<'_, T> {
    type Value = T;
}

mod sealed {
    pub trait ByValue {}
}
