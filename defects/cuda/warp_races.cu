// Races within a warp: code for warps whose lanes run in step, which they do not. Blocks are one warp.

#include "defects.cuh"

// The last steps of a reduction without any barrier of the warp.
DEFECT(reduction_of_lanes_in_step) {
  shared[threadIdx.x] = 1;
  __syncwarp();
  for (uint width = 16; width > 0; width /= 2) {
    uint sum = 0;
    if (threadIdx.x < width) {
      sum = shared[threadIdx.x] + shared[threadIdx.x + width];
    }
    if (RIGHT) {
      __syncwarp();
    }
    if (threadIdx.x < width) {
      shared[threadIdx.x] = sum;
    }
    if (RIGHT) {
      __syncwarp();
    }
  }
}

// The same with one barrier in each step: the reads of one lane and the store of another one are in one phase.
DEFECT(reduction_with_half_its_barriers) {
  shared[threadIdx.x] = 1;
  __syncwarp();
  for (uint width = 16; width > 0; width /= 2) {
    uint other = shared[(threadIdx.x + width) % 32];
    if (RIGHT) {
      __syncwarp();
    }
    shared[threadIdx.x] = shared[threadIdx.x] + other;
    __syncwarp();
  }
}

// Two uses of one place in shared memory, with no barrier of the warp between them.
DEFECT(storage_used_twice) {
  shared[threadIdx.x] = 1;
  __syncwarp();
  uint sum = 0;
  if (threadIdx.x < 16) {
    sum = shared[2 * threadIdx.x] + shared[2 * threadIdx.x + 1];
  }
  if (RIGHT) {
    __syncwarp();
  }
  if (threadIdx.x < 16) {
    shared[threadIdx.x] = sum;
  }
}

// Lanes store a row of nearest neighbours, and other lanes of the warp read it.
DEFECT(neighbours_of_other_lanes) {
  shared[threadIdx.x] = threadIdx.x;
  if (RIGHT) {
    __syncwarp();
  }
  out[threadIdx.x] = shared[31 - threadIdx.x];
}

// Every sixteenth lane stores for every eighth one, and that for every fourth one.
DEFECT(levels_of_a_tree) {
  if (threadIdx.x % 16 == 0) {
    shared[threadIdx.x] = 1;
    shared[threadIdx.x + 8] = 2;
  }
  if (RIGHT) {
    __syncwarp();
  }
  if (threadIdx.x % 8 == 0) {
    out[threadIdx.x] = shared[threadIdx.x];
  }
}

// One lane changes a sum after the barrier behind which all lanes read it.
DEFECT(sum_changed_after_the_barrier) {
  shared[threadIdx.x] = 1;
  __syncwarp();
  if (threadIdx.x == 0) {
    shared[31] = 32;
  }
  if (RIGHT) {
    __syncwarp();
  }
  out[threadIdx.x] = shared[31];
}

// A prefix sum that adds in place, within a warp.
DEFECT(prefix_sum_in_place) {
  shared[threadIdx.x] = 1;
  __syncthreads();
  for (uint offset = 1; offset < 32; offset *= 2) {
    uint left = threadIdx.x >= offset ? shared[threadIdx.x - offset] : 0;
    if (RIGHT) {
      __syncthreads();
    }
    shared[threadIdx.x] = shared[threadIdx.x] + left;
    __syncthreads();
  }
}

// Values of a run are stored by the lanes that have decoded them and taken by others.
DEFECT(values_of_a_run) {
  for (uint run = 0; run < 2; run += 1) {
    if (threadIdx.x % 2 == 0) {
      shared[threadIdx.x / 2] = run;
    }
    __syncwarp();
    data[threadIdx.x] = shared[threadIdx.x % 16];
    if (RIGHT) {
      __syncwarp();
    }
  }
}
