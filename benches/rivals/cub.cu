// CUB's sum of an array behind functions with a C ABI, one library for each element type.
//
// ELEMENT is the type of the elements and SUM that of the sum, in which CUB adds. The compiler's
// command line defines them.

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

// For a __half and a float, cuda::std::plus<> is ambiguous between the conversions of __half. The
// parameters' type decides here.
struct AddAsSum {
  __device__ __host__ SUM operator()(SUM left, SUM right) const { return left + right; }
};

// CUB's protocol: without `temporary` it only returns the number of bytes that it needs there.
extern "C" int sum(void *temporary, size_t *temporary_bytes, const ELEMENT *elements, SUM *result,
                   int count, cudaStream_t stream) {
  if constexpr (std::is_arithmetic_v<ELEMENT>) {
    return cub::DeviceReduce::Sum(temporary, *temporary_bytes, elements, result, count, stream);
  } else {
    return cub::DeviceReduce::Reduce(temporary, *temporary_bytes, elements, result, count,
                                     AddAsSum{}, SUM{}, stream);
  }
}

// Copies the sum to the host, and waits for it.
extern "C" int copy_to_host(SUM *host, const SUM *result, cudaStream_t stream) {
  const cudaError_t error =
      cudaMemcpyAsync(host, result, sizeof(SUM), cudaMemcpyDeviceToHost, stream);
  return error != cudaSuccess ? error : cudaStreamSynchronize(stream);
}

extern "C" const char *error_text(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

extern "C" int version() { return CUB_VERSION; }
