// What the kernels of this folder share. Those of the same names in Rust are in `defects/kernels/public`, in OpenCL C
// in `defects/opencl`.
#pragma once

#include <cuda/atomic>

using uint = unsigned;

// Elements of each buffer, and words of dynamic shared memory.
constexpr uint ELEMENTS = 256;

extern __shared__ uint4 memory[];

// A kernel with a mistake, and its twin, in which RIGHT is true. `input` has ones, `data` has zeros, and nothing has
// written `out` and `shared`.
#define DEFECT(NAME)                                                                   \
  template <bool RIGHT>                                                                \
  __device__ void NAME##_body(const uint* input, uint* data, uint* out, uint* shared); \
  extern "C" __global__ void NAME(const uint* input, uint* data, uint* out) {          \
    NAME##_body<false>(input, data, out, reinterpret_cast<uint*>(memory));             \
  }                                                                                    \
  extern "C" __global__ void NAME##_twin(const uint* input, uint* data, uint* out) {   \
    NAME##_body<true>(input, data, out, reinterpret_cast<uint*>(memory));              \
  }                                                                                    \
  template <bool RIGHT>                                                                \
  __device__ void NAME##_body(const uint* input, uint* data, uint* out, uint* shared)

__device__ inline uint global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Without an order, as what comes before and after is ordered by fences, if by anything.
using Atomic = cuda::atomic_ref<uint, cuda::thread_scope_device>;
__device__ inline uint load_atomically(uint* place) { return Atomic(*place).load(cuda::memory_order_relaxed); }
__device__ inline void store_atomically(uint* place, uint value) {
  Atomic(*place).store(value, cuda::memory_order_relaxed);
}
