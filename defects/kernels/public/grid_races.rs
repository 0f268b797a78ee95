//! Races in global memory between blocks, and updates that are not atomic.

use super::{block, defects, global_index};
use crate::me;
use cuda_std::prelude::*;

defects! {
    /// One block sets the output to zero while the others add to it.
    output_zeroed_by_one_block output_zeroed_by_one_block_twin(m) {
        if !RIGHT && block() == 1 {
            m.data.store(me(), 0);
        }
        thread::sync_threads();
        m.data.atomic_add(me(), 1);
    }

    /// The first thread of the grid sets a count to zero that all threads count up.
    count_cleared_by_the_first_thread count_cleared_by_the_first_thread_twin(m) {
        if !RIGHT && global_index() == 0 {
            m.data.store(0, 0);
        }
        m.data.atomic_add(0, 1);
    }

    /// Threads whose elements have one number add to it, not atomically.
    count_of_a_number count_of_a_number_twin(m) {
        let number = global_index() % 8;
        if RIGHT {
            m.data.atomic_add(number, 1);
        } else {
            m.data.store(number, m.data.load(number) + 1);
        }
    }

    /// Threads that find a missing value add one to a count, not atomically.
    count_of_missing_values count_of_missing_values_twin(m) {
        if me().is_multiple_of(16) {
            if RIGHT {
                m.data.atomic_add(0, 1);
            } else {
                m.data.store(0, m.data.load(0) + 1);
            }
        }
    }

    /// The representative of a component is found and shortened by plain stores, and linked atomically.
    path_shortened_by_plain_stores path_shortened_by_plain_stores_twin(m) {
        if block() == 0 {
            m.data.atomic_compare_exchange(me(), 0, 1);
        } else if RIGHT {
            m.data.atomic_exchange(me(), 2);
        } else {
            m.data.store(me(), 2);
        }
    }

    /// A support is compared by a plain load while others count it down.
    support_counted_down support_counted_down_twin(m) {
        let next = (me() + 1) % 64;
        let support = if RIGHT { m.data.atomic_load(me()) } else { m.data.load(me()) };
        if support == 0 {
            m.data.atomic_add(next, 1);
        }
    }

    /// A reduction for one block is launched with several.
    reduction_of_several_blocks reduction_of_several_blocks_twin(m) {
        if RIGHT && block() != 0 {
            return;
        }
        m.data.store(me(), m.data.load(me()) + 1);
    }

    /// Every thread that finds something stores that there is something.
    flag_stored_by_many flag_stored_by_many_twin(m) {
        if me().is_multiple_of(8) {
            if RIGHT {
                m.data.atomic_store(0, 1);
            } else {
                m.data.store(0, 1);
            }
        }
    }

    /// Vertices push their value to neighbours by a comparison and a store.
    push_to_neighbours push_to_neighbours_twin(m) {
        let neighbour = global_index() / 2;
        let value = global_index() as u32;
        if RIGHT {
            m.data.atomic_max(neighbour, value);
        } else if m.data.load(neighbour) < value {
            m.data.store(neighbour, value);
        }
    }

    /// Threads take a place in a list by a load and a store of its length.
    place_in_a_list place_in_a_list_twin(m) {
        let place = if RIGHT {
            m.data.atomic_add(0, 1)
        } else {
            let place = m.data.load(0);
            m.data.store(0, place + 1);
            place
        };
        m.out.store(place as usize, global_index() as u32);
    }

    /// A maximum is compared by a plain load before it is updated atomically.
    guard_of_a_maximum guard_of_a_maximum_twin(m) {
        let value = global_index() as u32;
        let guard = if RIGHT { m.data.atomic_load(0) } else { m.data.load(0) };
        if guard <= value {
            m.data.atomic_max(0, value);
        }
    }

    /// Cells are set up by one thread of the block and counted up by the others.
    cells_set_up_by_one_thread cells_set_up_by_one_thread_twin(m) {
        if me() == 0 {
            m.data.store(block(), 0);
        }
        if RIGHT {
            thread::sync_threads();
        }
        m.data.atomic_add(block(), 1);
    }

    /// Points are turned to rows of features, by more threads than there are points: what the last ones
    /// store belongs to the next row.
    features_of_too_many_points features_of_too_many_points_twin(m) {
        let (points, features) = (60, 4);
        let point = global_index();
        let mut feature = 0;
        while feature < features {
            if !RIGHT || point < points {
                m.data.store(points * feature + point, m.input.load(features * point + feature));
            }
            feature += 1;
        }
    }

    /// All blocks store their last value to one element.
    last_value_of_each_block last_value_of_each_block_twin(m) {
        if me() == 0 && (!RIGHT || block() == 0) {
            m.data.store(0, block() as u32);
        }
    }
}
