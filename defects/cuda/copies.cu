// Mistakes with bulk copies.
// For sm_90a.

#include "asynchronous.cuh"

// A bulk store of what threads have written, without a proxy fence.
DEFECT(store_without_a_proxy_fence) {
  parts.shared.words[threadIdx.x] = threadIdx.x;
  if (RIGHT) {
    ptx::fence_proxy_async();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    parts.start_store();
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

// A stage is read before its copies are waited for.
DEFECT(stage_read_before_its_barrier) {
  parts.init(1);
  Consumer consumer{parts.shared.ring};
  if (threadIdx.x == 0) {
    parts.fill_line(Producer{parts.shared.ring}.acquire(), 0);
  }
  __syncthreads();
  if (RIGHT) {
    consumer.wait();
  }
  parts.put_word(0);
  if (!RIGHT) {
    consumer.wait();
  }
}

// A consumer forgets its place in the ring, and so waits for a phase that is past.
DEFECT(consumer_that_begins_anew) {
  parts.init(1);
  Producer producer{parts.shared.ring};
  Consumer consumer{parts.shared.ring};
  for (uint round = 0; round < 2; round += 1) {
    if (threadIdx.x == 0) {
      parts.fill_line(producer.acquire(), round);
    }
    if (!RIGHT) {
      consumer.round = 0;
    }
    Barrier* empty = consumer.wait();
    parts.put_word(round);
    __syncthreads();
    if (threadIdx.x == 0) {
      release(empty);
    }
  }
}

// One thread waits for a stage, and others read it.
DEFECT(wait_by_one_thread) {
  parts.init(1);
  Consumer consumer{parts.shared.ring};
  if (threadIdx.x == 0) {
    parts.fill_line(Producer{parts.shared.ring}.acquire(), 0);
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    consumer.wait();
  }
  meet();
  if (RIGHT) {
    __syncthreads();
  }
  if (threadIdx.x > 32) {
    parts.put_word(0);
  }
  if (threadIdx.x != 32) {
    consumer.wait();
  }
}

// Two copies fill one place at the same time.
DEFECT(stage_filled_twice) {
  parts.init(1);
  if (threadIdx.x == 0) {
    Producer producer{parts.shared.pair};
    Consumer consumer{parts.shared.pair};
    parts.fill_line(producer.acquire(), 0);
    if (RIGHT) {
      consumer.wait();
    }
    parts.fill_line(producer.acquire(), 1);
    if (!RIGHT) {
      consumer.wait();
    }
    consumer.wait();
  }
}

// Threads write what a bulk store still reads.
DEFECT(overwritten_while_a_store_reads) {
  parts.write_line();
  if (threadIdx.x == 0) {
    parts.start_store();
    ptx::cp_async_bulk_commit_group();
    if (RIGHT) {
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
  }
  __syncthreads();
  parts.shared.words[threadIdx.x] = 7;
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

// A block ends while a bulk store still reads its memory.
DEFECT(exit_while_a_store_reads) {
  parts.write_line();
  if (threadIdx.x == 0) {
    parts.start_store();
    ptx::cp_async_bulk_commit_group();
    if (RIGHT) {
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
  }
}

// A bulk store that belongs to no group, so that no wait covers it.
DEFECT(store_of_no_group) {
  parts.write_line();
  if (threadIdx.x == 0) {
    parts.start_store();
    if (RIGHT) {
      ptx::cp_async_bulk_commit_group();
    }
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

// A thread reads what a bulk store has not written yet: it waited for its reads alone.
DEFECT(result_read_too_early) {
  parts.write_line();
  if (threadIdx.x == 0) {
    parts.start_store();
    ptx::cp_async_bulk_commit_group();
    if (RIGHT) {
      ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    } else {
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    parts.out[LINE] = parts.out[3];
  }
}

// A bulk store of words of which one was never written.
DEFECT(store_of_what_was_never_written) {
  if (RIGHT || threadIdx.x != 5) {
    parts.shared.words[threadIdx.x] = threadIdx.x;
  }
  ptx::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    parts.start_store();
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

// A stage expects more bytes than its copies have.
DEFECT(bytes_that_never_come) {
  parts.init(1);
  if (threadIdx.x == 0) {
    Barrier* full = Producer{parts.shared.ring}.acquire();
    expect(full, LINE_BYTES + (RIGHT ? 0 : 32));
    parts.copy(parts.shared.words, parts.source, LINE_BYTES, full);
  }
  Consumer{parts.shared.ring}.wait();
  parts.put_word(0);
}

// A stage expects fewer bytes than its copies have.
DEFECT(bytes_that_are_too_many) {
  parts.init(1);
  if (threadIdx.x == 0) {
    Barrier* full = Producer{parts.shared.ring}.acquire();
    expect(full, RIGHT ? LINE_BYTES : LINE_BYTES / 2);
    parts.copy(parts.shared.words, parts.source, LINE_BYTES, full);
  }
  Consumer{parts.shared.ring}.wait();
  parts.put_word(0);
}

// A stage expects bytes that no copy brings, and nothing waits for it.
DEFECT(bytes_that_nothing_waits_for) {
  parts.init(1);
  if (threadIdx.x == 0 && !RIGHT) {
    expect(Producer{parts.shared.ring}.acquire(), 64);
  }
}

// A copy by one thread, which waits for it.
__device__ void copy_alone(const Parts& parts, uint* to, const uint* from, uint bytes) {
  parts.init(1);
  if (threadIdx.x == 0) {
    Barrier* full = Producer{parts.shared.ring}.acquire();
    expect(full, bytes);
    parts.copy(to, from, bytes, full);
    Consumer{parts.shared.ring}.wait();
  }
}

// A copy whose size is not a multiple of 16 bytes.
DEFECT(copy_of_the_wrong_size) { copy_alone(parts, parts.shared.words, parts.source, RIGHT ? 80 : 72); }

// A copy to an address that is not a multiple of 16.
DEFECT(copy_to_a_misaligned_place) {
  copy_alone(parts, parts.shared.words + (RIGHT ? 4 : 1), parts.source, LINE_BYTES);
}

// A copy from past the end of global memory.
DEFECT(copy_from_past_the_end) {
  copy_alone(parts, parts.shared.words, parts.source + WORDS - LINE + (RIGHT ? 0 : 4), LINE_BYTES);
}

// A copy to past the end of shared memory.
DEFECT(copy_to_past_the_end) {
  copy_alone(parts, parts.shared.words + WORDS - LINE + (RIGHT ? 0 : 4), parts.source, LINE_BYTES);
}
