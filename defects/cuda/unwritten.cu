// Reads of what nothing has written.

#include "defects.cuh"

// A sum in shared memory begins with what an earlier block has left.
DEFECT(sum_that_begins_with_anything) {
  if (threadIdx.x == 0) {
    if (RIGHT) {
      shared[0] = 0;
    }
    out[0] = shared[0] + 1;
  }
}

// The halo of a window at the end of the array is not filled.
DEFECT(halo_of_the_last_window) {
  if (RIGHT || threadIdx.x < 60) {
    shared[threadIdx.x] = 1;
  }
  __syncthreads();
  out[threadIdx.x] = shared[threadIdx.x] + shared[(threadIdx.x + 3) % 64];
}

// A convolution reads behind the elements that the boundary's threads have filled.
DEFECT(convolution_at_the_boundary) {
  shared[threadIdx.x] = 1;
  uint halo = RIGHT ? 3 : 2;
  if (threadIdx.x < halo) {
    shared[64 + threadIdx.x] = 0;
  }
  __syncthreads();
  uint sum = 0;
  for (uint i = 0; i < 4; i += 1) {
    sum += shared[threadIdx.x + i];
  }
  out[threadIdx.x] = sum;
}

// Threads past the end leave out their part of a sum of the block.
DEFECT(parts_that_are_left_out) {
  bool is_inside = threadIdx.x < 50;
  if (RIGHT || is_inside) {
    shared[threadIdx.x] = is_inside;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    out[threadIdx.x] = shared[threadIdx.x] + shared[threadIdx.x + 32];
  }
}

// A number of rounds is compared before anything has set it.
DEFECT(rounds_never_set) {
  if (RIGHT) {
    out[threadIdx.x] = 0;
  }
  if (out[threadIdx.x] == 0) {
    out[threadIdx.x] = 1;
  }
}

// The bits of a mask are counted to the end of its allocation, which is longer than the mask.
DEFECT(bits_behind_the_mask) {
  uint words = RIGHT ? 64 : 50;
  if (threadIdx.x < words) {
    out[threadIdx.x] = 1;
  }
  __syncthreads();
  data[threadIdx.x] = __popc(out[(threadIdx.x + 1) % 64]);
}
