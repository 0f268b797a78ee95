//! Operands of a product: tiles in shared memory, as a matrix descriptor names them.

use crate::state::Swizzle;

/// The warps of a warpgroup.
pub(crate) const WARPS: usize = 4;

/// The type of an operand's elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ElementType {
    /// IEEE 754 binary16.
    F16,
    /// The upper half of an `f32`.
    Bf16,
    /// The upper 19 bits of an `f32`.
    Tf32,
    /// 8 bits with 4 bits of exponent.
    E4m3,
    /// 8 bits with 5 bits of exponent.
    E5m2,
    /// Signed 8-bit integers.
    S8,
    /// Unsigned 8-bit integers.
    U8,
}

impl ElementType {
    /// Bytes of an element.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::Tf32 => 4,
            Self::E4m3 | Self::E5m2 | Self::S8 | Self::U8 => 1,
        }
    }

    /// The extent of one instruction in k: 32 bytes of elements.
    #[must_use]
    pub const fn k(self) -> usize {
        32 / self.bytes()
    }

    /// Whether one instruction accepts both operand types.
    pub(crate) const fn fits(self, other: Self) -> bool {
        use ElementType::{Bf16, E4m3, E5m2, F16, S8, Tf32, U8};
        matches!(
            (self, other),
            (F16, F16)
                | (Bf16, Bf16)
                | (Tf32, Tf32)
                | (E4m3 | E5m2, E4m3 | E5m2)
                | (S8 | U8, S8 | U8)
        )
    }
}

/// The index that runs along the rows of an operand's tile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Major {
    /// k.
    #[default]
    K,
    /// m in A, n in B; 16-bit types only.
    MN,
}

/// `wgmma.mma_async.m64nNk`: D = A B + D.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Wgmma {
    /// The elements of A.
    pub a: ElementType,
    /// The elements of B.
    pub b: ElementType,
    /// Columns of D: a multiple of 8 up to 256.
    pub n: u32,
    /// The order of A.
    pub a_major: Major,
    /// The order of B.
    pub b_major: Major,
}

/// An operand in shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Operand {
    /// The matrix descriptor, in the hardware's format.
    pub descriptor: u64,
    /// The address at which the operand's tile begins.
    pub tile: usize,
    /// The bytes of that tile, within which the operand must lie.
    pub bytes: usize,
}

/// The fields of a matrix descriptor (PTX ISA, "Matrix Descriptor Format").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Descriptor {
    /// The offset of the operand in the block's shared memory.
    pub start: usize,
    /// Leading dimension byte offset.
    pub leading: usize,
    /// Stride dimension byte offset.
    pub stride: usize,
    pub swizzle: Swizzle,
    /// The base offset, in bits 49 to 51.
    pub base: u64,
}

impl Descriptor {
    pub const fn of(bits: u64) -> Self {
        const fn field(bits: u64, shift: u32) -> usize {
            ((bits >> shift & 0x3fff) << 4) as usize
        }
        Self {
            start: field(bits, 0),
            leading: field(bits, 16),
            stride: field(bits, 32),
            swizzle: Swizzle::of_descriptor(bits >> 62),
            base: bits >> 49 & 7,
        }
    }

    /// The place of the element with index `mn` (m of A, n of B) and `k`, from the start of the
    /// block's shared memory (PTX ISA, "Shared Memory Matrix Layout"; the strides are those of
    /// CUTLASS, `cute/arch/mma_sm90_desc.hpp`).
    #[inline]
    pub fn place(&self, major: Major, element_bytes: usize, mn: usize, k: usize) -> usize {
        let offset = match (major, self.swizzle.row_bytes()) {
            (Major::K, Some(row)) => mn / 8 * self.stride + mn % 8 * row + k * element_bytes,
            (Major::K, None) => {
                let byte = k * element_bytes;
                mn / 8 * self.stride + mn % 8 * 16 + byte / 16 * self.leading + byte % 16
            }
            (Major::MN, Some(row)) => {
                let columns = row / element_bytes;
                let groups = mn / columns * self.leading + k / 8 * self.stride;
                groups + k % 8 * row + mn % columns * element_bytes
            }
            (Major::MN, None) => {
                let columns = 16 / element_bytes;
                let groups = mn / columns * self.stride + k / 8 * self.leading;
                groups + k % 8 * 16 + mn % columns * element_bytes
            }
        };
        self.swizzle.apply(self.start + offset)
    }

    /// The offsets of the 16-byte chunks that hold the elements with index `mn` and `0..k`, without
    /// duplicates within a row.
    pub fn chunks(
        &self,
        major: Major,
        element_bytes: usize,
        mn: std::ops::Range<usize>,
        k: usize,
    ) -> impl Iterator<Item = usize> {
        let (descriptor, width) = (*self, 16 / element_bytes);
        let (steps_mn, steps_k) = match major {
            Major::K => (1, width),
            Major::MN => (width, 1),
        };
        mn.step_by(steps_mn).flat_map(move |mn| {
            let place = move |k| descriptor.place(major, element_bytes, mn, k);
            (0..k).step_by(steps_k).map(place)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_in_units_of_sixteen_bytes() {
        let bits = (0x1f400 >> 4) | (8192 >> 4) << 16 | (1024 >> 4) << 32 | 1 << 62;
        let descriptor = Descriptor::of(bits);
        assert_eq!(descriptor.start, 0x1f400);
        assert_eq!((descriptor.leading, descriptor.stride), (8192, 1024));
        assert_eq!(descriptor.swizzle, Swizzle::B128);
    }

    /// A step of 16 in k is 32 bytes within the swizzled rows.
    #[test]
    fn k_major_rows_are_swizzled() {
        let tile = Descriptor::of((1024 >> 4) << 32 | 1 << 62);
        let step = Descriptor::of((32 >> 4) | (1024 >> 4) << 32 | 1 << 62);
        for (row, k) in [(0, 0), (3, 5), (9, 15), (63, 8)] {
            let place = step.place(Major::K, 2, row, k);
            assert_eq!(place, tile.place(Major::K, 2, row, k + 16));
            assert_eq!(place, Swizzle::B128.apply(row * 128 + (k + 16) * 2));
        }
    }

    #[test]
    fn mn_major_rows_are_those_of_k() {
        let tile = Descriptor::of((8192 >> 4) << 16 | (1024 >> 4) << 32 | 1 << 62);
        let place = tile.place(Major::MN, 2, 70, 9);
        assert_eq!(place, Swizzle::B128.apply(8192 + 1024 + 128 + 12));
    }
}
