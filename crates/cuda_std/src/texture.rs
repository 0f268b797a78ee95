//! Textures: arrays read at real-valued coordinates, through the GPU's texture units and their
//! cache, with interpolation between elements and defined values outside the array.
//!
//! The host makes a texture and chooses how it is read. A kernel gets it as a parameter whose type
//! states its dimensions. Elements are f32, or 8-bit integers that are read as numbers from 0 to 1.
//!
//! With linear filtering the weights of neighbouring elements have 8 bits after the point (CUDA
//! C++ Programming Guide, "Texture Fetching"): a value is exact to 2^-8 of the neighbours'
//! difference for each dimension, and may differ by that much from device to device.

use crate::machine;
use core::marker::PhantomData;

/// A texture of one dimension.
///
/// Like the views of [`global`](crate::global), it ends with its launch and stays with its thread.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Texture1d<'launch> {
    handle: u64,
    /// A raw pointer is neither `Send` nor `Sync`.
    launch: PhantomData<(&'launch (), *const ())>,
}

/// A texture of two dimensions.
///
/// Like the views of [`global`](crate::global), it ends with its launch and stays with its thread.
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
            /// The texture with this handle.
            ///
            /// # Safety
            /// 1. The handle is a texture of this device with the type's dimensions, for the
            ///    lifetime `'launch`.
            #[inline(always)]
            #[must_use]
            pub const unsafe fn from_handle(handle: u64) -> Self {
                Self {
                    handle,
                    launch: PhantomData,
                }
            }

            /// The device's handle of the texture.
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
    /// The value at `x`. Element `i` has its centre at `i + 0.5`; with normalised coordinates, at
    /// that divided by the number of elements.
    #[inline(always)]
    #[must_use]
    pub fn sample(self, x: f32) -> f32 {
        // SAFETY: the handle is a texture with the type's dimensions: the contract of
        // `from_handle`.
        unsafe { machine::texture_1d(self.handle, x) }
    }
}

impl Texture2d<'_> {
    /// The value at (`x`, `y`). The element in column `i` and row `j` has its centre at (`i + 0.5`,
    /// `j + 0.5`); with normalised coordinates, at those divided by the number of columns and of
    /// rows.
    #[inline(always)]
    #[must_use]
    pub fn sample(self, x: f32, y: f32) -> f32 {
        // SAFETY: the handle is a texture with the type's dimensions: the contract of
        // `from_handle`.
        unsafe { machine::texture_2d(self.handle, x, y) }
    }
}

/// Types that `#[kernel]` passes as textures.
#[doc(hidden)]
pub trait Texture: sealed::Texture {
    /// The number of dimensions.
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
