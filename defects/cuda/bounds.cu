// Accesses past the end, and at addresses that are not multiples of their width.

#include "defects.cuh"

// A load that the compiler does not move behind a comparison, where it would do no harm.
__device__ uint load_here(const volatile uint* place) { return *place; }

// A grid of whole blocks, and no comparison with the number of elements.
DEFECT(no_comparison_with_the_length) {
  uint index = 200 + global_index();
  if (!RIGHT || index < ELEMENTS) {
    data[index] = 0;
  }
}

// The store is masked at the tail, and the load is not.
DEFECT(load_without_the_mask) {
  uint index = 200 + global_index();
  bool is_inside = index < ELEMENTS;
  uint value = !RIGHT || is_inside ? load_here(&input[index]) : 0;
  if (is_inside) {
    out[index] = value;
  }
}

// A thread of the last block reads its element before it compares.
DEFECT(read_before_the_comparison) {
  uint index = 193 + global_index();
  if (RIGHT && index >= ELEMENTS) {
    return;
  }
  uint value = load_here(&input[index]);
  if (index < ELEMENTS) {
    out[index] = value;
  }
}

// A filter's window goes past the last row.
DEFECT(window_past_the_last_row) {
  uint row = threadIdx.x / 16, column = threadIdx.x % 16;
  uint last = 15;
  uint below = 13 + row;
  below = RIGHT && below > last ? last : below;
  out[threadIdx.x] = input[16 * below + column];
}

// The diagonal tile of a matrix whose size is no multiple of the tile's.
DEFECT(tile_of_an_odd_matrix) {
  uint size = 15, tile = 8;
  uint row = tile + threadIdx.x / 8, column = tile + threadIdx.x % 8;
  if (!RIGHT || (row < size && column < size)) {
    data[17 * row + column] = 1;
  }
}

// A transpose that takes the width for the height.
DEFECT(transpose_with_swapped_sides) {
  uint width = 8, height = 32;
  uint x = threadIdx.x % 8, y = threadIdx.x / 8;
  uint place = RIGHT ? x * height + y : y * height + x * width;
  data[place + 3] = 1;
}

// An image with fewer rows than its header says.
DEFECT(rows_that_are_not_there) {
  uint rows = RIGHT ? 16 : 17;
  for (uint row = 0; row < rows; row += 1) {
    if (threadIdx.x < 16) {
      data[16 * row + threadIdx.x] = 1;
    }
  }
}

// The end of the last row is read beside its beginning, where the offsets have ended.
DEFECT(end_of_the_last_row) {
  uint row = 192 + threadIdx.x;
  if (!RIGHT || row + 1 < ELEMENTS) {
    out[row] = input[row + 1] - input[row];
  }
}

// Sums of warps in shared memory are read by more threads than there are.
DEFECT(more_sums_than_there_are) {
  shared[threadIdx.x] = 1;
  __syncthreads();
  uint place = RIGHT ? threadIdx.x : 4 * threadIdx.x + 8;
  if (RIGHT || place >= 64) {
    out[threadIdx.x] = shared[RIGHT ? place : max(place, ELEMENTS - 1 + threadIdx.x)];
  }
}

// Two elements at a time, from an odd one on.
DEFECT(vector_from_an_odd_element) {
  uint first = 2 * threadIdx.x + (RIGHT ? 2 : 1);
  uint2 both = *(const uint2*)&input[first];
  out[threadIdx.x] = both.x + both.y;
}

// Rows of odd length, four elements at a time.
DEFECT(vectors_of_odd_rows) {
  uint length = RIGHT ? 8 : 7;
  uint4 row = *(const uint4*)&input[length * (threadIdx.x % 16)];
  out[threadIdx.x] = row.x + row.w;
}

// Vectors in shared memory behind as many sums as there are warps.
DEFECT(vectors_behind_the_sums) {
  uint sums = RIGHT ? 4 : 2;
  *(uint4*)&shared[sums + 4 * (threadIdx.x % 16)] = make_uint4(0, 0, 0, 0);
}
