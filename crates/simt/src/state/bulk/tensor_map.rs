//! Tensor maps: the shape of a tensor in global memory, and of the boxes that are copied.

use super::swizzle::Swizzle;
use bytemuck::{Pod, Zeroable};

/// The most dimensions of a tensor.
pub(super) const MAX_RANK: usize = 5;

/// The bytes that a swizzle moves together.
const CHUNK_BYTES: u32 = 16;

/// The fields of a [`TensorMap`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TensorMapFields {
    /// The address of the tensor's first element.
    pub address: u64,
    /// Bytes of an element.
    pub element_bytes: u32,
    /// The number of dimensions, 1 to 5.
    pub rank: u32,
    /// Elements by dimension, innermost first.
    pub sizes: [u64; MAX_RANK],
    /// Bytes from one element to the next, by dimension from the second on.
    pub strides: [u64; MAX_RANK - 1],
    /// Elements of a box by dimension, innermost first.
    pub box_sizes: [u32; MAX_RANK],
    /// The swizzle of boxes in shared memory.
    pub swizzle: Swizzle,
    /// The address at which the view of the tensor's memory begins, for the checks.
    pub view_start: u64,
    /// The bytes of that view.
    pub view_bytes: u64,
}

/// The shape of a tensor in global memory and of its boxes.
///
/// It has the size of a `CUtensorMap`, 128 bytes, with other contents.
#[repr(C, align(64))]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
pub struct TensorMap {
    address: u64,
    sizes: [u64; MAX_RANK],
    strides: [u64; MAX_RANK - 1],
    view_start: u64,
    view_bytes: u64,
    element_bytes: u32,
    rank: u32,
    box_sizes: [u32; MAX_RANK],
    swizzle: u32,
}

impl TensorMap {
    /// The map of these fields.
    #[must_use]
    pub const fn new(fields: TensorMapFields) -> Self {
        let TensorMapFields {
            address,
            element_bytes,
            rank,
            sizes,
            strides,
            box_sizes,
            swizzle,
            view_start,
            view_bytes,
        } = fields;
        Self {
            address,
            sizes,
            strides,
            view_start,
            view_bytes,
            element_bytes,
            rank,
            box_sizes,
            swizzle: swizzle.number(),
        }
    }

    /// The fields of the map; none if its bytes are not a map.
    #[must_use]
    pub fn fields(&self) -> Option<TensorMapFields> {
        let swizzle = Swizzle::of_number(self.swizzle)?;
        let is_map = (1..=MAX_RANK as u32).contains(&self.rank)
            && matches!(self.element_bytes, 1 | 2 | 4 | 8)
            && self.box_sizes[..self.rank as usize]
                .iter()
                .all(|size| (1..=256).contains(size))
            && self.has_whole_chunks(swizzle);
        is_map.then_some(TensorMapFields {
            address: self.address,
            element_bytes: self.element_bytes,
            rank: self.rank,
            sizes: self.sizes,
            strides: self.strides,
            box_sizes: self.box_sizes,
            swizzle,
            view_start: self.view_start,
            view_bytes: self.view_bytes,
        })
    }

    /// Whether the rows of a box are whole chunks of the swizzle. Other rows would reach from one chunk into the
    /// next, and out of the box.
    fn has_whole_chunks(&self, swizzle: Swizzle) -> bool {
        let row = self.box_sizes[0] * self.element_bytes;
        swizzle == Swizzle::None || row.is_multiple_of(CHUNK_BYTES)
    }
}

impl TensorMapFields {
    /// The bytes of a whole box.
    #[must_use]
    pub fn box_bytes(&self) -> usize {
        let sizes = self.box_sizes[..self.rank as usize].iter();
        sizes.fold(self.element_bytes as usize, |bytes, size| {
            bytes * *size as usize
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_keeps_its_fields() {
        let fields = TensorMapFields {
            address: 4096,
            element_bytes: 2,
            rank: 2,
            sizes: [100, 50, 0, 0, 0],
            strides: [256, 0, 0, 0],
            box_sizes: [64, 128, 0, 0, 0],
            swizzle: Swizzle::B128,
            view_start: 4096,
            view_bytes: 12_800,
        };
        let map = TensorMap::new(fields);
        assert_eq!(map.fields(), Some(fields));
        assert_eq!(fields.box_bytes(), 2 * 64 * 128);
        assert_eq!(TensorMap::zeroed().fields(), None);
        assert_eq!((size_of::<TensorMap>(), align_of::<TensorMap>()), (128, 64));
    }

    #[test]
    fn rows_of_a_swizzled_box_are_whole_chunks() {
        let with_row = |elements, swizzle| {
            let map = TensorMap::new(TensorMapFields {
                address: 4096,
                element_bytes: 8,
                rank: 2,
                sizes: [100, 50, 0, 0, 0],
                strides: [800, 0, 0, 0],
                box_sizes: [elements, 4, 0, 0, 0],
                swizzle,
                view_start: 4096,
                view_bytes: 40_000,
            });
            map.fields().is_some()
        };
        assert!(with_row(4, Swizzle::B128) && with_row(3, Swizzle::None));
        for swizzle in [Swizzle::B32, Swizzle::B64, Swizzle::B128] {
            assert!(!with_row(3, swizzle), "{swizzle}");
        }
    }
}
