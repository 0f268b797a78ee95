//! Lists of the tiles of long segments, which scans divide among blocks.

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Outcome;
use crate::locks::lock;
use std::sync::{Arc, Mutex, MutexGuard};
use tilewright_kernels::scan::ScanPlan;

/// The segments that scans may divide, with the lists of their tiles that scans have needed so far.
#[derive(Debug)]
pub(super) struct LongSegments {
    /// Their numbers and lengths.
    long: Vec<(usize, usize)>,
    lists: Mutex<Vec<Arc<ScanTiles>>>,
}

/// The tiles of the segments that take blocks of their own, for all scans of one split.
#[derive(Debug)]
pub(crate) struct ScanTiles {
    split: Split,
    /// For each tile the segment, the number of the tile, and the first word of the segment's state.
    pub tiles: Buffer<[u64; 3]>,
    /// The words of the states of all segments.
    pub words: usize,
}

/// The inputs of a list, besides the segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Split {
    /// Bytes of an element.
    bytes: usize,
    /// Words of a sum in the state.
    words: usize,
}

impl LongSegments {
    pub fn new(long: Vec<(usize, usize)>) -> Self {
        Self {
            long,
            lists: Mutex::default(),
        }
    }

    /// The lists so far.
    pub fn lists(&self) -> MutexGuard<'_, Vec<Arc<ScanTiles>>> {
        lock(&self.lists)
    }

    /// The tiles for elements of `bytes` bytes in the split of `plan`. The first call for a split lists them, copies
    /// the list in the stream of `device`, and waits for the copy.
    pub fn tiles(
        &self,
        device: &Device,
        bytes: usize,
        plan: fn(usize) -> ScanPlan,
    ) -> Outcome<Arc<ScanTiles>> {
        let words = plan(0).words;
        let split = Split { bytes, words };
        let mut lists = self.lists();
        if let Some(list) = lists.iter().find(|list| list.split == split) {
            return Ok(Arc::clone(list));
        }
        let list = Arc::new(self.list(device, split, plan)?);
        lists.push(Arc::clone(&list));
        Ok(list)
    }

    fn list(
        &self,
        device: &Device,
        split: Split,
        plan: fn(usize) -> ScanPlan,
    ) -> Outcome<ScanTiles> {
        let (mut tiles, mut words) = (Vec::new(), 0);
        let most = ScanPlan::most_of_warp(split.bytes);
        for &(segment, len) in self.long.iter().filter(|(_, len)| *len > most) {
            let plan = plan(len);
            let numbers = (0..plan.tiles).map(|tile| [segment, tile, words]);
            tiles.extend(numbers.map(|numbers| numbers.map(|number| number as u64)));
            words += plan.state_words();
        }
        Ok(ScanTiles {
            split,
            tiles: Buffer::uploaded(device, &tiles)?,
            words,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_kernels::scan::PrefixSum;

    #[test]
    fn a_list_is_made_once_for_each_split() {
        let device = Device::simulator();
        let segments = LongSegments::new(vec![(0, 10_000), (2, 3000), (5, 1000)]);
        let of = |bytes, plan| segments.tiles(&device, bytes, plan).unwrap();
        let first = of(4, ScanPlan::of::<PrefixSum, f32>);
        let words = first.words as u64;
        let expected = [[0, 0, 0], [0, 1, 0], [2, 0, words]];
        assert_eq!(first.tiles.to_vec().unwrap(), expected);
        let used = device.memory().unwrap().used;
        assert!(Arc::ptr_eq(&first, &of(4, ScanPlan::of::<PrefixSum, f32>)));
        assert_eq!(device.memory().unwrap().used, used);
        // Tiles of 4096 elements; the shortest segment still needs none.
        assert_eq!(of(8, ScanPlan::of::<PrefixSum, f64>).tiles.len(), 4);
    }
}
