//! Operands of products: swizzled tiles.

use crate::machine;
use crate::shared::{ROW_BYTES, SwizzledTile};
use bytemuck::Pod;
use core::marker::PhantomData;

/// An element type of operands. Tensor cores read an `f32` as tf32, without its low 13 bits. This crate alone
/// implements it.
pub trait Element: Pod + sealed::Element {
    /// Elements along k that one instruction multiplies: 32 bytes.
    const STEP: usize = 32 / size_of::<Self>();

    /// Beyond 32 columns, those of an instruction are a multiple of this.
    #[doc(hidden)]
    const COLUMNS_STEP: usize;

    /// The simulator's type for it.
    #[doc(hidden)]
    #[cfg(not(target_arch = "nvptx64"))]
    const TYPE: simt::ElementType;
}

macro_rules! elements {
    ($($element:ty = $name:ident, $columns:literal;)*) => {$(
        impl sealed::Element for $element {}

        impl Element for $element {
            const COLUMNS_STEP: usize = $columns;

            #[cfg(not(target_arch = "nvptx64"))]
            const TYPE: simt::ElementType = simt::ElementType::$name;
        }
    )*};
}
elements! {
    half::f16 = F16, 8;
    half::bf16 = Bf16, 8;
    f32 = Tf32, 8;
    crate::fp8::F8E4M3 = E4m3, 8;
    crate::fp8::F8E5M2 = E5m2, 8;
    i8 = S8, 16;
    u8 = U8, 16;
}

mod sealed {
    pub trait Element {}
    pub trait Major {}
}

/// An operand's order in memory: [`KMajor`] or [`MnMajor`].
pub trait Major: sealed::Major {
    /// Whether elements along m or n are contiguous.
    #[doc(hidden)]
    const IS_MN: bool;
}

/// Elements along k are contiguous: a tile's rows are rows of the first operand, or columns of the second.
#[derive(Debug)]
pub struct KMajor(());

/// Elements along m or n are contiguous: a tile's rows are columns of the first operand, or rows of the second. For
/// 16-bit elements only.
#[derive(Debug)]
pub struct MnMajor(());

impl sealed::Major for KMajor {}
impl sealed::Major for MnMajor {}

impl Major for KMajor {
    const IS_MN: bool = false;
}
impl Major for MnMajor {
    const IS_MN: bool = true;
}

/// A tile as an operand: `MN` elements along m or n, and `K` along k.
#[derive(Debug)]
pub struct Operand<'block, T, M, const MN: usize, const K: usize> {
    first: *mut T,
    panel_bytes: usize,
    extent: usize,
    block: PhantomData<(&'block [T], M)>,
}

/// An instruction's description of an operand (PTX ISA, 9.7.15.5.1.2.2, "Matrix Descriptor
/// Format").
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// The instruction's operand.
    pub bits: u64,
    /// The address of the operand's tile. A GPU does not need it.
    pub tile: usize,
    /// Size of the tile in bytes.
    pub bytes: usize,
}

impl<'block, T: Element, const ROWS: usize, const COLUMNS: usize>
    SwizzledTile<'block, T, ROWS, COLUMNS>
{
    /// The tile as a K-major operand.
    #[inline(always)]
    #[must_use]
    pub fn k_major(self) -> Operand<'block, T, KMajor, ROWS, COLUMNS> {
        self.operand()
    }

    /// The tile as an MN-major operand, for 16-bit elements only. Others do not compile:
    ///
    /// ```compile_fail,E0080
    /// fn operand(tile: cuda_std::shared::SwizzledTile<'_, i8, 64, 128>) {
    ///     let _ = tile.mn_major();
    /// }
    /// # let _: fn(cuda_std::shared::SwizzledTile<'_, i8, 64, 128>) = operand;
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn mn_major(self) -> Operand<'block, T, MnMajor, COLUMNS, ROWS> {
        const {
            assert!(
                size_of::<T>() == 2,
                "only operands of 16-bit elements can be MN-major: those of 8 and 32 bits must be K-major"
            )
        };
        self.operand()
    }

    #[inline(always)]
    fn operand<M, const MN: usize, const K: usize>(self) -> Operand<'block, T, M, MN, K> {
        const {
            assert!(
                K.is_multiple_of(T::STEP),
                "an operand has a multiple of 32 bytes along k"
            )
        };
        Operand {
            first: self.as_mut_ptr(),
            panel_bytes: self.panel_bytes(),
            extent: self.extent(),
            block: PhantomData,
        }
    }
}

impl<T: Element, M: Major, const MN: usize, const K: usize> Operand<'_, T, M, MN, K> {
    /// Bytes from one group of eight rows of a panel to the next.
    const ROWS_STRIDE: usize = 8 * ROW_BYTES;

    /// The operand of step `step` along k.
    #[inline(always)]
    pub(super) fn step(&self, step: usize) -> Descriptor {
        let (offset, panels_stride) = if M::IS_MN {
            (step * T::STEP * ROW_BYTES, self.panel_bytes)
        } else {
            // Panels lie along k, and each step is within one.
            let byte = step * T::STEP * size_of::<T>();
            (byte / ROW_BYTES * self.panel_bytes + byte % ROW_BYTES, 16)
        };
        let first = machine::shared_address(self.first);
        Descriptor {
            bits: encode(first, offset, panels_stride, Self::ROWS_STRIDE),
            tile: self.first.addr(),
            bytes: self.extent,
        }
    }
}

/// Encodes the descriptor of an operand `offset` bytes into a tile with the 128-byte swizzle.
///
/// The descriptors of a tile's steps differ by a constant: address plus offset stays within its field, since shared
/// memory has less than 2^18 bytes.
#[inline(always)]
const fn encode(address: u32, offset: usize, leading: usize, stride: usize) -> u64 {
    const SWIZZLE_128: u32 = 1 << 30;
    /// Encodes an address or a stride in 14 bits, in units of 16 bytes.
    const fn field(bytes: u32) -> u32 {
        (bytes & 0x3_ffff) >> 4
    }
    let tile = field(address) | field(leading as u32) << 16;
    let high = field(stride as u32) | SWIZZLE_128;
    (tile + (offset as u32 >> 4)) as u64 | (high as u64) << 32
}
