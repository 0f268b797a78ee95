// Barriers that not all threads reach.

#include "defects.cuh"

// A barrier in a branch that a part of the block takes.
DEFECT(barrier_in_a_branch) {
  if (threadIdx.x < 32) {
    shared[threadIdx.x] = 1;
    if (!RIGHT) {
      __syncthreads();
    }
  }
  if (RIGHT) {
    __syncthreads();
  }
  out[threadIdx.x] = threadIdx.x;
}

// A barrier that every second lane reaches.
DEFECT(barrier_of_even_lanes) {
  shared[threadIdx.x] = 1;
  if (RIGHT || threadIdx.x % 2 == 0) {
    __syncthreads();
  }
  out[threadIdx.x] = shared[threadIdx.x];
}

// Threads without an atom return, and the others wait for them.
DEFECT(return_before_a_barrier) {
  bool is_mine = threadIdx.x < 50;
  if (!RIGHT && !is_mine) {
    return;
  }
  shared[threadIdx.x] = is_mine;
  __syncthreads();
  out[threadIdx.x] = shared[threadIdx.x];
}

// Threads past the end return, in the last block alone.
DEFECT(return_in_the_last_block) {
  bool is_inside = global_index() < 100;
  if (!RIGHT && !is_inside) {
    return;
  }
  __syncthreads();
  if (is_inside) {
    out[global_index()] = blockIdx.x;
  }
}

// Some warps go through a barrier that others leave out: each waits at another line.
DEFECT(barrier_that_some_warps_leave_out) {
  shared[threadIdx.x] = 1;
  if (RIGHT || threadIdx.x < 32) {
    __syncthreads();
  }
  data[threadIdx.x] = 1;
  __syncthreads();
}

// Barriers of a reduction's steps are in the branch of the threads that add.
DEFECT(barriers_of_those_that_add) {
  shared[threadIdx.x] = 1;
  __syncthreads();
  for (uint width = 32; width > 16; width /= 2) {
    if (threadIdx.x < width) {
      shared[threadIdx.x] = shared[threadIdx.x] + shared[threadIdx.x + width];
      if (!RIGHT) {
        __syncthreads();
      }
    }
    if (RIGHT) {
      __syncthreads();
    }
  }
}

// A loop with a barrier is left by some threads, on data.
DEFECT(loop_left_on_data) {
  for (uint round = 0; round < 4; round += 1) {
    if (!RIGHT && round == threadIdx.x / 32 + 1) {
      break;
    }
    data[threadIdx.x] = round;
    __syncthreads();
  }
}

// A shuffle of the whole warp in a branch of half of it.
DEFECT(shuffle_of_a_full_mask) {
  if (threadIdx.x < 16) {
    out[threadIdx.x] = __shfl_xor_sync(RIGHT ? 0xffff : 0xffffffff, threadIdx.x, 1);
  }
}

// A vote by lanes that its mask does not name.
DEFECT(vote_without_the_caller) {
  out[threadIdx.x] = __any_sync(RIGHT ? 0xffffffff : 0xfffffffe, threadIdx.x == 3);
}

// The mask of a part of the warp is that of another part.
DEFECT(mask_of_another_part) {
  uint part = threadIdx.x / 8;
  uint mask = 0xff << 8 * (RIGHT ? part : (part + 1) % 4);
  out[threadIdx.x] = __shfl_down_sync(mask, threadIdx.x, 1, 8);
}

// A mask with as many bits as a lane's number has, in place of one for each lane.
DEFECT(mask_of_five_bits) {
  out[threadIdx.x] = __shfl_sync(RIGHT ? 0xffffffff : 0x1f, threadIdx.x, 0);
}

// A barrier of the warp names lanes that do not come.
DEFECT(barrier_of_absent_lanes) {
  if (threadIdx.x < 16) {
    shared[threadIdx.x] = 1;
    __syncwarp(RIGHT ? 0xffff : 0xffffffff);
    out[threadIdx.x] = shared[15 - threadIdx.x];
  }
}
