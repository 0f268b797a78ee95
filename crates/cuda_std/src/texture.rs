//! Textures: arrays of numbers that are read at real-valued places, with interpolation between
//! elements and an answer outside of them, by the GPU's texture units and through their cache.
//!
//! The host makes a texture and chooses how it is read; kernels get it as a parameter, of a type
//! that says how many dimensions it has. Its elements are f32, or integers of 8 bits that are
//! read as numbers from 0 to 1.
//!
//! With linear filtering the weights of neighbouring elements have 8 bits after the point (CUDA
//! C++ Programming Guide, "Texture Fetching"): a value is exact to 2^-8 of the neighbours'
//! difference for each dimension, and may differ by that much from device to device.

use crate::machine;
use core::marker::PhantomData;

/// A texture of one dimension.
///
/// It ends with its launch and stays with its thread, as the views of [`global`](crate::global)
/// do.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Texture1d<'launch> {
    handle: u64,
    /// A raw pointer is neither `Send` nor `Sync`.
    launch: PhantomData<(&'launch (), *const ())>,
}

/// A texture of two dimensions.
///
/// It ends with its launch and stays with its thread, as the views of [`global`](crate::global)
/// do.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Texture2d<'launch> {
    handle: u64,
    /// A raw pointer is neither `Send` nor `Sync`.
    launch: PhantomData<(&'launch (), *const ())>,
}

macro_rules! from_handle {
    ($($texture:ident)*) => {$(
        impl $texture<'_> {
            /// The texture that the device knows by this number.
            ///
            /// # Safety
            /// 1. It is a texture of this device with as many dimensions, for the lifetime
            ///    `'launch`.
            #[inline(always)]
            #[must_use]
            pub const unsafe fn from_handle(handle: u64) -> Self {
                Self {
                    handle,
                    launch: PhantomData,
                }
            }

            /// The number by which the device knows the texture.
            #[inline(always)]
            #[must_use]
            pub const fn handle(self) -> u64 {
                self.handle
            }
        }
    )*};
}
from_handle!(Texture1d Texture2d);

impl Texture1d<'_> {
    /// The value at `x`. Element `i` has its centre at `i + 0.5`; with normalised coordinates at
    /// that over the number of elements.
    #[inline(always)]
    #[must_use]
    pub fn sample(self, x: f32) -> f32 {
        // SAFETY: (1) is that of `from_handle`.
        unsafe { machine::texture_1d(self.handle, x) }
    }
}

impl Texture2d<'_> {
    /// The value at (`x`, `y`). The element in column `i` and row `j` has its centre at
    /// (`i + 0.5`, `j + 0.5`); with normalised coordinates at that over the number of columns and
    /// of rows.
    #[inline(always)]
    #[must_use]
    pub fn sample(self, x: f32, y: f32) -> f32 {
        // SAFETY: (1) is that of `from_handle`.
        unsafe { machine::texture_2d(self.handle, x, y) }
    }
}

/// What `#[kernel]` passes as a texture.
#[doc(hidden)]
pub trait Texture: sealed::Texture {
    /// How many dimensions it has.
    const DIMENSIONS: usize;
}

impl Texture for Texture1d<'_> {
    const DIMENSIONS: usize = 1;
}
impl Texture for Texture2d<'_> {
    const DIMENSIONS: usize = 2;
}

mod sealed {
    pub trait Texture {}
    impl Texture for super::Texture1d<'_> {}
    impl Texture for super::Texture2d<'_> {}
}
