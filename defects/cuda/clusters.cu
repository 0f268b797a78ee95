// Mistakes between the two blocks of a cluster.
// For sm_90a.

#include "asynchronous.cuh"

#define PAIR __cluster_dims__(2, 1, 1)

// Both blocks; block 0 and a block that does not exist.
constexpr unsigned short BOTH = 0b11, ABSENT = 0b101;

__device__ uint rank() { return cg::this_cluster().block_rank(); }
__device__ void sync_cluster() { cg::this_cluster().sync(); }

// A word of the first tile for each thread.
__device__ void put_of_tile(const Parts& parts, uint round) {
  const uint* words = reinterpret_cast<const uint*>(parts.shared.tiles[0]);
  parts.out[(2 * rank() + round) * LINE + threadIdx.x] = words[32 * (threadIdx.x / 2) + threadIdx.x % 2];
}

// A block writes the other's memory without a cluster barrier.
DEFECT(write_without_a_barrier_of_the_cluster, PAIR) {
  sync_cluster();
  parts.shared.words[threadIdx.x] = rank();
  if (RIGHT) {
    sync_cluster();
  } else {
    __syncthreads();
  }
  if (rank() == 0) {
    cg::this_cluster().map_shared_rank(parts.shared.words, 1)[threadIdx.x] = 5;
  }
  sync_cluster();
  parts.put_word(rank());
}

// A block ends while the other one writes its memory.
DEFECT(end_while_others_write, PAIR) {
  sync_cluster();
  if (rank() == 0) {
    cg::this_cluster().map_shared_rank(parts.shared.words, 1)[threadIdx.x] = 5;
  }
  if (RIGHT) {
    sync_cluster();
  }
}

// A block ends while the other one arrives at its ring.
DEFECT(end_while_others_arrive, PAIR) {
  parts.init(1);
  sync_cluster();
  if (threadIdx.x == 0) {
    parts.fill_line(Producer{parts.shared.ring}.acquire(), 0);
  }
  Barrier* empty = Consumer{parts.shared.ring}.wait();
  sync_cluster();
  if (threadIdx.x == 0 && rank() == 0) {
    release_in(empty, 1);
  }
  if (RIGHT) {
    sync_cluster();
  }
}

// A block ends before a multicast has landed in its memory.
DEFECT(end_before_a_multicast_lands, PAIR) {
  parts.init(1);
  sync_cluster();
  if (threadIdx.x == 0) {
    Barrier* full = Producer{parts.shared.ring}.acquire();
    expect(full, TILE_BYTES);
    if (rank() == 0) {
      parts.multicast_tile(full, BOTH);
    }
  }
  if (RIGHT || rank() == 0) {
    Consumer{parts.shared.ring}.wait();
  }
  sync_cluster();
}

// A multicast fills a tile that the other block still reads.
DEFECT(multicast_into_a_tile_in_use, PAIR) {
  parts.init(1);
  sync_cluster();
  Producer producer{parts.shared.pair};
  Consumer consumer{parts.shared.pair};
  for (uint round = 0; round < 2; round += 1) {
    if (threadIdx.x == 0) {
      Barrier* full = producer.acquire();
      expect(full, TILE_BYTES);
      if (rank() == 0) {
        parts.multicast_tile(full, BOTH);
      }
    }
    consumer.wait();
    put_of_tile(parts, round);
    if (RIGHT) {
      sync_cluster();
    } else {
      __syncthreads();
    }
  }
  sync_cluster();
}

// A stage that a multicast fills is released in the block that multicasts, and not in the other.
DEFECT(stage_released_in_one_block, PAIR) {
  parts.init(RIGHT ? 2 : 1);
  sync_cluster();
  Producer producer{parts.shared.ring};
  Consumer consumer{parts.shared.ring};
  for (uint round = 0; round < 2; round += 1) {
    if (threadIdx.x == 0) {
      // Block 0 waits for both: a producer's first round waits for nothing.
      producer.round = rank() == 0 ? round : 0;
      Barrier* full = producer.acquire();
      expect(full, TILE_BYTES);
      if (rank() == 0) {
        parts.multicast_tile(full, BOTH);
      }
    }
    Barrier* empty = consumer.wait();
    put_of_tile(parts, round);
    __syncthreads();
    if (threadIdx.x == 0 && (RIGHT || rank() == 0)) {
      release_in(empty, 0);
    }
  }
  sync_cluster();
}

// A multicast to a block that the cluster does not have.
DEFECT(multicast_to_an_absent_block, PAIR) {
  parts.init(1);
  sync_cluster();
  if (threadIdx.x == 0) {
    Barrier* full = Producer{parts.shared.ring}.acquire();
    expect(full, TILE_BYTES);
    if (rank() == 0) {
      parts.multicast_tile(full, RIGHT ? BOTH : ABSENT);
    }
  }
  Consumer{parts.shared.ring}.wait();
  sync_cluster();
}
