// What ordinary kernels rarely use: atomic operations of halves and vectors, votes, clocks, virtual calls, pipelines, bulk
// copies. Four kernels are not supported: they recurse, allocate, reduce by a bulk copy, or have words of 128 bits.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cassert>
#include <cstdio>
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
namespace cg = cooperative_groups;
extern "C" __global__ void half_atomics(__half2* a, __nv_bfloat162* b, __half* c, unsigned short* d, float2* e, float4* f) {
  atomicAdd(a, __half2(1.0f, 2.0f));
  atomicAdd(b, __nv_bfloat162(1.0f, 2.0f));
  atomicAdd(c, __float2half(0.5f));
  atomicCAS(d, (unsigned short)0, (unsigned short)7);
  atomicAdd(e, make_float2(1, 2));
  atomicAdd(f, make_float4(1, 2, 3, 4));
}
extern "C" __global__ void votes(const int* x, int* out) {
  int v = x[threadIdx.x], p;
  unsigned m = 0xffffffffu;
  out[threadIdx.x] = __all_sync(m, v > 3) + 2 * __any_sync(m, v > 3) + 4 * (__match_all_sync(m, v / 50, &p) != 0) + 8 * p + 16 * __popc(__match_any_sync(m, (long long)v % 3));
  out[32 + threadIdx.x] = __syncthreads_count(v > 50) + 100 * __syncthreads_and(v >= 0) + 1000 * __syncthreads_or(v > 98);
  out[64 + threadIdx.x] = __reduce_max_sync(m, v) + __reduce_min_sync(m, (unsigned)v) + __reduce_or_sync(m, (unsigned)v);
  double d = __shfl_xor_sync(m, (double)v, 3);
  out[96 + threadIdx.x] = (int)d + (cuda::ptx::elect_sync(m) ? 1000 : 0);
}
extern "C" __global__ void spaces(int* out) {
  __shared__ int s;
  int l = threadIdx.x;
  out[0] = __isShared(&s);
  out[1] = __isGlobal(out);
  out[2] = __isLocal(&l);
}
extern "C" __global__ void times(long long* out) {
  long long a = clock64();
  unsigned s; asm volatile("mov.u32 %0, %%smid;" : "=r"(s));
  unsigned long long g; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g));
  out[0] = clock64() - a + (g > 0) + clock();
  out[1] = s;
  __nanosleep(10);
}
extern "C" __global__ void asserts(int* out, int n) { assert(n > 3 && "too small"); out[0] = n; }
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void recursion(int* out, int n) { out[0] = fib(n); }
struct Shape { virtual __device__ int area() const = 0; };
struct Square : Shape { int s; __device__ Square(int s) : s(s) {} __device__ int area() const override { return s * s; } };
struct Rect : Shape { int a, b; __device__ Rect(int a, int b) : a(a), b(b) {} __device__ int area() const override { return a * b; } };
extern "C" __global__ void virtuals(int* out, int n) {
  Square q(n); Rect r(n, n + 1);
  const Shape* s = threadIdx.x % 2 ? (const Shape*)&q : (const Shape*)&r;
  out[threadIdx.x] = s->area();
}
typedef int (*Op)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ Op table[2] = {plus, minus};
extern "C" __global__ void pointers(int* out, int n) { out[threadIdx.x] = table[threadIdx.x & 1](n, threadIdx.x); }
extern "C" __global__ void heap(int* out) { int* p = (int*)malloc(16); p[threadIdx.x % 4] = 3; out[threadIdx.x] = p[threadIdx.x % 4]; free(p); }
extern "C" __global__ void caches(const int4* a, int4* b, volatile bool* flag, const double* d) {
  int4 x = __ldcg(&a[threadIdx.x]), y = __ldcs(&a[threadIdx.x]), z = __ldca(&a[threadIdx.x]);
  __stcs(&b[threadIdx.x], make_int4(x.x + y.y, z.z, x.w, (int)__ldg(&d[0])));
  if (threadIdx.x == 0) *flag = true;
  __threadfence_system();
}
extern "C" __global__ void pipelines(const float* in, float* out, int n) {
  __shared__ alignas(16) float stage[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  pipe.producer_acquire();
  cuda::memcpy_async(block, stage[0], in, cuda::aligned_size_t<16>(256), pipe);
  pipe.producer_commit();
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    if (i + 1 < n) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stage[(i + 1) & 1], in + 64 * (i + 1), cuda::aligned_size_t<16>(256), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += stage[i & 1][63 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
extern "C" __global__ void bulk(const int* in, int* out) {
  __shared__ alignas(128) int tile[256];
  #pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) { init(&bar, blockDim.x); cuda::ptx::fence_proxy_async(cuda::ptx::space_shared); }
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::memcpy_async(tile, in, cuda::aligned_size_t<16>(sizeof(tile)), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, 0);
  } else token = bar.arrive();
  bar.wait(std::move(token));
  tile[threadIdx.x] += 1;
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, out, tile, (unsigned)sizeof(tile));
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
  }
}
extern "C" __global__ void bulk_reduce(const int* in, int* out) {
  __shared__ alignas(128) int tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::ptx::cp_reduce_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, cuda::ptx::op_add, out, tile, 256u);
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>());
  }
}
extern "C" __global__ void wide_cas(__int128* x) { atomicCAS(x, (__int128)0, (__int128)5); atomicExch(x, (__int128)9);}
