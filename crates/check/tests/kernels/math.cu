// Numbers: the functions of CUDA's library in each precision, fast and accurate.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void accurate(const float* x, float* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  out[0 * n + i] = sinf(v);
  out[1 * n + i] = cosf(v);
  out[2 * n + i] = expf(v);
  out[3 * n + i] = logf(fabsf(v) + 0.5f);
  out[4 * n + i] = powf(fabsf(v) + 0.1f, 1.7f);
  out[5 * n + i] = tanhf(v);
  out[6 * n + i] = erff(v);
  out[7 * n + i] = atan2f(v, 0.3f);
  out[8 * n + i] = cbrtf(v);
  out[9 * n + i] = fmodf(v * 10.0f, 0.7f);
  out[10 * n + i] = 1.0f / (v + 3.0f);
  out[11 * n + i] = sqrtf(fabsf(v));
  out[12 * n + i] = rintf(v * 4.0f);
  out[13 * n + i] = ldexpf(v, 3);
}

extern "C" __global__ void fast(const float* x, float* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  out[0 * n + i] = __sinf(v);
  out[1 * n + i] = __cosf(v);
  out[2 * n + i] = __expf(v);
  out[3 * n + i] = __logf(fabsf(v) + 0.5f);
  out[4 * n + i] = __powf(fabsf(v) + 0.1f, 1.7f);
  out[5 * n + i] = __fdividef(v, 0.7f);
  out[6 * n + i] = rsqrtf(fabsf(v) + 0.1f);
  out[7 * n + i] = __saturatef(v + 0.5f);
}

extern "C" __global__ void precise(const double* x, double* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  double v = x[i];
  out[0 * n + i] = sin(v);
  out[1 * n + i] = exp(v);
  out[2 * n + i] = log(fabs(v) + 0.5);
  out[3 * n + i] = pow(fabs(v) + 0.1, 1.7);
  out[4 * n + i] = rsqrt(fabs(v) + 0.1);
  out[5 * n + i] = erf(v);
  out[6 * n + i] = v / 0.7;
  out[7 * n + i] = lgamma(fabs(v) + 1.0);
}

extern "C" __global__ void rounded(const float* x, float* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  float v = x[i], w = x[(i + 1) % n];
  out[0 * n + i] = __fadd_rz(v, w);
  out[1 * n + i] = __fmul_ru(v, w);
  out[2 * n + i] = __fmaf_rd(v, w, v);
  out[3 * n + i] = __fsqrt_ru(fabsf(v));
  out[4 * n + i] = (float)__float2int_rd(v * 100.0f);
  out[5 * n + i] = (float)__float2uint_ru(fabsf(v) * 100.0f);
  out[6 * n + i] = __int2float_rz((i + 1) * 16777259);
  out[7 * n + i] = __double2float_ru((double)v * 1.0000001);
}

extern "C" __global__ void half_pairs(const __half2* a, const __half2* b, __half2* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  __half2 x = a[i], y = b[i];
  out[0 * n + i] = __hadd2(x, y);
  out[1 * n + i] = __hfma2(x, y, x);
  out[2 * n + i] = __hmax2(x, y);
  out[3 * n + i] = __h2div(x, __hadd2(__habs2(y), __float2half2_rn(0.5f)));
  out[4 * n + i] = h2exp(x);
  out[5 * n + i] = __hfma2_relu(x, y, x);
  out[6 * n + i] = __hgt2(x, y);
  out[7 * n + i] = h2sqrt(__habs2(x));
}

extern "C" __global__ void bfloats(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  __nv_bfloat16 x = a[i], y = b[i];
  out[0 * n + i] = __hadd(x, y);
  out[1 * n + i] = __hfma(x, y, x);
  out[2 * n + i] = __hmin(x, y);
  out[3 * n + i] = hexp(x);
  out[4 * n + i] = __hmul(x, y);
  out[5 * n + i] = __float2bfloat16(__bfloat162float(x) * 3.0f);
}

extern "C" __global__ void small_floats(const float* x, float* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  __nv_fp8_e4m3 small(x[i] * 50.0f);
  __nv_fp8_e5m2 wide(x[i] * 5000.0f);
  out[i] = (float)small;
  out[n + i] = (float)wide;
}

extern "C" __global__ void integers(const int* x, const unsigned* y, long long* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  int v = x[i];
  unsigned w = y[i] + 1u;
  long long wide = (long long)v * 1234567891011ll + w;
  out[0 * n + i] = wide / (long long)w;
  out[1 * n + i] = wide % 1000003ll;
  out[2 * n + i] = __mulhi(v, 0x12345678);
  out[3 * n + i] = (long long)__umul64hi((unsigned long long)wide, 0x123456789abcdefull);
  out[4 * n + i] = __funnelshift_l(w, v, 7);
  out[5 * n + i] = __byte_perm(v, w, 0x5140);
  out[6 * n + i] = __dp4a(v, (int)w, 5);
  out[7 * n + i] = __sad(v, 3, w);
  out[8 * n + i] = __vabsdiffu4(v, w);
  out[9 * n + i] = __vadd4(v, w);
  out[10 * n + i] = __mul24(v, 77);
  out[11 * n + i] = __brevll(wide) >> 13;
  out[12 * n + i] = __ffsll(wide) + __clzll(wide);
  out[13 * n + i] = __vmaxs2(v, w);
  out[14 * n + i] = __rhadd(v, (int)w);
  out[15 * n + i] = (long long)(((__int128)wide * wide) >> 40);
}
