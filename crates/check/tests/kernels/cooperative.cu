// Groups of threads, asynchronous copies, barriers in memory.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/atomic>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

extern "C" __global__ void tiles(const int* in, int* out) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int value = in[block.thread_rank()];
  int sum = cg::reduce(tile, value, cg::plus<int>());
  int before = cg::exclusive_scan(tile, value, cg::plus<int>());
  out[block.thread_rank()] = sum * 1000 + before;
}

extern "C" __global__ void coalesced(int* counters, const int* in) {
  int value = in[threadIdx.x];
  if (value % 3 == 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    int start = 0;
    if (active.thread_rank() == 0) start = atomicAdd(&counters[0], active.size());
    start = active.shfl(start, 0);
    counters[1 + start + active.thread_rank()] = value;
  }
}

extern "C" __global__ void grid_wide(int* data, int* total, int n) {
  cg::grid_group grid = cg::this_grid();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) data[i] = data[i] * 2;
  grid.sync();
  if (grid.thread_rank() == 0) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += data[i];
    *total = sum;
  }
}

extern "C" __global__ void async_copies(const float* in, float* out, int n) {
  __shared__ alignas(16) float stages[2][256];
  int t = threadIdx.x, count = n / 256;
  __pipeline_memcpy_async(&stages[0][4 * t], &in[4 * t], 16);
  __pipeline_commit();
  float sum = 0.0f;
  for (int tile = 0; tile < count; ++tile) {
    if (tile + 1 < count)
      __pipeline_memcpy_async(&stages[(tile + 1) & 1][4 * t], &in[(tile + 1) * 256 + 4 * t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int k = 0; k < 4; ++k) sum += stages[tile & 1][(4 * t + k + 64) % 256];
    __syncthreads();
  }
  out[t] = sum;
}

extern "C" __global__ void group_copy(const int* in, int* out) {
  extern __shared__ int staged[];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, staged, in, sizeof(int) * block.size());
  cg::wait(block);
  out[block.thread_rank()] = staged[block.size() - 1 - block.thread_rank()];
}

extern "C" __global__ void barrier_phases(int* out, int rounds) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int shared[128];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  int value = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    shared[threadIdx.x] = value;
    bar.arrive_and_wait();
    value += shared[(threadIdx.x + 1) % blockDim.x];
    bar.arrive_and_wait();
  }
  out[threadIdx.x] = value;
}

extern "C" __global__ void spin_lock(int* lock, int* counter) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*lock);
  if (threadIdx.x == 0) {
    while (flag.exchange(1, cuda::std::memory_order_acquire)) __nanosleep(20);
    *counter += 1;
    flag.store(0, cuda::std::memory_order_release);
  }
}

extern "C" __global__ void hand_over(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *data = 42;
    ready.store(1, cuda::std::memory_order_release);
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (ready.load(cuda::std::memory_order_acquire) == 0) {
    }
    *out = *data;
  }
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_histogram(const int* in, int* out, int n) {
  extern __shared__ int bins[];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 16; i += blockDim.x) bins[i] = 0;
  cluster.sync();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int bin = in[i] % 32;
    int* there = cluster.map_shared_rank(bins, bin / 16);
    atomicAdd(there + bin % 16, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < 16; i += blockDim.x) atomicAdd(&out[cluster.block_rank() * 16 + i], bins[i]);
}
