// Reads of what nothing has written.

#include "defects.h"

// A sum in local memory begins with what an earlier block has left.
DEFECT(sum_that_begins_with_anything) {
    if (me() == 0) {
        if (RIGHT) {
            shared[0] = 0;
        }
        out[0] = shared[0] + 1;
    }
}

// The halo of a window at the end of the array is not filled.
DEFECT(halo_of_the_last_window) {
    if (RIGHT || me() < 60) {
        shared[me()] = 1;
    }
    sync_threads();
    out[me()] = shared[me()] + shared[(me() + 3) % 64];
}

// A convolution reads behind the elements that the boundary's threads have filled.
DEFECT(convolution_at_the_boundary) {
    shared[me()] = 1;
    uint halo = RIGHT ? 3 : 2;
    if (me() < halo) {
        shared[64 + me()] = 0;
    }
    sync_threads();
    uint sum = 0;
    for (uint i = 0; i < 4; i += 1) {
        sum += shared[me() + i];
    }
    out[me()] = sum;
}

// Threads past the end leave out their part of a sum of the block.
DEFECT(parts_that_are_left_out) {
    bool is_inside = me() < 50;
    if (RIGHT || is_inside) {
        shared[me()] = is_inside;
    }
    sync_threads();
    if (me() < 32) {
        out[me()] = shared[me()] + shared[me() + 32];
    }
}

// A number of rounds is compared before anything has set it.
DEFECT(rounds_never_set) {
    if (RIGHT) {
        out[me()] = 0;
    }
    if (out[me()] == 0) {
        out[me()] = 1;
    }
}

// The bits of a mask are counted to the end of its allocation, which is longer than the mask.
DEFECT(bits_behind_the_mask) {
    uint words = RIGHT ? 64 : 50;
    if (me() < words) {
        out[me()] = 1;
    }
    sync_threads();
    data[me()] = popcount(out[(me() + 1) % 64]);
}
