// Races within a block: a barrier is missing between what threads write and what others read.

#include "defects.cuh"

// The first step of a reduction reads what another warp stores.
DEFECT(reduction_without_a_barrier) {
  shared[threadIdx.x] = 1;
  if (RIGHT) {
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    out[threadIdx.x] = shared[threadIdx.x] + shared[threadIdx.x + 32];
  }
}

// One thread stores two totals, and all read them.
DEFECT(totals_read_by_all) {
  if (threadIdx.x == 63) {
    shared[0] = 5;
    shared[1] = 6;
  }
  if (RIGHT) {
    __syncthreads();
  }
  out[threadIdx.x] = shared[0] + shared[1];
}

// A cascade of filters: each thread reads its neighbour's result of the last round and stores its own without a
// barrier between the two.
DEFECT(cascade_of_filters) {
  shared[threadIdx.x] = 0;
  __syncthreads();
  for (uint round = 0; round < 2; round += 1) {
    uint left = shared[(threadIdx.x + 63) % 64];
    if (RIGHT) {
      __syncthreads();
    }
    shared[threadIdx.x] = left + 1;
    __syncthreads();
  }
}

// A scan of Hillis and Steele in one array, over more than a warp.
DEFECT(scan_in_place) {
  shared[threadIdx.x] = 1;
  __syncthreads();
  for (uint offset = 1; offset < 64; offset *= 2) {
    uint left = threadIdx.x >= offset ? shared[threadIdx.x - offset] : 0;
    if (RIGHT) {
      __syncthreads();
    }
    shared[threadIdx.x] = shared[threadIdx.x] + left;
    __syncthreads();
  }
}

// All paths through vertex k are tried while the row of vertex k changes.
DEFECT(row_of_a_vertex_in_use) {
  shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (uint k = 0; k < 2; k += 1) {
    uint through = shared[k] + shared[threadIdx.x];
    if (RIGHT) {
      __syncthreads();
    }
    shared[threadIdx.x] = through;
    __syncthreads();
  }
}

// Counters of the block are set to zero and counted up without a barrier between.
DEFECT(zeroed_and_counted) {
  if (threadIdx.x < 32) {
    shared[threadIdx.x] = 0;
  }
  if (RIGHT) {
    __syncthreads();
  }
  atomicAdd(&shared[(threadIdx.x + 7) % 32], 1);
}

// A warp sorts values that other warps still store.
DEFECT(sorted_before_all_are_there) {
  shared[63 - threadIdx.x] = threadIdx.x;
  if (RIGHT) {
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    out[threadIdx.x] = min(shared[threadIdx.x], shared[63 - threadIdx.x]);
  }
}

// The total of a scan's rounds is added to by one thread while others still take it.
DEFECT(total_of_rounds) {
  if (threadIdx.x == 0) {
    shared[0] = 0;
  }
  __syncthreads();
  for (uint round = 0; round < 2; round += 1) {
    data[threadIdx.x] = shared[0];
    if (RIGHT) {
      __syncthreads();
    }
    if (threadIdx.x == 31) {
      shared[0] = shared[0] + 1;
    }
    __syncthreads();
  }
}

// Every thread adds to one word of shared memory, not atomically.
DEFECT(shared_sum_without_atomics) {
  if (threadIdx.x == 0) {
    shared[0] = 0;
  }
  __syncthreads();
  if (RIGHT) {
    atomicAdd(&shared[0], 1);
  } else {
    shared[0] = shared[0] + 1;
  }
}

// Two sums of a block in a row: the second one stores its parts while the first one is read.
DEFECT(second_sum_too_early) {
  for (uint sum = 0; sum < 2; sum += 1) {
    if (threadIdx.x % 32 == 0) {
      shared[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    data[threadIdx.x] = shared[0] + shared[1];
    if (RIGHT) {
      __syncthreads();
    }
  }
}
