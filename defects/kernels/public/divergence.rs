//! Barriers and warp-level operations that not all threads reach, or whose mask does not match the threads that do.

use super::{block, defects, global_index};
use crate::me;
use cuda_std::prelude::*;

defects! {
    /// A barrier in a branch that a part of the block takes.
    barrier_in_a_branch barrier_in_a_branch_twin(m) {
        if me() < 32 {
            m.shared.store(me(), 1);
            if !RIGHT {
                thread::sync_threads();
            }
        }
        if RIGHT {
            thread::sync_threads();
        }
        m.out.store(me(), me() as u32);
    }

    /// A barrier that every second lane reaches.
    barrier_of_even_lanes barrier_of_even_lanes_twin(m) {
        m.shared.store(me(), 1);
        if RIGHT || me().is_multiple_of(2) {
            thread::sync_threads();
        }
        m.out.store(me(), m.shared.load(me()));
    }

    /// Threads without an atom return, and the others wait for them.
    return_before_a_barrier return_before_a_barrier_twin(m) {
        let is_mine = me() < 50;
        if !RIGHT && !is_mine {
            return;
        }
        m.shared.store(me(), u32::from(is_mine));
        thread::sync_threads();
        m.out.store(me(), m.shared.load(me()));
    }

    /// Threads past the end return, in the last block alone.
    return_in_the_last_block return_in_the_last_block_twin(m) {
        let is_inside = global_index() < 100;
        if !RIGHT && !is_inside {
            return;
        }
        thread::sync_threads();
        if is_inside {
            m.out.store(global_index(), block() as u32);
        }
    }

    /// Some warps go through a barrier that others leave out: each waits at another line.
    barrier_that_some_warps_leave_out barrier_that_some_warps_leave_out_twin(m) {
        m.shared.store(me(), 1);
        if RIGHT || me() < 32 {
            thread::sync_threads();
        }
        m.data.store(me(), 1);
        thread::sync_threads();
    }

    /// Barriers of a reduction's steps are in the branch of the threads that add.
    barriers_of_those_that_add barriers_of_those_that_add_twin(m) {
        m.shared.store(me(), 1);
        thread::sync_threads();
        let mut width = 32;
        while width > 16 {
            if me() < width {
                m.shared.store(me(), m.shared.load(me()) + m.shared.load(me() + width));
                if !RIGHT {
                    thread::sync_threads();
                }
            }
            if RIGHT {
                thread::sync_threads();
            }
            width /= 2;
        }
    }

    /// A loop with a barrier is left by some threads, on data.
    loop_left_on_data loop_left_on_data_twin(m) {
        let mut round = 0;
        while round < 4 {
            if !RIGHT && round == (me() / 32) as u32 + 1 {
                break;
            }
            m.data.store(me(), round);
            thread::sync_threads();
            round += 1;
        }
    }

    /// A shuffle of the whole warp in a branch of half of it.
    shuffle_of_a_full_mask shuffle_of_a_full_mask_twin(m) {
        if me() < 16 {
            let mask = LaneMask::first(if RIGHT { 16 } else { 32 });
            m.out.store(me(), warp::shuffle_xor(mask, me() as u32, 1));
        }
    }

    /// A vote by lanes that its mask does not name.
    vote_without_the_caller vote_without_the_caller_twin(m) {
        let mask = if RIGHT { LaneMask::first(32) } else { LaneMask::from_bits(0xffff_fffe) };
        let is_any = warp::any(mask, me() == 3);
        m.out.store(me(), u32::from(is_any));
    }

    /// The mask of a part of the warp is that of another part.
    mask_of_another_part mask_of_another_part_twin(m) {
        let part = me() / 8;
        let place = if RIGHT { part } else { (part + 1) % 4 };
        let mask = LaneMask::from_bits(0xff << (8 * place));
        m.out.store(me(), warp::shuffle_down_in(mask, me() as u32, 1, 8));
    }

    /// A mask with as many bits as a lane's number has, in place of one for each lane.
    mask_of_five_bits mask_of_five_bits_twin(m) {
        let mask = LaneMask::from_bits(if RIGHT { 0xffff_ffff } else { 0x1f });
        m.out.store(me(), warp::shuffle(mask, me() as u32, 0));
    }

    /// A barrier of the warp names lanes that do not come.
    barrier_of_absent_lanes barrier_of_absent_lanes_twin(m) {
        if me() < 16 {
            m.shared.store(me(), 1);
            warp::sync(LaneMask::first(if RIGHT { 16 } else { 32 }));
            m.out.store(me(), m.shared.load(15 - me()));
        }
    }
}
