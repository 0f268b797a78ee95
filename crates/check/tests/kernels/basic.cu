// Ordinary kernels: elementwise operations, reductions, scans, transposes, stencils, atomics.
#include <cstdio>

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void saxpy_strided(float* y, const float* x, float alpha, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = alpha * x[i] + y[i];
}

extern "C" __global__ void reduce_shared(const float* x, float* partials, int n) {
  extern __shared__ float scratch[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  float sum = i < n ? x[i] : 0.0f;
  if (i + blockDim.x < n) sum += x[i + blockDim.x];
  scratch[t] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 32; s >>= 1) {
    if (t < s) scratch[t] += scratch[t + s];
    __syncthreads();
  }
  if (t < 32) {
    sum = scratch[t] + scratch[t + 32];
    for (int s = 16; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (t == 0) partials[blockIdx.x] = sum;
  }
}

__device__ unsigned finished = 0;

extern "C" __global__ void reduce_last_block(const int* x, int* partials, int* total, int n) {
  __shared__ int warp_sums[32];
  __shared__ bool is_last;
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  sum = __reduce_add_sync(0xffffffffu, sum);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) sum += warp_sums[w];
    ((volatile int*)partials)[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    __threadfence();
    int all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += ((volatile int*)partials)[b];
    *total = all;
  }
}

extern "C" __global__ void transpose(float* out, const float* in, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (local[i]) atomicAdd(&bins[i], local[i]);
}

extern "C" __global__ void scan_blelloch(int* out, const int* in, int n) {
  extern __shared__ int temp[];
  int t = threadIdx.x, offset = 1;
  temp[2 * t] = in[2 * t];
  temp[2 * t + 1] = in[2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) temp[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1, kept = temp[left];
      temp[left] = temp[right];
      temp[right] += kept;
    }
  }
  __syncthreads();
  out[2 * t] = temp[2 * t];
  out[2 * t + 1] = temp[2 * t + 1];
}

extern "C" __global__ void scan_warps(const int* in, int* out, int n) {
  __shared__ int sums[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int value = i < n ? in[i] : 0;
  for (int d = 1; d < 32; d <<= 1) {
    int other = __shfl_up_sync(0xffffffffu, value, d);
    if (lane >= d) value += other;
  }
  if (lane == 31) sums[warp] = value;
  __syncthreads();
  if (warp == 0) {
    int s = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (int d = 1; d < 32; d <<= 1) {
      int other = __shfl_up_sync(0xffffffffu, s, d);
      if (lane >= d) s += other;
    }
    sums[lane] = s;
  }
  __syncthreads();
  if (warp > 0) value += sums[warp - 1];
  if (i < n) out[i] = value;
}

extern "C" __global__ void stencil(const float* in, float* out, int n) {
  __shared__ float tile[128 + 2 * 3];
  int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + 3;
  tile[l] = g < n ? in[g] : 0.0f;
  if (threadIdx.x < 3) {
    tile[l - 3] = g >= 3 ? in[g - 3] : 0.0f;
    tile[l + blockDim.x] = g + blockDim.x < n ? in[g + blockDim.x] : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int o = -3; o <= 3; ++o) sum += tile[l + o];
  if (g < n) out[g] = sum;
}

__constant__ float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

extern "C" __global__ void convolve_rows(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int k = -2; k <= 2; ++k) {
    int at = min(max(x + k, 0), width - 1);
    sum = fmaf(weights[k + 2], __ldg(&in[y * width + at]), sum);
  }
  out[y * width + x] = sum;
}

extern "C" __global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][16], bs[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < n / 16; ++t) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t * 16 + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t * 16 + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void bitonic_sort(int* data) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = data[t];
  for (int k = 2; k <= blockDim.x; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) {
      __syncthreads();
      int other = t ^ j;
      if (other > t) {
        bool up = (t & k) == 0;
        int a = s[t], b = s[other];
        if ((a > b) == up) {
          s[t] = b;
          s[other] = a;
        }
      }
    }
  __syncthreads();
  data[t] = s[t];
}

extern "C" __global__ void compact(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool keep = i < n && in[i] % 3 == 0;
  unsigned votes = __ballot_sync(0xffffffffu, keep);
  int lane = threadIdx.x & 31, leader = __ffs(votes) - 1, start = 0;
  if (votes == 0) return;
  if (lane == leader) start = atomicAdd(count, __popc(votes));
  start = __shfl_sync(0xffffffffu, start, leader);
  if (keep) out[start + __popc(votes & ((1u << lane) - 1))] = in[i];
}

extern "C" __global__ void atomics(int* words, unsigned long long* wide, float* real, double* precise) {
  int i = threadIdx.x;
  atomicAdd(&words[0], i);
  atomicMax(&words[1], i);
  atomicMin(&words[2], -i);
  atomicOr((unsigned*)&words[3], 1u << (i & 31));
  atomicAnd((unsigned*)&words[4], ~(1u << (i & 15)));
  atomicXor((unsigned*)&words[5], 1u << (i % 7));
  atomicExch(&words[6], 5);
  int seen = words[8], old;
  do {
    old = seen;
    seen = atomicCAS(&words[7], old, old + 2);
  } while (seen != old);
  atomicAdd(wide, 1ull << 33);
  atomicAdd(real, 0.5f);
  atomicAdd(precise, 0.25);
  atomicSub(&words[9], 1);
}

extern "C" __global__ void monte_carlo(unsigned* hits, int rounds) {
  unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 2891336453u, inside = 0;
  for (int r = 0; r < rounds; ++r) {
    float p[2];
    for (int k = 0; k < 2; ++k) {
      state = state * 747796405u + 2891336453u;
      unsigned word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
      p[k] = (float)((word >> 22u) ^ word) * 2.3283064e-10f;
    }
    if (p[0] * p[0] + p[1] * p[1] < 1.0f) ++inside;
  }
  atomicAdd(hits, inside);
}

extern "C" __global__ void mandelbrot(unsigned short* out, int width, float scale) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  float cr = (x - width * 0.7f) * scale, ci = (y - width * 0.5f) * scale, zr = 0, zi = 0;
  int steps = 0;
  while (steps < 64 && zr * zr + zi * zi < 4.0f) {
    float next = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = next;
    ++steps;
  }
  out[y * width + x] = steps;
}

extern "C" __global__ void print_lines(int n) {
  if (threadIdx.x < n) printf("thread %2d of %s: %5.2f %llu%%\n", threadIdx.x, "block", threadIdx.x * 0.5, 1ull << 40);
}

__device__ __noinline__ int collatz(int n) {
  int steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    ++steps;
  }
  return steps;
}

struct Pair {
  int steps;
  float root;
};

__device__ __noinline__ Pair both(int n) {
  Pair pair = {collatz(n), sqrtf((float)n)};
  return pair;
}

extern "C" __global__ void calls(int* steps, float* roots, int n) {
  int i = threadIdx.x;
  if (i < n) {
    Pair pair = both(i + 1);
    steps[i] = pair.steps;
    roots[i] = pair.root;
  }
}

extern "C" __global__ void switches(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i], r;
  switch (v & 15) {
    case 0: r = v * 3; break;
    case 1: r = v - 7; break;
    case 2: r = v << 2; break;
    case 3: r = v ^ 0x55; break;
    case 4: r = v / 3; break;
    case 5: r = __popc(v); break;
    case 6: r = __clz(v); break;
    case 7: r = __brev(v) >> 8; break;
    case 8: r = v % 11; break;
    case 9: r = abs(v - 500); break;
    case 10: r = v | 0x1000; break;
    case 11: r = -v; break;
    case 12: r = v * v; break;
    default: r = 1; break;
  }
  out[i] = r;
}

extern "C" __global__ void local_arrays(const int* in, int* out, int n) {
  int i = threadIdx.x, bins[16];
  for (int k = 0; k < 16; ++k) bins[k] = 0;
  for (int k = 0; k < n; ++k) ++bins[(in[k] * (i + 1)) & 15];
  int best = 0;
  for (int k = 1; k < 16; ++k)
    if (bins[k] > bins[best]) best = k;
  out[i] = best * 1000 + bins[best];
}

struct Particle {
  float4 place;
  float4 speed;
};

extern "C" __global__ void nbody(const float4* in, float4* out, float step, int n) {
  __shared__ float4 tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 own = in[i];
  float3 force = {0, 0, 0};
  for (int first = 0; first < n; first += 64) {
    tile[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 64; ++k) {
      float4 other = tile[k];
      float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      float weight = other.w * inverse * inverse * inverse;
      force.x += dx * weight;
      force.y += dy * weight;
      force.z += dz * weight;
    }
    __syncthreads();
  }
  out[i] = make_float4(own.x + force.x * step, own.y + force.y * step, own.z + force.z * step, own.w);
}

struct Options {
  int first;
  float factor;
  double bias;
  short steps[3];
};

extern "C" __global__ void structure(double* out, const Options options, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = options.bias + options.factor * (options.first + i) + options.steps[i % 3];
}
