//! Races within a warp: code that assumes lockstep.

use super::defects;
use crate::me;
use cuda_std::prelude::*;

defects! {
    /// The last steps of a reduction without any barrier of the warp.
    reduction_of_lanes_in_step reduction_of_lanes_in_step_twin(m) {
        m.shared.store(me(), 1);
        warp::sync(LaneMask::first(32));
        let mut width = 16;
        while width > 0 {
            let mut sum = 0;
            if me() < width {
                sum = m.shared.load(me()) + m.shared.load(me() + width);
            }
            if RIGHT {
                warp::sync(LaneMask::first(32));
            }
            if me() < width {
                m.shared.store(me(), sum);
            }
            if RIGHT {
                warp::sync(LaneMask::first(32));
            }
            width /= 2;
        }
    }

    /// The same with one barrier per step: one lane's reads and another's store are in the same phase.
    reduction_with_half_its_barriers reduction_with_half_its_barriers_twin(m) {
        m.shared.store(me(), 1);
        warp::sync(LaneMask::first(32));
        let mut width = 16;
        while width > 0 {
            let other = m.shared.load((me() + width) % 32);
            if RIGHT {
                warp::sync(LaneMask::first(32));
            }
            m.shared.store(me(), m.shared.load(me()) + other);
            warp::sync(LaneMask::first(32));
            width /= 2;
        }
    }

    /// Two uses of one place in shared memory, with no barrier of the warp between them.
    storage_used_twice storage_used_twice_twin(m) {
        m.shared.store(me(), 1);
        warp::sync(LaneMask::first(32));
        let mut sum = 0;
        if me() < 16 {
            sum = m.shared.load(2 * me()) + m.shared.load(2 * me() + 1);
        }
        if RIGHT {
            warp::sync(LaneMask::first(32));
        }
        if me() < 16 {
            m.shared.store(me(), sum);
        }
    }

    /// Lanes store a row of nearest neighbours, and other lanes of the warp read it.
    neighbours_of_other_lanes neighbours_of_other_lanes_twin(m) {
        m.shared.store(me(), me() as u32);
        if RIGHT {
            warp::sync(LaneMask::first(32));
        }
        m.out.store(me(), m.shared.load(31 - me()));
    }

    /// Every sixteenth lane stores for every eighth one, and that for every fourth one.
    levels_of_a_tree levels_of_a_tree_twin(m) {
        if me().is_multiple_of(16) {
            m.shared.store(me(), 1);
            m.shared.store(me() + 8, 2);
        }
        if RIGHT {
            warp::sync(LaneMask::first(32));
        }
        if me().is_multiple_of(8) {
            m.out.store(me(), m.shared.load(me()));
        }
    }

    /// One lane changes a sum after the barrier behind which all lanes read it.
    sum_changed_after_the_barrier sum_changed_after_the_barrier_twin(m) {
        m.shared.store(me(), 1);
        warp::sync(LaneMask::first(32));
        if me() == 0 {
            m.shared.store(31, 32);
        }
        if RIGHT {
            warp::sync(LaneMask::first(32));
        }
        m.out.store(me(), m.shared.load(31));
    }

    /// A prefix sum that adds in place, within a warp.
    prefix_sum_in_place prefix_sum_in_place_twin(m) {
        m.shared.store(me(), 1);
        thread::sync_threads();
        let mut offset = 1;
        while offset < 32 {
            let left = if me() >= offset { m.shared.load(me() - offset) } else { 0 };
            if RIGHT {
                thread::sync_threads();
            }
            m.shared.store(me(), m.shared.load(me()) + left);
            thread::sync_threads();
            offset *= 2;
        }
    }

    /// Values of a run are stored by the lanes that have decoded them and taken by others.
    values_of_a_run values_of_a_run_twin(m) {
        let mut run = 0;
        while run < 2 {
            if me().is_multiple_of(2) {
                m.shared.store(me() / 2, run);
            }
            warp::sync(LaneMask::first(32));
            m.data.store(me(), m.shared.load(me() % 16));
            if RIGHT {
                warp::sync(LaneMask::first(32));
            }
            run += 1;
        }
    }
}
