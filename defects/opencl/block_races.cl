// Races within a block: a barrier is missing between what threads write and what others read.

#include "defects.h"

// The first step of a reduction reads what another warp stores.
DEFECT(reduction_without_a_barrier) {
    shared[me()] = 1;
    if (RIGHT) {
        sync_threads();
    }
    if (me() < 32) {
        out[me()] = shared[me()] + shared[me() + 32];
    }
}

// One thread stores two totals, and all read them.
DEFECT(totals_read_by_all) {
    if (me() == 63) {
        shared[0] = 5;
        shared[1] = 6;
    }
    if (RIGHT) {
        sync_threads();
    }
    out[me()] = shared[0] + shared[1];
}

// A cascade of filters: each thread reads its neighbour's result of the last round and stores its own without a
// barrier between the two.
DEFECT(cascade_of_filters) {
    shared[me()] = 0;
    sync_threads();
    for (uint round = 0; round < 2; round += 1) {
        uint left = shared[(me() + 63) % 64];
        if (RIGHT) {
            sync_threads();
        }
        shared[me()] = left + 1;
        sync_threads();
    }
}

// A scan of Hillis and Steele in one array, over more than a warp.
DEFECT(scan_in_place) {
    shared[me()] = 1;
    sync_threads();
    for (uint offset = 1; offset < 64; offset *= 2) {
        uint left = me() >= offset ? shared[me() - offset] : 0;
        if (RIGHT) {
            sync_threads();
        }
        shared[me()] = shared[me()] + left;
        sync_threads();
    }
}

// All paths through vertex k are tried while the row of vertex k changes.
DEFECT(row_of_a_vertex_in_use) {
    shared[me()] = me();
    sync_threads();
    for (uint k = 0; k < 2; k += 1) {
        uint through = shared[k] + shared[me()];
        if (RIGHT) {
            sync_threads();
        }
        shared[me()] = through;
        sync_threads();
    }
}

// Counters of the block are set to zero and counted up without a barrier between.
DEFECT(zeroed_and_counted) {
    if (me() < 32) {
        shared[me()] = 0;
    }
    if (RIGHT) {
        sync_threads();
    }
    atomic_add(&shared[(me() + 7) % 32], 1u);
}

// A warp sorts values that other warps still store.
DEFECT(sorted_before_all_are_there) {
    shared[63 - me()] = me();
    if (RIGHT) {
        sync_threads();
    }
    if (me() < 32) {
        out[me()] = min(shared[me()], shared[63 - me()]);
    }
}

// The total of a scan's rounds is added to by one thread while others still take it.
DEFECT(total_of_rounds) {
    if (me() == 0) {
        shared[0] = 0;
    }
    sync_threads();
    for (uint round = 0; round < 2; round += 1) {
        data[me()] = shared[0];
        if (RIGHT) {
            sync_threads();
        }
        if (me() == 31) {
            shared[0] = shared[0] + 1;
        }
        sync_threads();
    }
}

// Every thread adds to one word of local memory, not atomically.
DEFECT(shared_sum_without_atomics) {
    if (me() == 0) {
        shared[0] = 0;
    }
    sync_threads();
    if (RIGHT) {
        atomic_add(&shared[0], 1u);
    } else {
        shared[0] = shared[0] + 1;
    }
}

// Two sums of a block in a row: the second one stores its parts while the first one is read.
DEFECT(second_sum_too_early) {
    for (uint sum = 0; sum < 2; sum += 1) {
        if (me() % 32 == 0) {
            shared[me() / 32] = sum;
        }
        sync_threads();
        data[me()] = shared[0] + shared[1];
        if (RIGHT) {
            sync_threads();
        }
    }
}
