// Mistakes with `setmaxnreg`.
// For sm_90a.

#include "asynchronous.cuh"

// A warpgroup waits for more registers than the block has.
DEFECT(more_registers_than_the_block_has) {
  ptx::setmaxnreg_dec(ptx::n32_t<24>());
  __syncthreads();
  ptx::setmaxnreg_inc(ptx::n32_t<RIGHT ? 160 : 248>());
}

// Two warpgroups wait for more registers than the third releases.
DEFECT(registers_that_nothing_gives_back) {
  if (threadIdx.x / 128 == 0) {
    ptx::setmaxnreg_dec(ptx::n32_t<24>());
  } else {
    ptx::setmaxnreg_inc(ptx::n32_t<RIGHT ? 240 : 248>());
  }
}

// A warp of the warpgroup does not take part.
DEFECT(registers_of_three_warps) {
  if (RIGHT || threadIdx.x >= 32) {
    ptx::setmaxnreg_dec(ptx::n32_t<40>());
  }
}
