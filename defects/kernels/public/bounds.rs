//! Accesses past the end, and at addresses that are not multiples of their width.

use super::{ELEMENTS, defects, global_index};
use crate::me;
use cuda_std::prelude::*;

defects! {
    /// A grid of whole blocks, and no comparison with the number of elements.
    no_comparison_with_the_length no_comparison_with_the_length_twin(m) {
        let index = 200 + global_index();
        if !RIGHT || index < ELEMENTS {
            m.data.store(index, 0);
        }
    }

    /// The store is masked at the tail, and the load is not.
    load_without_the_mask load_without_the_mask_twin(m) {
        let index = 200 + global_index();
        let is_inside = index < ELEMENTS;
        let value = if !RIGHT || is_inside { m.input.load(index) } else { 0 };
        if is_inside {
            m.out.store(index, value);
        }
    }

    /// A thread of the last block reads its element before it compares.
    read_before_the_comparison read_before_the_comparison_twin(m) {
        let index = 193 + global_index();
        if RIGHT && index >= ELEMENTS {
            return;
        }
        let value = m.input.load(index);
        if index < ELEMENTS {
            m.out.store(index, value);
        }
    }

    /// A filter's window goes past the last row.
    window_past_the_last_row window_past_the_last_row_twin(m) {
        let (row, column) = (me() / 16, me() % 16);
        let last = 15;
        let below = 13 + row;
        let below = if RIGHT && below > last { last } else { below };
        m.out.store(me(), m.input.load(16 * below + column));
    }

    /// The diagonal tile of a matrix whose size is no multiple of the tile's.
    tile_of_an_odd_matrix tile_of_an_odd_matrix_twin(m) {
        let (size, tile) = (15, 8);
        let (row, column) = (tile + me() / 8, tile + me() % 8);
        if !RIGHT || (row < size && column < size) {
            m.data.store(17 * row + column, 1);
        }
    }

    /// A transpose that takes the width for the height.
    transpose_with_swapped_sides transpose_with_swapped_sides_twin(m) {
        let (width, height) = (8, 32);
        let (x, y) = (me() % 8, me() / 8);
        let place = if RIGHT { x * height + y } else { y * height + x * width };
        m.data.store(place + 3, 1);
    }

    /// An image with fewer rows than its header says.
    rows_that_are_not_there rows_that_are_not_there_twin(m) {
        let rows = if RIGHT { 16 } else { 17 };
        let mut row = 0;
        while row < rows {
            if me() < 16 {
                m.data.store(16 * row + me(), 1);
            }
            row += 1;
        }
    }

    /// The end of the last row is read beside its beginning, where the offsets have ended.
    end_of_the_last_row end_of_the_last_row_twin(m) {
        let row = 192 + me();
        if !RIGHT || row + 1 < ELEMENTS {
            m.out.store(row, m.input.load(row + 1) - m.input.load(row));
        }
    }

    /// Sums of warps in shared memory are read by more threads than there are.
    more_sums_than_there_are more_sums_than_there_are_twin(m) {
        m.shared.store(me(), 1);
        thread::sync_threads();
        let place = if RIGHT { me() } else { 4 * me() + 8 };
        if RIGHT || place >= 64 {
            m.out.store(me(), m.shared.load(if RIGHT { place } else { place.max(ELEMENTS - 1 + me()) }));
        }
    }

    /// Two elements at a time, from an odd one on.
    vector_from_an_odd_element vector_from_an_odd_element_twin(m) {
        let first = 2 * me() + if RIGHT { 2 } else { 1 };
        let [one, two] = m.input.load_vector(first);
        m.out.store(me(), one + two);
    }

    /// Rows of odd length, four elements at a time.
    vectors_of_odd_rows vectors_of_odd_rows_twin(m) {
        let length = if RIGHT { 8 } else { 7 };
        let [first, .., last] = m.input.load_vector::<4>(length * (me() % 16));
        m.out.store(me(), first + last);
    }

    /// Vectors in shared memory behind as many sums as there are warps.
    vectors_behind_the_sums vectors_behind_the_sums_twin(m) {
        let sums = if RIGHT { 4 } else { 2 };
        m.shared.store_vector(sums + 4 * (me() % 16), [0_u32; 4]);
    }
}
