// Races within a warp: code for warps whose lanes run in step, which they do not. A group is one warp.

#include "defects.h"

// The last steps of a reduction without any barrier of the warp.
DEFECT(reduction_of_lanes_in_step) {
    shared[me()] = 1;
    sync_warp();
    for (uint width = 16; width > 0; width /= 2) {
        uint sum = 0;
        if (me() < width) {
            sum = shared[me()] + shared[me() + width];
        }
        if (RIGHT) {
            sync_warp();
        }
        if (me() < width) {
            shared[me()] = sum;
        }
        if (RIGHT) {
            sync_warp();
        }
    }
}

// The same with one barrier in each step: the reads of one lane and the store of another one are in one phase.
DEFECT(reduction_with_half_its_barriers) {
    shared[me()] = 1;
    sync_warp();
    for (uint width = 16; width > 0; width /= 2) {
        uint other = shared[(me() + width) % 32];
        if (RIGHT) {
            sync_warp();
        }
        shared[me()] = shared[me()] + other;
        sync_warp();
    }
}

// Two uses of one place in local memory, with no barrier of the warp between them.
DEFECT(storage_used_twice) {
    shared[me()] = 1;
    sync_warp();
    uint sum = 0;
    if (me() < 16) {
        sum = shared[2 * me()] + shared[2 * me() + 1];
    }
    if (RIGHT) {
        sync_warp();
    }
    if (me() < 16) {
        shared[me()] = sum;
    }
}

// Lanes store a row of nearest neighbours, and other lanes of the warp read it.
DEFECT(neighbours_of_other_lanes) {
    shared[me()] = me();
    if (RIGHT) {
        sync_warp();
    }
    out[me()] = shared[31 - me()];
}

// Every sixteenth lane stores for every eighth one, and that for every fourth one.
DEFECT(levels_of_a_tree) {
    if (me() % 16 == 0) {
        shared[me()] = 1;
        shared[me() + 8] = 2;
    }
    if (RIGHT) {
        sync_warp();
    }
    if (me() % 8 == 0) {
        out[me()] = shared[me()];
    }
}

// One lane changes a sum after the barrier behind which all lanes read it.
DEFECT(sum_changed_after_the_barrier) {
    shared[me()] = 1;
    sync_warp();
    if (me() == 0) {
        shared[31] = 32;
    }
    if (RIGHT) {
        sync_warp();
    }
    out[me()] = shared[31];
}

// A prefix sum that adds in place, within a warp.
DEFECT(prefix_sum_in_place) {
    shared[me()] = 1;
    sync_threads();
    for (uint offset = 1; offset < 32; offset *= 2) {
        uint left = me() >= offset ? shared[me() - offset] : 0;
        if (RIGHT) {
            sync_threads();
        }
        shared[me()] = shared[me()] + left;
        sync_threads();
    }
}

// Values of a run are stored by the lanes that have decoded them and taken by others.
DEFECT(values_of_a_run) {
    for (uint run = 0; run < 2; run += 1) {
        if (me() % 2 == 0) {
            shared[me() / 2] = run;
        }
        sync_warp();
        data[me()] = shared[me() % 16];
        if (RIGHT) {
            sync_warp();
        }
    }
}
