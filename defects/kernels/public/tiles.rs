//! Races in loops over tiles: a fast warp refills shared memory while a slow one reads it.

use super::defects;
use crate::me;
use cuda_std::prelude::*;

defects! {
    /// The next tile is stored while the last one is read.
    tile_reloaded_too_early tile_reloaded_too_early_twin(m) {
        let mut tile = 0;
        while tile < 2 {
            m.shared.store(me(), m.input.load(64 * tile + me()));
            thread::sync_threads();
            m.data.store(me(), m.shared.load((me() + 32) % 64));
            if RIGHT {
                thread::sync_threads();
            }
            tile += 1;
        }
    }

    /// The first thread sums up a row of products while the others begin the next row.
    row_summed_by_one_thread row_summed_by_one_thread_twin(m) {
        let mut row = 0;
        while row < 2 {
            m.shared.store(me(), row);
            thread::sync_threads();
            if me() == 0 {
                let mut sum = 0;
                let mut i = 0;
                while i < 64 {
                    sum += m.shared.load(i);
                    i += 1;
                }
                m.data.store(row as usize, sum);
            }
            if RIGHT {
                thread::sync_threads();
            }
            row += 1;
        }
    }

    /// A field that is kept in shared memory for one level is stored for the next one, while other warps
    /// read it with an offset.
    field_of_the_next_level field_of_the_next_level_twin(m) {
        let mut level = 0;
        while level < 3 {
            m.shared.store(me(), level);
            m.shared.store(64 + me(), level);
            thread::sync_threads();
            let sum = m.shared.load((me() + 1) % 64) + m.shared.load(64 + (me() + 33) % 64);
            m.data.store(me(), sum);
            if RIGHT {
                thread::sync_threads();
            }
            level += 1;
        }
    }

    /// A transpose by way of shared memory goes on to the next matrix after one barrier.
    transposes_in_a_row transposes_in_a_row_twin(m) {
        let (row, column) = (me() / 8, me() % 8);
        let mut matrix = 0;
        while matrix < 3 {
            m.shared.store(8 * row + column, m.input.load(64 * matrix + me()));
            thread::sync_threads();
            m.data.store(64 * matrix + me(), m.shared.load(8 * column + row));
            if RIGHT {
                thread::sync_threads();
            }
            matrix += 1;
        }
    }

    /// The factors of a step of a recurrence are replaced while the step reads them.
    factors_of_the_next_step factors_of_the_next_step_twin(m) {
        let mut state = 0;
        let mut step = 0;
        while step < 3 {
            if me() < 8 {
                m.shared.store(me(), 1);
            } else if me() < 16 {
                m.shared.store(me(), 2);
            }
            thread::sync_threads();
            state += m.shared.load(me() % 8) * m.shared.load(8 + me() % 8);
            if RIGHT {
                thread::sync_threads();
            }
            step += 1;
        }
        m.data.store(me(), state);
    }

    /// Warps leave out a part of a mask by what they read of it, and overwrite it for the next part at
    /// different times.
    mask_of_the_next_part mask_of_the_next_part_twin(m) {
        let mut part = 0;
        while part < 3 {
            m.shared.store(me(), part);
            thread::sync_threads();
            let skip = m.shared.load(0) + m.shared.load(63) == 2;
            if RIGHT {
                thread::sync_threads();
            }
            part += 1;
            if skip {
                continue;
            }
            m.data.store(me(), part);
        }
    }

    /// Numbers of rows are stored in shared memory by some warps and used by all, in several rounds.
    numbers_of_rows numbers_of_rows_twin(m) {
        let mut round = 0;
        while round < 2 {
            if me() >= 32 {
                m.shared.store(me() - 32, (me() - 32) as u32 + round);
            }
            thread::sync_threads();
            m.data.store(m.shared.load(me() % 32) as usize + 64 * (me() / 32), round);
            if RIGHT {
                thread::sync_threads();
            }
            round += 1;
        }
    }
}
