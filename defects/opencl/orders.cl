// What blocks hand to each other by a flag, a counter or a lock, without the fences that order it.

#include "defects.h"

// The word by which blocks agree.
#define COUNTER 255

// The last block to arrive reads what the others have stored, with no fence behind the counter.
DEFECT(last_block_without_its_fence) {
    if (me() == 0) {
        data[block()] = 1;
        fence_device();
        if (atomic_add(&data[COUNTER], 1u) == 3) {
            if (RIGHT) {
                fence_device();
            }
            out[0] = data[0] + data[1] + data[2] + data[3];
        }
    }
}

// Each block counts itself without a fence behind what it has stored.
DEFECT(partial_sum_without_a_fence) {
    if (me() == 0) {
        data[block()] = 1;
        if (RIGHT) {
            fence_device();
        }
        if (atomic_add(&data[COUNTER], 1u) == 3) {
            fence_device();
            out[0] = data[0] + data[1] + data[2] + data[3];
        }
    }
}

// OpenCL C 1.2 has no scopes.
#if __OPENCL_C_VERSION__ >= 200
// The fences are for the block, where two blocks meet.
DEFECT(fence_of_too_narrow_a_scope) {
    if (me() == 0) {
        data[block()] = 1;
        if (RIGHT) {
            fence_device();
        } else {
            fence_block();
        }
        if (atomic_add(&data[COUNTER], 1u) == 3) {
            if (RIGHT) {
                fence_device();
            } else {
                fence_block();
            }
            out[0] = data[0] + data[1] + data[2] + data[3];
        }
    }
}
#endif

// Blocks add one after the other; the semaphore is released before all threads have fenced.
DEFECT(semaphore_without_a_fence) {
    if (me() == 0) {
        while (load_atomically(&data[COUNTER]) != block()) {
        }
        fence_device();
    }
    sync_threads();
    data[me()] = data[me()] + 1;
    if (RIGHT) {
        fence_device();
    }
    sync_threads();
    if (me() == 0) {
        store_atomically(&data[COUNTER], block() + 1);
    }
}

// A lock is released without a fence.
DEFECT(lock_released_without_a_fence) {
    if (me() == 0) {
        while (atomic_cmpxchg(&data[COUNTER], 0u, 1u) != 0) {
        }
        fence_device();
        data[0] = data[0] + 1;
        if (RIGHT) {
            fence_device();
        }
        atomic_xchg(&data[COUNTER], 0u);
    }
}

// A lock is taken without a fence.
DEFECT(lock_taken_without_a_fence) {
    if (me() == 0) {
        while (atomic_cmpxchg(&data[COUNTER], 0u, 1u) != 0) {
        }
        if (RIGHT) {
            fence_device();
        }
        data[0] = data[0] + 1;
        fence_device();
        atomic_xchg(&data[COUNTER], 0u);
    }
}

// A task is put into a queue whose end is published without a fence.
DEFECT(task_published_without_a_fence) {
    if (me() == 0 && block() == 0) {
        data[0] = 7;
        if (RIGHT) {
            fence_device();
        }
        store_atomically(&data[COUNTER], 1u);
    }
    if (me() == 0 && block() == 1 && load_atomically(&data[COUNTER]) == 1) {
        fence_device();
        out[0] = data[0];
    }
}

// A thief takes a task as soon as it sees the end of the queue, without a fence.
DEFECT(task_stolen_without_a_fence) {
    if (me() == 0 && block() == 0) {
        data[0] = 7;
        fence_device();
        store_atomically(&data[COUNTER], 1u);
    }
    if (me() == 0 && block() == 1 && load_atomically(&data[COUNTER]) == 1) {
        if (RIGHT) {
            fence_device();
        }
        out[0] = data[0];
    }
}

// The first thread says that its block has merged its counts, while others still merge.
DEFECT(block_reported_as_done) {
    atomic_add(&data[me()], 1u);
    fence_device();
    if (RIGHT) {
        sync_threads();
    }
    if (me() == 0 && atomic_add(&data[COUNTER], 1u) == 3) {
        fence_device();
        uint sum = 0;
        for (uint i = 0; i < 64; i += 1) {
            sum += data[i];
        }
        out[0] = sum;
    }
}

// A flag and what it is for are both plain: a loop waits for the flag.
DEFECT(flag_without_atomics) {
    if (me() == 0 && block() == 0) {
        data[0] = 7;
        fence_device();
        if (RIGHT) {
            store_atomically(&data[COUNTER], 1u);
        } else {
            data[COUNTER] = 1;
        }
    }
    if (me() == 0 && block() == 1) {
        uint flag = RIGHT ? load_atomically(&data[COUNTER]) : data[COUNTER];
        fence_device();
        if (flag == 1) {
            out[0] = data[0];
        }
    }
}
