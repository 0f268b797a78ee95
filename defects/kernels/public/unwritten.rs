//! Reads of uninitialised memory.

use super::defects;
use crate::me;
use cuda_std::prelude::*;

defects! {
    /// A sum in shared memory begins with what an earlier block has left.
    sum_that_begins_with_anything sum_that_begins_with_anything_twin(m) {
        if me() == 0 {
            if RIGHT {
                m.shared.store(0, 0);
            }
            m.out.store(0, m.shared.load(0) + 1);
        }
    }

    /// The halo of a window at the end of the array is not filled.
    halo_of_the_last_window halo_of_the_last_window_twin(m) {
        if RIGHT || me() < 60 {
            m.shared.store(me(), 1);
        }
        thread::sync_threads();
        m.out.store(me(), m.shared.load(me()) + m.shared.load((me() + 3) % 64));
    }

    /// A convolution reads past the elements that the boundary's threads have filled.
    convolution_at_the_boundary convolution_at_the_boundary_twin(m) {
        m.shared.store(me(), 1);
        if me() < 3 && (RIGHT || me() != 2) {
            m.shared.store(64 + me(), 0);
        }
        thread::sync_threads();
        let mut sum = 0;
        let mut i = 0;
        while i < 4 {
            sum += m.shared.load(me() + i);
            i += 1;
        }
        m.out.store(me(), sum);
    }

    /// Threads past the end leave out their part of a sum of the block.
    parts_that_are_left_out parts_that_are_left_out_twin(m) {
        let is_inside = me() < 50;
        if RIGHT || is_inside {
            m.shared.store(me(), u32::from(is_inside));
        }
        thread::sync_threads();
        if me() < 32 {
            m.out.store(me(), m.shared.load(me()) + m.shared.load(me() + 32));
        }
    }

    /// A number of rounds is compared before anything has set it.
    rounds_never_set rounds_never_set_twin(m) {
        if RIGHT {
            m.out.store(me(), 0);
        }
        if m.out.load(me()) == 0 {
            m.out.store(me(), 1);
        }
    }

    /// The bits of a mask are counted to the end of its allocation, which is longer than the mask.
    bits_behind_the_mask bits_behind_the_mask_twin(m) {
        let words = if RIGHT { 64 } else { 50 };
        if me() < words {
            m.out.store(me(), 1);
        }
        thread::sync_threads();
        m.data.store(me(), m.out.load((me() + 1) % 64).count_ones());
    }
}
