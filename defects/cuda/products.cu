// Mistakes with products of a warpgroup. CUDA C++ has no functions for them.
// For sm_90a.

#include "asynchronous.cuh"

// What the tensor cores are told of a tile: where it is, 1024 bytes from 8 rows to the next, and a swizzle of 128.
__device__ Barrier descriptor(const unsigned short* tile) {
  Barrier address = __cvta_generic_to_shared(tile);
  return address / 16 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

// The product of 64 rows of 16 elements with the first 8 of them.
__device__ void multiply_slice(float (&sums)[4], Barrier tile) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "l"(tile));
}

// Products of a tile with its first rows.
struct Products {
  float sums[4] = {};

  // The compiler must have set the sums before the fence.
  __device__ void fence() {
    asm volatile("wgmma.fence.sync.aligned;" : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])::"memory");
  }
  __device__ void multiply(const unsigned short* tile) {
    fence();
    for (uint slice = 0; slice < TILE / 16; slice += 1) {
      multiply_slice(sums, descriptor(tile + 16 * slice));
    }
  }
  __device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
  __device__ void start(const unsigned short* tile) {
    multiply(tile);
    commit();
  }
  // Waits for all groups but the last ones.
  template <uint GROUPS>
  __device__ void wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(GROUPS) : "memory");
  }
  __device__ void put(const Parts& parts) {
    parts.out[threadIdx.x] = __float_as_uint(sums[0]);
  }
};

__device__ void start_tile(const Parts& parts) {
  parts.init(1);
  if (threadIdx.x == 0) {
    Barrier* full = Producer{parts.shared.ring}.acquire();
    expect(full, TILE_BYTES);
    parts.copy_tile(0, full);
  }
}
__device__ void bring_tile(const Parts& parts) {
  start_tile(parts);
  Consumer{parts.shared.ring}.wait();
}
__device__ void bring_both_tiles(const Parts& parts) {
  parts.init(1);
  if (threadIdx.x == 0) {
    Barrier* full = Producer{parts.shared.ring}.acquire();
    expect(full, 2 * TILE_BYTES);
    parts.copy_tile(0, full);
    parts.copy_tile(1, full);
  }
  Consumer{parts.shared.ring}.wait();
}

// Copies the tile of zeros over the first tile, and waits for it.
__device__ void overwrite(const Parts& parts) {
  __syncthreads();
  if (threadIdx.x == 0) {
    Barrier* full = Producer{parts.shared.pair}.acquire();
    expect(full, TILE_BYTES);
    parts.copy_tile(0, full);
  }
  Consumer{parts.shared.pair}.wait();
}

// A product of a tile, waited for.
__device__ void multiply_and_put(const Parts& parts, const unsigned short* tile) {
  Products products;
  products.start(tile);
  products.wait<0>();
  products.put(parts);
}

// A product reads a tile before its copy is waited for.
DEFECT(operand_before_its_barrier) {
  start_tile(parts);
  __syncthreads();
  if (RIGHT) {
    Consumer{parts.shared.ring}.wait();
  }
  multiply_and_put(parts, parts.shared.tiles[0]);
  if (!RIGHT) {
    Consumer{parts.shared.ring}.wait();
  }
}

// A tile is filled again while a product reads it.
DEFECT(operand_overwritten) {
  bring_tile(parts);
  Products products;
  products.start(parts.shared.tiles[0]);
  if (RIGHT) {
    products.wait<0>();
  }
  overwrite(parts);
  products.wait<0>();
  products.put(parts);
}

// A wait for all groups but one releases the stage of the group before, not its own.
DEFECT(operand_released_one_group_early) {
  bring_tile(parts);
  Products products;
  products.start(parts.shared.tiles[0]);
  products.start(parts.shared.tiles[0]);
  products.wait<RIGHT ? 0 : 1>();
  overwrite(parts);
  products.wait<0>();
  products.put(parts);
}

// A product reads what threads have written, without a proxy fence.
DEFECT(operand_without_a_proxy_fence) {
  uint4* vectors = reinterpret_cast<uint4*>(parts.shared.tiles[0]);
  for (uint i = 0; i < 4; i += 1) {
    vectors[4 * threadIdx.x + i] = make_uint4(0, 0, 0, 0);
  }
  if (RIGHT) {
    ptx::fence_proxy_async();
  }
  __syncthreads();
  multiply_and_put(parts, parts.shared.tiles[0]);
}

// A block ends while its products run.
DEFECT(group_never_waited_for) {
  bring_tile(parts);
  Products products;
  products.start(parts.shared.tiles[0]);
  if (RIGHT) {
    products.wait<0>();
    products.put(parts);
  }
}

// Products that are never committed, so that no wait covers them.
DEFECT(products_of_no_group) {
  bring_tile(parts);
  Products products;
  products.multiply(parts.shared.tiles[0]);
  if (RIGHT) {
    products.commit();
    products.wait<0>();
    products.put(parts);
  }
}

// Accumulators are read while their product may run: the wait leaves out its group.
DEFECT(accumulators_before_the_wait) {
  bring_tile(parts);
  Products products;
  products.start(parts.shared.tiles[0]);
  products.wait<RIGHT ? 0 : 1>();
  products.put(parts);
}

// One warp of the warpgroup leaves out a product.
DEFECT(product_of_three_warps) {
  bring_tile(parts);
  if (RIGHT || threadIdx.x >= 32) {
    multiply_and_put(parts, parts.shared.tiles[0]);
  }
}

// One warp of the warpgroup multiplies another tile.
DEFECT(warps_with_different_operands) {
  bring_both_tiles(parts);
  multiply_and_put(parts, parts.shared.tiles[RIGHT ? 0 : threadIdx.x / 96]);
}

// One lane of a warp multiplies another tile.
DEFECT(lanes_with_different_operands) {
  bring_both_tiles(parts);
  multiply_and_put(parts, parts.shared.tiles[!RIGHT && threadIdx.x == 40]);
}
