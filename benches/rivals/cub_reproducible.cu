// CUB's sums whose bits do not depend on the GPU, behind functions with a C ABI: from CUB 3.1 on.

#include <cub/version.cuh>

#include <cuda_runtime_api.h>

#include <cstdint>

extern "C" int version() { return CUB_VERSION; }

extern "C" const char *error_text(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

#if CUB_VERSION >= 300100

#include <cub/device/device_reduce.cuh>

// CUB allocates temporary memory in each call, and frees it, both in order of the stream. The memory stays
// in the device's pool, so that a call after the first takes it from there.
extern "C" int keep_memory() {
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) {
    return error;
  }
  cudaMemPool_t pool = nullptr;
  error = cudaDeviceGetDefaultMemPool(&pool, device);
  if (error != cudaSuccess) {
    return error;
  }
  uint64_t bytes = UINT64_MAX;
  return cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes);
}

template <typename T>
int sum(const void *elements, void *result, int64_t count, cudaStream_t stream) {
  const auto environment = cuda::std::execution::env{
      cuda::stream_ref{stream},
      cuda::execution::require(cuda::execution::determinism::gpu_to_gpu)};
  return cub::DeviceReduce::Sum(static_cast<const T *>(elements), static_cast<T *>(result), count,
                                environment);
}

extern "C" int sum_f32(const void *elements, void *result, int64_t count, cudaStream_t stream) {
  return sum<float>(elements, result, count, stream);
}

extern "C" int sum_f64(const void *elements, void *result, int64_t count, cudaStream_t stream) {
  return sum<double>(elements, result, count, stream);
}

#endif
