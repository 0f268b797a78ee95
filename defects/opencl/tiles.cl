// Races of loops over tiles: a fast warp fills local memory again while a slow one reads it.

#include "defects.h"

// The next tile is stored while the last one is read.
DEFECT(tile_reloaded_too_early) {
    for (uint tile = 0; tile < 2; tile += 1) {
        shared[me()] = input[64 * tile + me()];
        sync_threads();
        data[me()] = shared[(me() + 32) % 64];
        if (RIGHT) {
            sync_threads();
        }
    }
}

// The first thread sums up a row of products while the others begin the next row.
DEFECT(row_summed_by_one_thread) {
    for (uint row = 0; row < 2; row += 1) {
        shared[me()] = row;
        sync_threads();
        if (me() == 0) {
            uint sum = 0;
            for (uint i = 0; i < 64; i += 1) {
                sum += shared[i];
            }
            data[row] = sum;
        }
        if (RIGHT) {
            sync_threads();
        }
    }
}

// A field that is kept in local memory for one level is stored for the next one, while other warps read it with
// an offset.
DEFECT(field_of_the_next_level) {
    for (uint level = 0; level < 3; level += 1) {
        shared[me()] = level;
        shared[64 + me()] = level;
        sync_threads();
        data[me()] = shared[(me() + 1) % 64] + shared[64 + (me() + 33) % 64];
        if (RIGHT) {
            sync_threads();
        }
    }
}

// A transpose by way of local memory goes on to the next matrix after one barrier.
DEFECT(transposes_in_a_row) {
    uint row = me() / 8, column = me() % 8;
    for (uint matrix = 0; matrix < 3; matrix += 1) {
        shared[8 * row + column] = input[64 * matrix + me()];
        sync_threads();
        data[64 * matrix + me()] = shared[8 * column + row];
        if (RIGHT) {
            sync_threads();
        }
    }
}

// The factors of a step of a recurrence are replaced while the step reads them.
DEFECT(factors_of_the_next_step) {
    uint state = 0;
    for (uint step = 0; step < 3; step += 1) {
        if (me() < 8) {
            shared[me()] = 1;
        } else if (me() < 16) {
            shared[me()] = 2;
        }
        sync_threads();
        state += shared[me() % 8] * shared[8 + me() % 8];
        if (RIGHT) {
            sync_threads();
        }
    }
    data[me()] = state;
}

// Warps leave out a part of a mask by what they read of it, and overwrite it for the next part at different times.
DEFECT(mask_of_the_next_part) {
    uint part = 0;
    while (part < 3) {
        shared[me()] = part;
        sync_threads();
        bool skip = shared[0] + shared[63] == 2;
        if (RIGHT) {
            sync_threads();
        }
        part += 1;
        if (skip) {
            continue;
        }
        data[me()] = part;
    }
}

// Numbers of rows are stored in local memory by some warps and used by all, in several rounds.
DEFECT(numbers_of_rows) {
    for (uint round = 0; round < 2; round += 1) {
        if (me() >= 32) {
            shared[me() - 32] = me() - 32 + round;
        }
        sync_threads();
        data[shared[me() % 32] + 64 * (me() / 32)] = round;
        if (RIGHT) {
            sync_threads();
        }
    }
}
