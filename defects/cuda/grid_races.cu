// Races in global memory between blocks, and updates that are not atomic.

#include "defects.cuh"

// One block sets the output to zero while the others add to it.
DEFECT(output_zeroed_by_one_block) {
  if (!RIGHT && blockIdx.x == 1) {
    data[threadIdx.x] = 0;
  }
  __syncthreads();
  atomicAdd(&data[threadIdx.x], 1);
}

// The first thread of the grid sets a count to zero that all threads count up.
DEFECT(count_cleared_by_the_first_thread) {
  if (!RIGHT && global_index() == 0) {
    data[0] = 0;
  }
  atomicAdd(&data[0], 1);
}

// Threads whose elements have one number add to it, not atomically.
DEFECT(count_of_a_number) {
  uint number = global_index() % 8;
  if (RIGHT) {
    atomicAdd(&data[number], 1);
  } else {
    data[number] = data[number] + 1;
  }
}

// Threads that find a missing value add one to a count, not atomically.
DEFECT(count_of_missing_values) {
  if (threadIdx.x % 16 == 0) {
    if (RIGHT) {
      atomicAdd(&data[0], 1);
    } else {
      data[0] = data[0] + 1;
    }
  }
}

// The representative of a component is found and shortened by plain stores, and linked atomically.
DEFECT(path_shortened_by_plain_stores) {
  if (blockIdx.x == 0) {
    atomicCAS(&data[threadIdx.x], 0, 1);
  } else if (RIGHT) {
    atomicExch(&data[threadIdx.x], 2u);
  } else {
    data[threadIdx.x] = 2;
  }
}

// A support is compared by a plain load while others count it down.
DEFECT(support_counted_down) {
  uint next = (threadIdx.x + 1) % 64;
  uint support = RIGHT ? load_atomically(&data[threadIdx.x]) : data[threadIdx.x];
  if (support == 0) {
    atomicAdd(&data[next], 1);
  }
}

// A reduction for one block is launched with several.
DEFECT(reduction_of_several_blocks) {
  if (RIGHT && blockIdx.x != 0) {
    return;
  }
  data[threadIdx.x] = data[threadIdx.x] + 1;
}

// Every thread that finds something stores that there is something.
DEFECT(flag_stored_by_many) {
  if (threadIdx.x % 8 == 0) {
    if (RIGHT) {
      store_atomically(&data[0], 1);
    } else {
      data[0] = 1;
    }
  }
}

// Vertices push their value to neighbours by a comparison and a store.
DEFECT(push_to_neighbours) {
  uint neighbour = global_index() / 2;
  uint value = global_index();
  if (RIGHT) {
    atomicMax(&data[neighbour], value);
  } else if (data[neighbour] < value) {
    data[neighbour] = value;
  }
}

// Threads take a place in a list by a load and a store of its length.
DEFECT(place_in_a_list) {
  uint place;
  if (RIGHT) {
    place = atomicAdd(&data[0], 1);
  } else {
    place = data[0];
    data[0] = place + 1;
  }
  out[place] = global_index();
}

// A maximum is compared by a plain load before it is updated atomically.
DEFECT(guard_of_a_maximum) {
  uint value = global_index();
  uint guard = RIGHT ? load_atomically(&data[0]) : data[0];
  if (guard <= value) {
    atomicMax(&data[0], value);
  }
}

// Cells are set up by one thread of the block and counted up by the others.
DEFECT(cells_set_up_by_one_thread) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 0;
  }
  if (RIGHT) {
    __syncthreads();
  }
  atomicAdd(&data[blockIdx.x], 1);
}

// Points are turned to rows of features, by more threads than there are points: what the last ones store belongs
// to the next row.
DEFECT(features_of_too_many_points) {
  uint points = 60, features = 4;
  uint point = global_index();
  for (uint feature = 0; feature < features; feature += 1) {
    if (!RIGHT || point < points) {
      data[points * feature + point] = input[features * point + feature];
    }
  }
}

// All blocks store their last value to one element.
DEFECT(last_value_of_each_block) {
  if (threadIdx.x == 0 && (!RIGHT || blockIdx.x == 0)) {
    data[0] = blockIdx.x;
  }
}
