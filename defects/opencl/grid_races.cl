// Races in global memory between blocks, and updates that are not atomic.

#include "defects.h"

// One block sets the output to zero while the others add to it.
DEFECT(output_zeroed_by_one_block) {
    if (!RIGHT && block() == 1) {
        data[me()] = 0;
    }
    sync_threads();
    atomic_add(&data[me()], 1u);
}

// The first thread of the grid sets a count to zero that all threads count up.
DEFECT(count_cleared_by_the_first_thread) {
    if (!RIGHT && global_index() == 0) {
        data[0] = 0;
    }
    atomic_add(&data[0], 1u);
}

// Threads whose elements have one number add to it, not atomically.
DEFECT(count_of_a_number) {
    uint number = global_index() % 8;
    if (RIGHT) {
        atomic_add(&data[number], 1u);
    } else {
        data[number] = data[number] + 1;
    }
}

// Threads that find a missing value add one to a count, not atomically.
DEFECT(count_of_missing_values) {
    if (me() % 16 == 0) {
        if (RIGHT) {
            atomic_add(&data[0], 1u);
        } else {
            data[0] = data[0] + 1;
        }
    }
}

// The representative of a component is found and shortened by plain stores, and linked atomically.
DEFECT(path_shortened_by_plain_stores) {
    if (block() == 0) {
        atomic_cmpxchg(&data[me()], 0u, 1u);
    } else if (RIGHT) {
        atomic_xchg(&data[me()], 2u);
    } else {
        data[me()] = 2;
    }
}

// A support is compared by a plain load while others count it down.
DEFECT(support_counted_down) {
    uint next = (me() + 1) % 64;
    uint support = RIGHT ? load_atomically(&data[me()]) : data[me()];
    if (support == 0) {
        atomic_add(&data[next], 1u);
    }
}

// A reduction for one block is launched with several.
DEFECT(reduction_of_several_blocks) {
    if (RIGHT && block() != 0) {
        return;
    }
    data[me()] = data[me()] + 1;
}

// Every thread that finds something stores that there is something.
DEFECT(flag_stored_by_many) {
    if (me() % 8 == 0) {
        if (RIGHT) {
            store_atomically(&data[0], 1u);
        } else {
            data[0] = 1;
        }
    }
}

// Vertices push their value to neighbours by a comparison and a store.
DEFECT(push_to_neighbours) {
    uint neighbour = global_index() / 2;
    uint value = global_index();
    if (RIGHT) {
        atomic_max(&data[neighbour], value);
    } else if (data[neighbour] < value) {
        data[neighbour] = value;
    }
}

// Threads take a place in a list by a load and a store of its length.
DEFECT(place_in_a_list) {
    uint place;
    if (RIGHT) {
        place = atomic_add(&data[0], 1u);
    } else {
        place = data[0];
        data[0] = place + 1;
    }
    out[place] = global_index();
}

// A maximum is compared by a plain load before it is updated atomically.
DEFECT(guard_of_a_maximum) {
    uint value = global_index();
    uint guard = RIGHT ? load_atomically(&data[0]) : data[0];
    if (guard <= value) {
        atomic_max(&data[0], value);
    }
}

// Cells are set up by one thread of the block and counted up by the others.
DEFECT(cells_set_up_by_one_thread) {
    if (me() == 0) {
        data[block()] = 0;
    }
    if (RIGHT) {
        sync_threads();
    }
    atomic_add(&data[block()], 1u);
}

// Points are turned to rows of features, by more threads than there are points: what the last ones store belongs
// to the next row.
DEFECT(features_of_too_many_points) {
    uint points = 60, features = 4;
    uint point = global_index();
    for (uint feature = 0; feature < features; feature += 1) {
        if (!RIGHT || point < points) {
            data[points * feature + point] = input[features * point + feature];
        }
    }
}

// All blocks store their last value to one element.
DEFECT(last_value_of_each_block) {
    if (me() == 0 && (!RIGHT || block() == 0)) {
        data[0] = block();
    }
}
