// CUB's sum of an array behind functions with a C ABI, one library for each element type.
//
// ELEMENT is the type of the elements and SUM that of the sum, in which CUB adds. They are given
// by the compiler's command line.

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

// cuda::std::plus<> cannot choose between the conversions of __half to add it to a float. Its
// parameters' type chooses here.
struct AddAsSum {
  __device__ __host__ SUM operator()(SUM left, SUM right) const { return left + right; }
};

// As CUB wants it: without `temporary` it only says how many bytes that has to have.
extern "C" int sum(void *temporary, size_t *temporary_bytes, const ELEMENT *elements, SUM *result,
                   int count, cudaStream_t stream) {
  if constexpr (std::is_arithmetic_v<ELEMENT>) {
    return cub::DeviceReduce::Sum(temporary, *temporary_bytes, elements, result, count, stream);
  } else {
    return cub::DeviceReduce::Reduce(temporary, *temporary_bytes, elements, result, count,
                                     AddAsSum{}, SUM{}, stream);
  }
}

extern "C" const char *error_text(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

extern "C" int version() { return CUB_VERSION; }
