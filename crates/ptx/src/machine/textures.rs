//! Samples of textures.

use super::thread::Thread;
use crate::decode::TextureSample;
use simt::Texture;
use std::ptr::with_exposed_provenance;

impl Thread<'_> {
    /// Textures here have one channel; the others are those of a missing one.
    pub fn sample(&mut self, it: &TextureSample) {
        let texture = with_exposed_provenance::<Texture>(self.get(it.handle) as usize);
        // SAFETY: the contract of `Kernel::body`: the handle is that of a texture which outlives the launch.
        let texture = unsafe { &*texture };
        let coordinate = |slot: &u32| f32::from_bits(self.get(*slot) as u32);
        let value = match self.list(it.coordinates) {
            [x] => texture.sample_1d(coordinate(x)),
            [x, y, ..] => texture.sample_2d(coordinate(x), coordinate(y)),
            [] => 0.0,
        };
        for (slot, value) in self.list(it.results).iter().zip([value, 0.0, 0.0, 1.0]) {
            self.set(*slot, value.to_bits().into());
        }
    }
}
