// What blocks hand to each other by a flag, a counter or a lock, without the fences that order it.

#include "defects.cuh"

// The word by which blocks agree.
constexpr uint COUNTER = ELEMENTS - 1;

// The last block to arrive reads what the others have stored, with no fence behind the counter.
DEFECT(last_block_without_its_fence) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 1;
    __threadfence();
    if (atomicAdd(&data[COUNTER], 1) == 3) {
      if (RIGHT) {
        __threadfence();
      }
      out[0] = data[0] + data[1] + data[2] + data[3];
    }
  }
}

// Each block counts itself without a fence behind what it has stored.
DEFECT(partial_sum_without_a_fence) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 1;
    if (RIGHT) {
      __threadfence();
    }
    if (atomicAdd(&data[COUNTER], 1) == 3) {
      __threadfence();
      out[0] = data[0] + data[1] + data[2] + data[3];
    }
  }
}

// The fences are for the block, where two blocks meet.
DEFECT(fence_of_too_narrow_a_scope) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 1;
    if (RIGHT) {
      __threadfence();
    } else {
      __threadfence_block();
    }
    if (atomicAdd(&data[COUNTER], 1) == 3) {
      if (RIGHT) {
        __threadfence();
      } else {
        __threadfence_block();
      }
      out[0] = data[0] + data[1] + data[2] + data[3];
    }
  }
}

// Blocks add one after the other; the semaphore is released before all threads have fenced.
DEFECT(semaphore_without_a_fence) {
  if (threadIdx.x == 0) {
    while (load_atomically(&data[COUNTER]) != blockIdx.x) {
    }
    __threadfence();
  }
  __syncthreads();
  data[threadIdx.x] = data[threadIdx.x] + 1;
  if (RIGHT) {
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    store_atomically(&data[COUNTER], blockIdx.x + 1);
  }
}

// A lock is released without a fence.
DEFECT(lock_released_without_a_fence) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&data[COUNTER], 0, 1) != 0) {
    }
    __threadfence();
    data[0] = data[0] + 1;
    if (RIGHT) {
      __threadfence();
    }
    atomicExch(&data[COUNTER], 0);
  }
}

// A lock is taken without a fence.
DEFECT(lock_taken_without_a_fence) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&data[COUNTER], 0, 1) != 0) {
    }
    if (RIGHT) {
      __threadfence();
    }
    data[0] = data[0] + 1;
    __threadfence();
    atomicExch(&data[COUNTER], 0);
  }
}

// A task is put into a queue whose end is published without a fence.
DEFECT(task_published_without_a_fence) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    data[0] = 7;
    if (RIGHT) {
      __threadfence();
    }
    store_atomically(&data[COUNTER], 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1 && load_atomically(&data[COUNTER]) == 1) {
    __threadfence();
    out[0] = data[0];
  }
}

// A thief takes a task as soon as it sees the end of the queue, without a fence.
DEFECT(task_stolen_without_a_fence) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    data[0] = 7;
    __threadfence();
    store_atomically(&data[COUNTER], 1);
  }
  if (threadIdx.x == 0 && blockIdx.x == 1 && load_atomically(&data[COUNTER]) == 1) {
    if (RIGHT) {
      __threadfence();
    }
    out[0] = data[0];
  }
}

// The first thread says that its block has merged its counts, while others still merge.
DEFECT(block_reported_as_done) {
  atomicAdd(&data[threadIdx.x], 1);
  __threadfence();
  if (RIGHT) {
    __syncthreads();
  }
  if (threadIdx.x == 0 && atomicAdd(&data[COUNTER], 1) == 3) {
    __threadfence();
    uint sum = 0;
    for (uint i = 0; i < 64; i += 1) {
      sum += data[i];
    }
    out[0] = sum;
  }
}

// A flag and what it is for are both plain: a loop waits for the flag.
DEFECT(flag_without_atomics) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    data[0] = 7;
    __threadfence();
    if (RIGHT) {
      store_atomically(&data[COUNTER], 1);
    } else {
      data[COUNTER] = 1;
    }
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    uint flag = RIGHT ? load_atomically(&data[COUNTER]) : data[COUNTER];
    __threadfence();
    if (flag == 1) {
      out[0] = data[0];
    }
  }
}
