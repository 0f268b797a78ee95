// Mistakes with rings of mbarriers and with named barriers.
// For sm_90a.

#include "asynchronous.cuh"

// A ring that was never initialised.
DEFECT(ring_never_initialised) {
  if (RIGHT) {
    parts.init(1);
  }
  if (threadIdx.x == 0) {
    parts.fill_line(Producer{parts.shared.ring}.acquire(), 0);
    Consumer{parts.shared.ring}.wait();
  }
}

// A ring whose initialisation is not made visible to other threads.
DEFECT(initialisation_that_others_do_not_see) {
  parts.init_alone(1);
  meet();
  if (RIGHT) {
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    parts.fill_line(Producer{parts.shared.ring}.acquire(), 0);
  }
  Consumer{parts.shared.ring}.wait();
}

// A ring that is initialised for a second time.
DEFECT(ring_initialised_again) {
  parts.init(1);
  if (threadIdx.x == 0) {
    parts.fill_line(Producer{parts.shared.ring}.acquire(), 0);
    Consumer{parts.shared.ring}.wait();
    if (!RIGHT) {
      parts.shared.ring.init(1);
    }
  }
}

// An ordinary store to the memory of a ring.
DEFECT(store_to_a_ring) {
  parts.init(1);
  if (threadIdx.x == 0) {
    uint* place = RIGHT ? parts.shared.words : reinterpret_cast<uint*>(&parts.shared.ring);
    *place = 0;
  }
}

// One consumer of many does not release a stage.
DEFECT(arrivals_that_are_too_few) {
  parts.init(blockDim.x);
  Producer producer{parts.shared.ring};
  if (threadIdx.x == 0) {
    parts.fill_line(producer.acquire(), 0);
  }
  Barrier* empty = Consumer{parts.shared.ring}.wait();
  if (RIGHT || threadIdx.x != 7) {
    release(empty);
  }
  if (threadIdx.x == 0) {
    producer.acquire();
  }
}

// The producer states the bytes of a stage in two parts, which are two arrivals.
DEFECT(arrivals_that_are_too_many) {
  parts.init(1);
  if (threadIdx.x == 0) {
    Barrier* full = Producer{parts.shared.ring}.acquire();
    if (RIGHT) {
      expect(full, LINE_BYTES);
    } else {
      expect(full, LINE_BYTES / 2);
      expect(full, LINE_BYTES / 2);
    }
    parts.copy(parts.shared.words, parts.source, LINE_BYTES, full);
    Consumer{parts.shared.ring}.wait();
  }
}

// Two rounds of a ring, which a warp releases, or does not.
__device__ void two_rounds(const Parts& parts, uint consumers, bool is_released) {
  parts.init(consumers);
  Producer producer{parts.shared.ring};
  Consumer consumer{parts.shared.ring};
  for (uint round = 0; round < 2; round += 1) {
    if (threadIdx.x == 0) {
      parts.fill_line(producer.acquire(), round);
    } else if (threadIdx.x / 32 == 1) {
      Barrier* empty = consumer.wait();
      parts.put_word(round);
      if (is_released) {
        release(empty);
      }
    }
  }
}

// A ring counts one consumer too few, so that a stage is filled while the last one reads it.
DEFECT(ring_for_too_few_consumers) { two_rounds(parts, RIGHT ? 32 : 31, true); }

// Consumers never release a stage, so that the second use of it waits for ever.
DEFECT(stage_never_released) { two_rounds(parts, 32, RIGHT); }

template <uint THREADS>
__device__ void named_sync() {
  asm volatile("barrier.sync 1, %0;" ::"n"(THREADS) : "memory");
}
template <uint THREADS>
__device__ void named_arrive() {
  asm volatile("barrier.arrive 1, %0;" ::"n"(THREADS) : "memory");
}

// Threads arrive at a named barrier for another number of threads than others wait for.
DEFECT(named_arrival_for_another_count) {
  if (threadIdx.x / 32 == 0) {
    parts.shared.words[threadIdx.x] = threadIdx.x;
    named_arrive<RIGHT ? 64 : 96>();
  } else if (threadIdx.x / 32 == 1) {
    named_sync<64>();
    parts.out[threadIdx.x] = parts.shared.words[threadIdx.x - 32];
  }
}

// Threads arrive at a named barrier where they have to wait.
DEFECT(named_arrival_in_place_of_a_wait) {
  if (threadIdx.x / 32 == 0) {
    if (RIGHT) {
      named_sync<64>();
    } else {
      named_arrive<64>();
    }
    parts.shared.words[threadIdx.x] = 1;
  } else if (threadIdx.x / 32 == 1) {
    parts.shared.words[threadIdx.x - 32] = 2;
    named_sync<64>();
  }
}
