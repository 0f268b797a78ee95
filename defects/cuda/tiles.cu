// Races of loops over tiles: a fast warp fills shared memory again while a slow one reads it.

#include "defects.cuh"

// The next tile is stored while the last one is read.
DEFECT(tile_reloaded_too_early) {
  for (uint tile = 0; tile < 2; tile += 1) {
    shared[threadIdx.x] = input[64 * tile + threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = shared[(threadIdx.x + 32) % 64];
    if (RIGHT) {
      __syncthreads();
    }
  }
}

// The first thread sums up a row of products while the others begin the next row.
DEFECT(row_summed_by_one_thread) {
  for (uint row = 0; row < 2; row += 1) {
    shared[threadIdx.x] = row;
    __syncthreads();
    if (threadIdx.x == 0) {
      uint sum = 0;
      for (uint i = 0; i < 64; i += 1) {
        sum += shared[i];
      }
      data[row] = sum;
    }
    if (RIGHT) {
      __syncthreads();
    }
  }
}

// A field that is kept in shared memory for one level is stored for the next one, while other warps read it with
// an offset.
DEFECT(field_of_the_next_level) {
  for (uint level = 0; level < 3; level += 1) {
    shared[threadIdx.x] = level;
    shared[64 + threadIdx.x] = level;
    __syncthreads();
    data[threadIdx.x] = shared[(threadIdx.x + 1) % 64] + shared[64 + (threadIdx.x + 33) % 64];
    if (RIGHT) {
      __syncthreads();
    }
  }
}

// A transpose by way of shared memory goes on to the next matrix after one barrier.
DEFECT(transposes_in_a_row) {
  uint row = threadIdx.x / 8, column = threadIdx.x % 8;
  for (uint matrix = 0; matrix < 3; matrix += 1) {
    shared[8 * row + column] = input[64 * matrix + threadIdx.x];
    __syncthreads();
    data[64 * matrix + threadIdx.x] = shared[8 * column + row];
    if (RIGHT) {
      __syncthreads();
    }
  }
}

// The factors of a step of a recurrence are replaced while the step reads them.
DEFECT(factors_of_the_next_step) {
  uint state = 0;
  for (uint step = 0; step < 3; step += 1) {
    if (threadIdx.x < 8) {
      shared[threadIdx.x] = 1;
    } else if (threadIdx.x < 16) {
      shared[threadIdx.x] = 2;
    }
    __syncthreads();
    state += shared[threadIdx.x % 8] * shared[8 + threadIdx.x % 8];
    if (RIGHT) {
      __syncthreads();
    }
  }
  data[threadIdx.x] = state;
}

// Warps leave out a part of a mask by what they read of it, and overwrite it for the next part at different times.
DEFECT(mask_of_the_next_part) {
  uint part = 0;
  while (part < 3) {
    shared[threadIdx.x] = part;
    __syncthreads();
    bool skip = shared[0] + shared[63] == 2;
    if (RIGHT) {
      __syncthreads();
    }
    part += 1;
    if (skip) {
      continue;
    }
    data[threadIdx.x] = part;
  }
}

// Numbers of rows are stored in shared memory by some warps and used by all, in several rounds.
DEFECT(numbers_of_rows) {
  for (uint round = 0; round < 2; round += 1) {
    if (threadIdx.x >= 32) {
      shared[threadIdx.x - 32] = threadIdx.x - 32 + round;
    }
    __syncthreads();
    data[shared[threadIdx.x % 32] + 64 * (threadIdx.x / 32)] = round;
    if (RIGHT) {
      __syncthreads();
    }
  }
}
