// Barriers that not all threads reach.

#include "defects.h"

// A barrier in a branch that a part of the block takes.
DEFECT(barrier_in_a_branch) {
    if (me() < 32) {
        shared[me()] = 1;
        if (!RIGHT) {
            sync_threads();
        }
    }
    if (RIGHT) {
        sync_threads();
    }
    out[me()] = me();
}

// A barrier that every second lane reaches.
DEFECT(barrier_of_even_lanes) {
    shared[me()] = 1;
    if (RIGHT || me() % 2 == 0) {
        sync_threads();
    }
    out[me()] = shared[me()];
}

// Threads without an atom return, and the others wait for them.
DEFECT(return_before_a_barrier) {
    bool is_mine = me() < 50;
    if (!RIGHT && !is_mine) {
        return;
    }
    shared[me()] = is_mine;
    sync_threads();
    out[me()] = shared[me()];
}

// Threads past the end return, in the last block alone.
DEFECT(return_in_the_last_block) {
    bool is_inside = global_index() < 100;
    if (!RIGHT && !is_inside) {
        return;
    }
    sync_threads();
    if (is_inside) {
        out[global_index()] = block();
    }
}

// Some warps go through a barrier that others leave out: each waits at another line.
DEFECT(barrier_that_some_warps_leave_out) {
    shared[me()] = 1;
    if (RIGHT || me() < 32) {
        sync_threads();
    }
    data[me()] = 1;
    sync_threads();
}

// Barriers of a reduction's steps are in the branch of the threads that add.
DEFECT(barriers_of_those_that_add) {
    shared[me()] = 1;
    sync_threads();
    for (uint width = 32; width > 16; width /= 2) {
        if (me() < width) {
            shared[me()] = shared[me()] + shared[me() + width];
            if (!RIGHT) {
                sync_threads();
            }
        }
        if (RIGHT) {
            sync_threads();
        }
    }
}

// A loop with a barrier is left by some threads, on data.
DEFECT(loop_left_on_data) {
    for (uint round = 0; round < 4; round += 1) {
        if (!RIGHT && round == me() / 32 + 1) {
            break;
        }
        data[me()] = round;
        sync_threads();
    }
}
