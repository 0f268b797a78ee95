// Instantiations of CUB's collectives, from its headers.
#include <cub/agent/single_pass_scan_operators.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/cub.cuh>

constexpr int THREADS = 128, ITEMS = 4;

template <cub::BlockReduceAlgorithm ALGORITHM>
__device__ void reduce(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, THREADS, ALGORITHM>;
  __shared__ typename Reduce::TempStorage storage;
  int sum = Reduce(storage).Sum(in[threadIdx.x]);
  if (threadIdx.x == 0) *out = sum;
}

extern "C" __global__ void reduce_raking(const int* in, int* out) { reduce<cub::BLOCK_REDUCE_RAKING>(in, out); }
extern "C" __global__ void reduce_commutative(const int* in, int* out) {
  reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(in, out);
}
extern "C" __global__ void reduce_warps(const int* in, int* out) { reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(in, out); }

template <cub::BlockScanAlgorithm ALGORITHM>
__device__ void scan(const int* in, int* out) {
  using Scan = cub::BlockScan<int, THREADS, ALGORITHM>;
  __shared__ typename Scan::TempStorage storage;
  int items[ITEMS];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Scan(storage).InclusiveSum(items, items);
  cub::StoreDirectBlocked(threadIdx.x, out, items);
}

extern "C" __global__ void scan_raking(const int* in, int* out) { scan<cub::BLOCK_SCAN_RAKING>(in, out); }
extern "C" __global__ void scan_warps(const int* in, int* out) { scan<cub::BLOCK_SCAN_WARP_SCANS>(in, out); }

extern "C" __global__ void radix_sort(const unsigned* in, unsigned* out) {
  using Sort = cub::BlockRadixSort<unsigned, THREADS, ITEMS>;
  using Load = cub::BlockLoad<unsigned, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<unsigned, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union {
    typename Sort::TempStorage sort;
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  unsigned items[ITEMS];
  Load(storage.load).Load(in, items);
  __syncthreads();
  Sort(storage.sort).Sort(items);
  __syncthreads();
  Store(storage.store).Store(out, items);
}

struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};

extern "C" __global__ void merge_sort(const int* in, int* out) {
  using Sort = cub::BlockMergeSort<int, THREADS, ITEMS>;
  __shared__ typename Sort::TempStorage storage;
  int items[ITEMS];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Sort(storage).Sort(items, Less());
  cub::StoreDirectBlocked(threadIdx.x, out, items);
}

template <cub::BlockHistogramAlgorithm ALGORITHM>
__device__ void histogram(const unsigned char* in, unsigned* out) {
  using Histogram = cub::BlockHistogram<unsigned char, THREADS, ITEMS, 64, ALGORITHM>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ unsigned bins[64];
  unsigned char items[ITEMS];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Histogram(storage).Histogram(items, bins);
  __syncthreads();
  if (threadIdx.x < 64) out[threadIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void histogram_sort(const unsigned char* in, unsigned* out) {
  histogram<cub::BLOCK_HISTO_SORT>(in, out);
}
extern "C" __global__ void histogram_atomic(const unsigned char* in, unsigned* out) {
  histogram<cub::BLOCK_HISTO_ATOMIC>(in, out);
}

extern "C" __global__ void exchange(const int* in, int* out) {
  using Exchange = cub::BlockExchange<int, THREADS, ITEMS>;
  __shared__ typename Exchange::TempStorage storage;
  int items[ITEMS];
  cub::LoadDirectStriped<THREADS>(threadIdx.x, in, items);
  Exchange(storage).StripedToBlocked(items, items);
  cub::StoreDirectBlockedVectorized(threadIdx.x, out, items);
}

extern "C" __global__ void differences(const int* in, int* out) {
  using Difference = cub::BlockAdjacentDifference<int, THREADS>;
  __shared__ typename Difference::TempStorage storage;
  int items[ITEMS];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Difference(storage).SubtractLeft(items, items, cuda::std::minus<int>());
  cub::StoreDirectBlocked(threadIdx.x, out, items);
}

extern "C" __global__ void heads(const int* in, int* out) {
  using Discontinuity = cub::BlockDiscontinuity<int, THREADS>;
  __shared__ typename Discontinuity::TempStorage storage;
  int items[ITEMS], flags[ITEMS];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Discontinuity(storage).FlagHeads(flags, items, cuda::std::not_equal_to<int>());
  cub::StoreDirectBlocked(threadIdx.x, out, flags);
}

extern "C" __global__ void warp_scan(const float* in, float* out) {
  using Scan = cub::WarpScan<float, 16>;
  __shared__ typename Scan::TempStorage storage[THREADS / 16];
  float value;
  Scan(storage[threadIdx.x / 16]).ExclusiveScan(in[threadIdx.x], value, -1.0f, cuda::maximum<float>());
  out[threadIdx.x] = value;
}

extern "C" __global__ void warp_reduce(const double* in, double* out) {
  using Reduce = cub::WarpReduce<double>;
  __shared__ typename Reduce::TempStorage storage[THREADS / 32];
  double sum = Reduce(storage[threadIdx.x / 32]).Sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
}

extern "C" __global__ void run_lengths(const int* values, const unsigned* lengths, int* out) {
  using Decode = cub::BlockRunLengthDecode<int, THREADS, 2, ITEMS>;
  __shared__ typename Decode::TempStorage storage;
  int values_of_thread[2], items[ITEMS];
  unsigned lengths_of_thread[2], places[ITEMS], total;
  cub::LoadDirectBlocked(threadIdx.x, values, values_of_thread);
  cub::LoadDirectBlocked(threadIdx.x, lengths, lengths_of_thread);
  Decode decode(storage, values_of_thread, lengths_of_thread, total);
  for (unsigned window = 0; window < total; window += THREADS * ITEMS) {
    decode.RunLengthDecode(items, places, window);
    cub::StoreDirectBlocked(threadIdx.x, out + window, items, total - window);
  }
}

extern "C" __global__ void warp_merge_sort(const int* in, int* out) {
  using Sort = cub::WarpMergeSort<int, ITEMS, 16>;
  __shared__ typename Sort::TempStorage storage[THREADS / 16];
  int items[ITEMS];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Sort(storage[threadIdx.x / 16]).StableSort(items, Less());
  cub::StoreDirectBlocked(threadIdx.x, out, items);
}

extern "C" __global__ void warp_exchange(const int* in, int* out) {
  using Exchange = cub::WarpExchange<int, ITEMS, ITEMS, cub::WARP_EXCHANGE_SHUFFLE>;
  __shared__ typename Exchange::TempStorage storage[THREADS / ITEMS];
  int items[ITEMS];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Exchange(storage[threadIdx.x / ITEMS]).BlockedToStriped(items, items);
  cub::StoreDirectBlocked(threadIdx.x, out, items);
}

extern "C" __global__ void shuffles(const int* in, int* out) {
  using Shuffle = cub::BlockShuffle<int, THREADS>;
  __shared__ typename Shuffle::TempStorage storage;
  int turned, items[ITEMS], before[ITEMS] = {};
  Shuffle(storage).Rotate(in[threadIdx.x], turned, 37);
  __syncthreads();
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Shuffle(storage).Up(items, before);
  out[threadIdx.x] = turned;
  cub::StoreDirectBlocked(threadIdx.x, out + THREADS, before);
}

// A scan of several blocks by decoupled look-back.
using State = cub::ScanTileState<int>;

extern "C" __global__ void init_state(State state, int tiles) { state.InitializeStatus(tiles); }

extern "C" __global__ void look_back(const int* in, int* out, unsigned long long* words, int tiles) {
  using Scan = cub::BlockScan<int, THREADS>;
  using Prefix = cub::TilePrefixCallbackOp<int, cuda::std::plus<int>, State>;
  __shared__ union {
    typename Scan::TempStorage scan;
    typename Prefix::TempStorage prefix;
  } storage;
  State state;
  state.Init(tiles, words, 8 * (tiles + 32));
  int tile = blockIdx.x, value = in[tile * THREADS + threadIdx.x];
  if (tile == 0) {
    int total;
    Scan(storage.scan).InclusiveSum(value, value, total);
    if (threadIdx.x == 0) state.SetInclusive(0, total);
  } else {
    Prefix prefix(state, storage.prefix, cuda::std::plus<int>(), tile);
    Scan(storage.scan).InclusiveSum(value, value, prefix);
  }
  out[tile * THREADS + threadIdx.x] = value;
}
