// CUB's reductions of arrays of f32, and scans, behind functions with a C ABI.

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/version.cuh>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <cstdint>

namespace {

struct Square {
  __device__ __host__ float operator()(float value) const { return value * value; }
};

struct Multiply {
  __device__ __host__ float operator()(const thrust::tuple<float, float> &pair) const {
    return thrust::get<0>(pair) * thrust::get<1>(pair);
  }
};

struct Add {
  __device__ __host__ float operator()(float left, float right) const { return left + right; }
};

// Where a row starts.
struct RowStart {
  int64_t columns;
  __device__ __host__ int64_t operator()(int64_t row) const { return row * columns; }
};

} // namespace

// CUB's protocol: without `temporary` each only returns the number of bytes that it needs there.
// `result` has room for a value, and that of the place for a value and an index.

extern "C" int minimum(void *temporary, size_t *temporary_bytes, const float *x, const float *,
                       void *result, int count, cudaStream_t stream) {
  return cub::DeviceReduce::Min(temporary, *temporary_bytes, x, static_cast<float *>(result), count,
                                stream);
}

extern "C" int maximum(void *temporary, size_t *temporary_bytes, const float *x, const float *,
                       void *result, int count, cudaStream_t stream) {
  return cub::DeviceReduce::Max(temporary, *temporary_bytes, x, static_cast<float *>(result), count,
                                stream);
}

extern "C" int place_of_minimum(void *temporary, size_t *temporary_bytes, const float *x,
                                const float *, void *result, int count, cudaStream_t stream) {
#if CUB_VERSION >= 300000
  auto *index = static_cast<int64_t *>(result);
  return cub::DeviceReduce::ArgMin(temporary, *temporary_bytes, x,
                                   reinterpret_cast<float *>(index + 1), index,
                                   static_cast<int64_t>(count), stream);
#else
  using Pair = cub::KeyValuePair<int, float>;
  return cub::DeviceReduce::ArgMin(temporary, *temporary_bytes, x, static_cast<Pair *>(result),
                                   count, stream);
#endif
}

extern "C" int place_of_maximum(void *temporary, size_t *temporary_bytes, const float *x,
                                const float *, void *result, int count, cudaStream_t stream) {
#if CUB_VERSION >= 300000
  auto *index = static_cast<int64_t *>(result);
  return cub::DeviceReduce::ArgMax(temporary, *temporary_bytes, x,
                                   reinterpret_cast<float *>(index + 1), index,
                                   static_cast<int64_t>(count), stream);
#else
  using Pair = cub::KeyValuePair<int, float>;
  return cub::DeviceReduce::ArgMax(temporary, *temporary_bytes, x, static_cast<Pair *>(result),
                                   count, stream);
#endif
}

extern "C" int dot(void *temporary, size_t *temporary_bytes, const float *x, const float *y,
                   void *result, int count, cudaStream_t stream) {
  auto pairs = thrust::make_zip_iterator(thrust::make_tuple(x, y));
  auto products = thrust::make_transform_iterator(pairs, Multiply{});
  return cub::DeviceReduce::Reduce(temporary, *temporary_bytes, products,
                                   static_cast<float *>(result), count, Add{}, 0.0f, stream);
}

extern "C" int sum_of_squares(void *temporary, size_t *temporary_bytes, const float *x,
                              const float *, void *result, int count, cudaStream_t stream) {
  auto squares = thrust::make_transform_iterator(x, Square{});
  return cub::DeviceReduce::Reduce(temporary, *temporary_bytes, squares,
                                   static_cast<float *>(result), count, Add{}, 0.0f, stream);
}

extern "C" int sum_of_rows(void *temporary, size_t *temporary_bytes, const float *x, float *sums,
                           int rows, int columns, cudaStream_t stream) {
  auto starts = thrust::make_transform_iterator(thrust::make_counting_iterator<int64_t>(0),
                                                RowStart{columns});
  return cub::DeviceSegmentedReduce::Sum(temporary, *temporary_bytes, x, sums, rows, starts,
                                         starts + 1, stream);
}

#if CUB_VERSION >= 300100
extern "C" int sum_of_rows_of_one_size(void *temporary, size_t *temporary_bytes, const float *x,
                                       float *sums, int rows, int columns, cudaStream_t stream) {
  return cub::DeviceSegmentedReduce::Sum(temporary, *temporary_bytes, x, sums,
                                         static_cast<int64_t>(rows), columns, stream);
}
#endif

extern "C" int sum_of_segments(void *temporary, size_t *temporary_bytes, const float *x,
                               const uint64_t *offsets, float *sums, int segments,
                               cudaStream_t stream) {
  return cub::DeviceSegmentedReduce::Sum(temporary, *temporary_bytes, x, sums, segments, offsets,
                                         offsets + 1, stream);
}

extern "C" int inclusive_sum_f32(void *temporary, size_t *temporary_bytes, const float *x,
                                 float *sums, int count, cudaStream_t stream) {
  return cub::DeviceScan::InclusiveSum(temporary, *temporary_bytes, x, sums, count, stream);
}

extern "C" int inclusive_sum_i32(void *temporary, size_t *temporary_bytes, const int *x, int *sums,
                                 int count, cudaStream_t stream) {
  return cub::DeviceScan::InclusiveSum(temporary, *temporary_bytes, x, sums, count, stream);
}

extern "C" int inclusive_sum_f16(void *temporary, size_t *temporary_bytes, const __half *x,
                                 __half *sums, int count, cudaStream_t stream) {
  return cub::DeviceScan::InclusiveSum(temporary, *temporary_bytes, x, sums, count, stream);
}

extern "C" const char *error_text(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

extern "C" int version() { return CUB_VERSION; }
