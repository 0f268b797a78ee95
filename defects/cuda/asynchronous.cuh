// What the kernels with asynchronous copies and products share. Those of the same names in Rust are in
// `defects/kernels`.
#pragma once

#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using uint = unsigned;
using Barrier = cuda::std::uint64_t;

// Words of `source` and `out`; words that a block copies at a time, one for each thread; rows and columns of a tile of
// bf16.
constexpr uint WORDS = 1024, LINE = 128;
constexpr uint TILE = 64;
// Enumerators, because references to them are taken.
enum : uint { LINE_BYTES = 4 * LINE, TILE_BYTES = 2 * TILE * TILE };

__device__ inline void wait_for(Barrier* barrier, uint parity) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, parity)) {
  }
}

// Stages in turn: a producer fills them, and consumers release them.
template <uint STAGES>
struct Ring {
  Barrier full[STAGES], empty[STAGES];

  __device__ void init(uint consumers) {
    for (uint i = 0; i < STAGES; i += 1) {
      ptx::mbarrier_init(&full[i], 1);
      ptx::mbarrier_init(&empty[i], consumers);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
};

template <uint STAGES>
struct Producer {
  Ring<STAGES>& ring;
  uint round = 0;

  // The next stage's barrier, once consumers have released it.
  __device__ Barrier* acquire() {
    uint stage = round % STAGES, turn = round / STAGES;
    round += 1;
    if (turn > 0) {
      wait_for(&ring.empty[stage], (turn - 1) % 2);
    }
    return &ring.full[stage];
  }
};

template <uint STAGES>
struct Consumer {
  Ring<STAGES>& ring;
  uint round = 0;

  // The barrier with which the next stage is released, once it is full.
  __device__ Barrier* wait() {
    uint stage = round % STAGES;
    wait_for(&ring.full[stage], round / STAGES % 2);
    round += 1;
    return &ring.empty[stage];
  }
};
template <uint STAGES>
Producer(Ring<STAGES>&) -> Producer<STAGES>;
template <uint STAGES>
Consumer(Ring<STAGES>&) -> Consumer<STAGES>;

__device__ inline void expect(Barrier* full, uint bytes) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
}
__device__ inline void release(Barrier* empty) { ptx::mbarrier_arrive(empty); }

// The same in a block of the cluster.
__device__ inline void release_in(Barrier* empty, uint block) {
  Barrier* there = cg::this_cluster().map_shared_rank(empty, block);
  ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, there);
}

// The dynamic shared memory of a block.
struct Shared {
  unsigned short tiles[2][TILE * TILE];
  Ring<2> pair;
  Ring<1> ring;
  uint words[WORDS];
};
extern __shared__ __align__(1024) Shared memory[];

// What a kernel is given: a tile of zeros, words to read, and words to write.
struct Parts {
  const CUtensorMap* map;
  const uint* source;
  uint* out;
  Shared& shared;

  __device__ void init_alone(uint consumers) const {
    if (threadIdx.x == 0) {
      shared.ring.init(consumers);
      shared.pair.init(consumers);
    }
  }
  __device__ void init(uint consumers) const {
    init_alone(consumers);
    __syncthreads();
  }
  __device__ void copy(uint* to, const uint* from, uint bytes, Barrier* full) const {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from, bytes, full);
  }
  // A line of the source, as the only copy to a stage.
  __device__ void fill_line(Barrier* full, uint number) const {
    expect(full, LINE_BYTES);
    copy(shared.words, source + LINE * number, LINE_BYTES, full);
  }
  __device__ void copy_tile(uint number, Barrier* full) const {
    const int place[2] = {0, 0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, shared.tiles[number], map, place, full);
  }
  __device__ void multicast_tile(Barrier* full, unsigned short blocks) const {
    const int place[2] = {0, 0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, shared.tiles[0], map, place, full, blocks);
  }
  // Each thread writes its word, for bulk copies to read.
  __device__ void write_line() const {
    shared.words[threadIdx.x] = threadIdx.x;
    ptx::fence_proxy_async();
    __syncthreads();
  }
  __device__ void put_word(uint number) const { out[LINE * number + threadIdx.x] = shared.words[threadIdx.x]; }
  __device__ void start_store() const {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, shared.words, LINE_BYTES);
  }
};

// A vote of the warp: its lanes synchronise, but no accesses are ordered.
__device__ inline void meet() {
  asm volatile("{ .reg .pred all; setp.eq.u32 all, 0, 0; vote.sync.all.pred all, all, 0xffffffff; }" ::: "memory");
}

// A kernel with a mistake, and its twin, in which RIGHT is true; with attributes of both.
#define DEFECT(NAME, ...)                                                       \
  template <bool RIGHT>                                                         \
  __device__ void NAME##_body(const Parts& parts);                              \
  extern "C" __global__ void __launch_bounds__(384, 1) __VA_ARGS__ NAME(        \
      const __grid_constant__ CUtensorMap map, const uint* source, uint* out) { \
    NAME##_body<false>({&map, source, out, *memory});                           \
  }                                                                             \
  extern "C" __global__ void __launch_bounds__(384, 1) __VA_ARGS__ NAME##_twin( \
      const __grid_constant__ CUtensorMap map, const uint* source, uint* out) { \
    NAME##_body<true>({&map, source, out, *memory});                            \
  }                                                                             \
  template <bool RIGHT>                                                         \
  __device__ void NAME##_body(const Parts& parts)
