// Kernels with a mistake that compute-sanitizer's racecheck does not see, since it looks at shared memory alone, or not
// at all at what the asynchronous proxy does. Each has its twin without the mistake.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// Global memory: each block adds its sum to the total without an atomic operation.
template <bool RIGHT>
__device__ void total(const int* x, int* sum) {
  int value = __reduce_add_sync(0xffffffffu, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    if (RIGHT) atomicAdd(sum, value);
    else *sum += value;
  }
}
extern "C" __global__ void total_lost(const int* x, int* sum) { total<false>(x, sum); }
extern "C" __global__ void total_kept(const int* x, int* sum) { total<true>(x, sum); }

// Global memory: the last block reads the others' results, whose stores no fence orders before the ticket.
__device__ unsigned tickets;

template <bool RIGHT>
__device__ void last_block(const int* x, int* partials, int* sum) {
  __shared__ bool is_last;
  int value = __reduce_add_sync(0xffffffffu, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = value;
    if (RIGHT) __threadfence();
    is_last = atomicAdd(&tickets, 1) == gridDim.x - 1;
    if (is_last) {
      if (RIGHT) __threadfence();
      int all = 0;
      for (int block = 0; block < gridDim.x; ++block) all += partials[block];
      *sum = all;
    }
  }
}
extern "C" __global__ void ticket_without_fence(const int* x, int* partials, int* sum) { last_block<false>(x, partials, sum); }
extern "C" __global__ void ticket_with_fence(const int* x, int* partials, int* sum) { last_block<true>(x, partials, sum); }

// cp.async: the wait leaves the newest group in flight, which is the one that is read.
template <bool RIGHT>
__device__ void pipeline(const int* x, int* out) {
  __shared__ alignas(16) int stage[128];
  __pipeline_memcpy_async(&stage[threadIdx.x * 4], &x[threadIdx.x * 4], 16);
  __pipeline_commit();
  __pipeline_wait_prior(RIGHT ? 0 : 1);
  __syncthreads();
  out[threadIdx.x] = stage[127 - threadIdx.x];
}
extern "C" __global__ void copy_in_flight(const int* x, int* out) { pipeline<false>(x, out); }
extern "C" __global__ void copy_waited_for(const int* x, int* out) { pipeline<true>(x, out); }

// mbarrier: one thread waits for the phase, and all of them read what it guards.
template <bool RIGHT>
__device__ void phase(const int* x, int* out) {
  __shared__ alignas(8) unsigned long long barrier;
  __shared__ int stage[64];
  unsigned at = shared_address(&barrier);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(at) : "memory");
  __syncthreads();
  stage[threadIdx.x] = x[threadIdx.x];
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(at) : "memory");
  if (RIGHT || threadIdx.x == 0) {
    asm volatile(
        "{ .reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
        "@!done bra again; }" ::"r"(at) : "memory");
  }
  out[threadIdx.x] = stage[63 - threadIdx.x];
}
extern "C" __global__ void phase_seen_by_one(const int* x, int* out) { phase<false>(x, out); }
extern "C" __global__ void phase_seen_by_all(const int* x, int* out) { phase<true>(x, out); }

// The asynchronous proxy: a bulk store of what threads have written, without a fence between the proxies.
template <bool RIGHT>
__device__ void bulk_store(const int* x, int* out) {
  __shared__ alignas(128) int tile[64];
  tile[threadIdx.x] = x[threadIdx.x] * 2;
  if (RIGHT) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(out), "r"(shared_address(tile))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
extern "C" __global__ void store_without_proxy_fence(const int* x, int* out) { bulk_store<false>(x, out); }
extern "C" __global__ void store_with_proxy_fence(const int* x, int* out) { bulk_store<true>(x, out); }
