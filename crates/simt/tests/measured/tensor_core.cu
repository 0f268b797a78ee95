// Multiplies generated operands with each tensor-core instruction of compute capability 9.0, and
// writes the bits that came out, so that the model of `simt::tensor` can be compared with them:
//
//     nvcc -O2 -std=c++17 -gencode arch=compute_90a,code=sm_90a -o tensor_core tensor_core.cu
//     ./tensor_core FOLDER
//     cargo run --release -p tilewright-simt --example tensor_core -- FOLDER
//
// Nothing but outputs is written: operands are a function of instruction, kind, problem and
// position, which `tensor_products/operands.rs` computes as well. A file is a sequence of records,
// in words of 32 bits: "TCB1", instruction, kind, bytes of an output, outputs, outputs that follow
// in full; then those outputs, and the hash (64 bits) of each block of 4096 outputs. Outputs are
// ordered by problem (one instruction), row and column.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <cuda_runtime.h>

typedef uint64_t u64;
typedef uint32_t u32;

const u32 BLOCK = 4096;
const u32 OUTPUTS = 96 * BLOCK;
const u32 IN_FULL = 2 * BLOCK;

static void check(cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

// ---- Operands: the same, word for word, as operands.rs ----

const u64 GAMMA = 0x9e3779b97f4a7c15ull;

// One step of SplitMix64 from the state `x`.
__host__ __device__ inline u64 mix(u64 x) {
    x += GAMMA;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// Bits of the exponent and of the fraction; 8-bit integers have neither.
struct Format {
    int exponent_bits, fraction_bits;
    bool infinities;
    int bits;
};
#define FORMAT(NAME, EXPONENT, FRACTION, INFINITIES, BITS)                                   \
    struct NAME {                                                                            \
        static constexpr int bits = BITS;                                                    \
        __host__ __device__ static Format format() {                                         \
            return {EXPONENT, FRACTION, INFINITIES, BITS};                                   \
        }                                                                                    \
    };
FORMAT(F16, 5, 10, true, 16)
FORMAT(BF16, 8, 7, true, 16)
FORMAT(TF32, 8, 23, true, 32)
FORMAT(F32, 8, 23, true, 32)
FORMAT(F64, 11, 52, true, 64)
FORMAT(E4M3, 4, 3, false, 8)
FORMAT(E5M2, 5, 2, true, 8)
FORMAT(INT8, 0, 0, false, 8)
FORMAT(INT32, 0, 0, false, 32)

enum Kind : u32 {
    UNIFORM, RANDOM_BITS, NARROW, CANCELLING, SUBNORMAL, SPECIAL, FAR_APART, ACCUMULATOR_ABOVE,
    ACCUMULATOR_BELOW, SMALL_INTEGERS, SIGNS, OVERFLOWING, TINY, COARSE, FLOAT_KINDS
};
const u32 INTEGER_KINDS = 3;

enum Operand : u32 { A, B, C };

// An element: row and k of A, column and k of B, row and column of C.
struct Element {
    u32 instruction, kind, problem, operand, line, place, k;
};

__host__ __device__ inline u64 draw(const Element &e, u32 line, u32 place, u32 number) {
    u64 stream = mix(u64(e.instruction) << 8 | e.kind);
    u64 problem = mix(stream + e.problem);
    return mix(problem ^ (u64(e.operand) << 60 | u64(line) << 40 | u64(place) << 20 | number));
}

__host__ __device__ inline u64 number(Format f, u64 random, int field) {
    int top = (1 << f.exponent_bits) - 1;
    int largest = f.infinities ? top - 1 : top;
    field = field < 1 ? 1 : field > largest ? largest : field;
    u64 fraction = random & ((u64(1) << f.fraction_bits) - 1);
    if (field == top && fraction == (u64(1) << f.fraction_bits) - 1) fraction -= 1;
    u64 sign = random >> 63;
    return sign << (f.exponent_bits + f.fraction_bits) | u64(field) << f.fraction_bits | fraction;
}

__host__ __device__ inline u64 subnormal(Format f, u64 random) {
    u64 fraction = random & ((u64(1) << f.fraction_bits) - 1);
    return (random >> 63) << (f.exponent_bits + f.fraction_bits) | fraction;
}

__host__ __device__ inline u64 finite_bits(Format f, u64 random) {
    int top = (1 << f.exponent_bits) - 1;
    int field = int(random >> f.fraction_bits) & top;
    u64 bits = subnormal(f, random) | u64(field) << f.fraction_bits;
    if (field != top) return bits;
    if (f.infinities) return bits ^ u64(1) << f.fraction_bits;
    u64 ones = (u64(1) << f.fraction_bits) - 1;
    return (bits & ones) == ones ? bits ^ 1 : bits;
}

__host__ __device__ inline u64 integer(Format f, int value) {
    if (value == 0) return 0;
    u64 sign = value < 0, magnitude = value < 0 ? -value : value;
    int exponent = 0;
    while (magnitude >> (exponent + 1)) exponent++;
    u64 fraction = (magnitude ^ u64(1) << exponent) << f.fraction_bits >> exponent;
    int field = (1 << (f.exponent_bits - 1)) - 1 + exponent;
    return sign << (f.exponent_bits + f.fraction_bits) | u64(field) << f.fraction_bits | fraction;
}

__host__ __device__ inline u64 special(Format f, u64 random) {
    int width = f.exponent_bits + f.fraction_bits;
    u64 sign = random >> 63 << width;
    u64 top = (u64(1) << f.exponent_bits) - 1;
    u64 ones = (u64(1) << f.fraction_bits) - 1;
    switch ((random >> 8) % 6) {
    case 0:
    case 1: return f.infinities ? sign | top << f.fraction_bits : sign | top << f.fraction_bits | ones;
    case 2: return f.infinities ? sign | top << f.fraction_bits | ((random >> 20 & ones) | 1)
                                : sign | top << f.fraction_bits | ones;
    case 3: return sign;
    default: return f.infinities ? sign | (top - 1) << f.fraction_bits | ones
                                 : sign | top << f.fraction_bits | (ones - 1);
    }
}

__host__ __device__ inline u64 signed_one(Format f, u64 random) {
    u64 sign = random >> 63 << (f.exponent_bits + f.fraction_bits);
    u64 bias = (u64(1) << (f.exponent_bits - 1)) - 1;
    return random & 1 ? sign | bias << f.fraction_bits : sign;
}

// An element of A or B, whose products go to accumulators of format `c`.
__host__ __device__ inline u64 factor(Format f, Format c, const Element &e) {
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    int c_bias = (1 << (c.exponent_bits - 1)) - 1;
    int width = f.exponent_bits + f.fraction_bits;
    u64 r = draw(e, e.line, e.place, 0), s = draw(e, e.line, e.place, 1);
    switch (e.kind) {
    case UNIFORM: {
        int below = 0;
        while (below < 40 && (s >> below & 1) == 0) below++;
        return number(f, r, bias - 1 - below);
    }
    case RANDOM_BITS: return finite_bits(f, r);
    case NARROW:
    case ACCUMULATOR_ABOVE:
    case ACCUMULATOR_BELOW: return number(f, r, bias - 3 + int(s % 7));
    case CANCELLING: {
        u32 pair = e.place & ~1u;
        r = draw(e, e.line, pair, 0);
        u64 bits = number(f, r, bias - 4 + int(draw(e, e.line, pair, 1) % 9));
        if ((e.place & 1) == 0) return bits;
        return e.operand == A ? bits ^ u64(1) << width : bits ^ (s & 1);
    }
    case SUBNORMAL:
        return e.operand == A || (e.line & 1) ? subnormal(f, r) : finite_bits(f, r);
    case SPECIAL:
        if (s % (8 * e.k) == 0) return special(f, draw(e, e.line, e.place, 2));
        return number(f, r, bias - 3 + int(s % 7));
    case FAR_APART: {
        int spread = bias - 1 < 20 ? bias - 1 : 20;
        return number(f, r, bias - spread + int(s % u64(2 * spread + 1)));
    }
    case SMALL_INTEGERS: return integer(f, int(s % 17) - 8);
    case SIGNS:
        if ((e.problem & 1) == 0) return signed_one(f, r);
        if (e.operand == A) return u64(e.line & 1) << width;
        return u64(e.line & 1) << width | u64(bias) << f.fraction_bits;
    case OVERFLOWING: {
        int half = c_bias / 2 < bias ? c_bias / 2 : bias;
        return number(f, r, bias + half - 4 + int(s % 6));
    }
    case TINY: return number(f, r, bias - c_bias / 2 - 12 + int(s % 16));
    default: {
        int cut = f.fraction_bits > 3 ? f.fraction_bits - 3 : 0;
        return number(f, r >> cut << cut, bias - 4 + int(s % 9));
    }
    }
}

// An element of C, of format `f`, to which products of elements of format `a` are added.
__host__ __device__ inline u64 summand(Format f, Format a, const Element &e) {
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    int a_bias = (1 << (a.exponent_bits - 1)) - 1;
    int width = f.exponent_bits + f.fraction_bits;
    u64 r = draw(e, e.line, e.place, 0), s = draw(e, e.line, e.place, 1);
    u32 quarter = u32(s >> 32) & 3;
    switch (e.kind) {
    case UNIFORM: {
        int below = 0;
        while (below < 40 && (s >> below & 1) == 0) below++;
        return number(f, r, bias - 1 - below);
    }
    case RANDOM_BITS:
        if (quarter == 0) return 0;
        return quarter == 1 ? number(f, r, bias - 32 + int(s % 64)) : finite_bits(f, r);
    case NARROW:
    case COARSE: return number(f, r, bias - 6 + int(s % 13));
    case CANCELLING:
        return quarter == 0 ? 0 : number(f, r, bias - 16 + int(s % 20));
    case SUBNORMAL:
        if (quarter == 0) return subnormal(f, r);
        return quarter == 1 ? 0 : number(f, r, bias + 2 * (1 - a_bias) + int(s % 40));
    case SPECIAL:
        if (s % 32 == 0) return special(f, draw(e, e.line, e.place, 2));
        return number(f, r, bias - 6 + int(s % 13));
    case FAR_APART: {
        int spread = bias - 1 < 40 ? bias - 1 : 40;
        return number(f, r, bias - spread + int(s % u64(2 * spread + 1)));
    }
    case ACCUMULATOR_ABOVE: return number(f, r, bias + 6 + int(s % 28));
    case ACCUMULATOR_BELOW: return number(f, r, bias - 8 - int(s % 30));
    case SMALL_INTEGERS: return integer(f, int(s % 2049) - 1024);
    case SIGNS:
        if ((e.problem & 1) == 0) return signed_one(f, r);
        return u64((e.line >> 1 ^ e.place >> 1) & 1) << width;
    case OVERFLOWING: return number(f, r, 2 * bias - int(s % 4));
    default:
        if (quarter == 0) return 0;
        return quarter == 1 ? subnormal(f, r) : number(f, r, 1 + int(s % 12));
    }
}

__host__ __device__ inline u64 small_integer(const Element &e) {
    u64 r = draw(e, e.line, e.place, 0);
    if (e.kind != 1) return r & 0xff;
    const u32 extremes = 0x00ff7f80u;
    return extremes >> (r % 4 * 8) & 0xff;
}

__host__ __device__ inline u64 large_integer(const Element &e) {
    u64 r = draw(e, e.line, e.place, 0);
    if (e.kind == 0) return u32(int32_t(u32(r)) >> 8);
    if (e.kind == 2) return u32(r);
    return r >> 63 ? u32(0x7fffffff) - u32(r % 200000) : u32(0x80000000) + u32(r % 200000);
}

__host__ __device__ inline u64 element(Format f, Format other, const Element &e) {
    if (f.exponent_bits == 0) return e.operand == C ? large_integer(e) : small_integer(e);
    return e.operand == C ? summand(f, other, e) : factor(f, other, e);
}

// ---- Instructions ----

// What each instruction is: its number in the files, its shape and formats.
#define SHAPE(NUMBER, M, N, K, FORMAT_A, FORMAT_B, FORMAT_C)                                 \
    static constexpr u32 number = NUMBER, m = M, n = N, k = K;                               \
    typedef FORMAT_A a_format;                                                               \
    typedef FORMAT_B b_format;                                                               \
    typedef FORMAT_C c_format;

// Registers of A, B and C are named by their count; accumulators pass through "f" or "r".
#define IN_1(X) "r"(X[0])
#define IN_2(X) "r"(X[0]), "r"(X[1])
#define IN_4(X) "r"(X[0]), "r"(X[1]), "r"(X[2]), "r"(X[3])
#define OUT_2(T, X) "+" T(X[0]), "+" T(X[1])
#define OUT_4(T, X) "+" T(X[0]), "+" T(X[1]), "+" T(X[2]), "+" T(X[3])

#define MMA(NAME, NUMBER, M, N, K, FA, FB, FC, ACC, T, COUNTS, OPERANDS, IN_A, IN_B, OUT)    \
    struct NAME {                                                                            \
        SHAPE(NUMBER, M, N, K, FA, FB, FC)                                                   \
        typedef ACC accumulator;                                                             \
        static __device__ void multiply(const u32 *a, const u32 *b, ACC *c) {                \
            asm volatile("mma.sync.aligned." OPERANDS COUNTS : OUT(T, c) : IN_A(a), IN_B(b)); \
        }                                                                                    \
    };
#define R_4_2_4 " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#define R_2_1_4 " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
#define R_4_2_2 " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
#define R_2_1_2 " {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
#define R_1_1_2 " {%0,%1}, {%2}, {%3}, {%0,%1};"

MMA(MmaF16K8, 32, 16, 8, 8, F16, F16, F32, float, "f", R_2_1_4, "m16n8k8.row.col.f32.f16.f16.f32", IN_2, IN_1, OUT_4)
MMA(MmaF16K16, 33, 16, 8, 16, F16, F16, F32, float, "f", R_4_2_4, "m16n8k16.row.col.f32.f16.f16.f32", IN_4, IN_2, OUT_4)
MMA(MmaF16ToF16K8, 34, 16, 8, 8, F16, F16, F16, u32, "r", R_2_1_2, "m16n8k8.row.col.f16.f16.f16.f16", IN_2, IN_1, OUT_2)
MMA(MmaF16ToF16K16, 35, 16, 8, 16, F16, F16, F16, u32, "r", R_4_2_2, "m16n8k16.row.col.f16.f16.f16.f16", IN_4, IN_2, OUT_2)
MMA(MmaBf16K8, 36, 16, 8, 8, BF16, BF16, F32, float, "f", R_2_1_4, "m16n8k8.row.col.f32.bf16.bf16.f32", IN_2, IN_1, OUT_4)
MMA(MmaBf16K16, 37, 16, 8, 16, BF16, BF16, F32, float, "f", R_4_2_4, "m16n8k16.row.col.f32.bf16.bf16.f32", IN_4, IN_2, OUT_4)
MMA(MmaTf32K4, 38, 16, 8, 4, TF32, TF32, F32, float, "f", R_2_1_4, "m16n8k4.row.col.f32.tf32.tf32.f32", IN_2, IN_1, OUT_4)
MMA(MmaTf32K8, 39, 16, 8, 8, TF32, TF32, F32, float, "f", R_4_2_4, "m16n8k8.row.col.f32.tf32.tf32.f32", IN_4, IN_2, OUT_4)
MMA(MmaE4m3, 40, 16, 8, 32, E4M3, E4M3, F32, float, "f", R_4_2_4, "m16n8k32.row.col.f32.e4m3.e4m3.f32", IN_4, IN_2, OUT_4)
MMA(MmaE5m2, 41, 16, 8, 32, E5M2, E5M2, F32, float, "f", R_4_2_4, "m16n8k32.row.col.f32.e5m2.e5m2.f32", IN_4, IN_2, OUT_4)
MMA(MmaE4m3E5m2, 42, 16, 8, 32, E4M3, E5M2, F32, float, "f", R_4_2_4, "m16n8k32.row.col.f32.e4m3.e5m2.f32", IN_4, IN_2, OUT_4)
MMA(MmaS8N8K16, 43, 8, 8, 16, INT8, INT8, INT32, u32, "r", R_1_1_2, "m8n8k16.row.col.s32.s8.s8.s32", IN_1, IN_1, OUT_2)
MMA(MmaS8K16, 44, 16, 8, 16, INT8, INT8, INT32, u32, "r", R_2_1_4, "m16n8k16.row.col.s32.s8.s8.s32", IN_2, IN_1, OUT_4)
MMA(MmaS8K32, 45, 16, 8, 32, INT8, INT8, INT32, u32, "r", R_4_2_4, "m16n8k32.row.col.s32.s8.s8.s32", IN_4, IN_2, OUT_4)
MMA(MmaU8K32, 46, 16, 8, 32, INT8, INT8, INT32, u32, "r", R_4_2_4, "m16n8k32.row.col.s32.u8.u8.s32", IN_4, IN_2, OUT_4)
MMA(MmaS8U8K32, 47, 16, 8, 32, INT8, INT8, INT32, u32, "r", R_4_2_4, "m16n8k32.row.col.s32.s8.u8.s32", IN_4, IN_2, OUT_4)
MMA(MmaS8K32Saturating, 48, 16, 8, 32, INT8, INT8, INT32, u32, "r", R_4_2_4, "m16n8k32.row.col.satfinite.s32.s8.s8.s32", IN_4, IN_2, OUT_4)

#define D_1(X) "d"(X[0])
#define D_2(X) D_1(X), "d"(X[1])
#define D_4(X) D_2(X), "d"(X[2]), "d"(X[3])
#define D_8(X) D_4(X), "d"(X[4]), "d"(X[5]), "d"(X[6]), "d"(X[7])
#define MMA_F64(NAME, NUMBER, M, K, OPERANDS, IN_A, IN_B, OUT)                               \
    struct NAME {                                                                            \
        SHAPE(NUMBER, M, 8, K, F64, F64, F64)                                                \
        typedef double accumulator;                                                          \
        static __device__ void multiply(const double *a, const double *b, double *c) {       \
            asm volatile("mma.sync.aligned." OPERANDS : OUT("d", c) : IN_A(a), IN_B(b));     \
        }                                                                                    \
    };
#define R_8_4_4 " {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
MMA_F64(MmaF64M8, 49, 8, 4, "m8n8k4.row.col.f64.f64.f64.f64" R_1_1_2, D_1, D_1, OUT_2)
MMA_F64(MmaF64K4, 50, 16, 4, "m16n8k4.row.col.f64.f64.f64.f64" R_2_1_4, D_2, D_1, OUT_4)
MMA_F64(MmaF64K8, 51, 16, 8, "m16n8k8.row.col.f64.f64.f64.f64" R_4_2_4, D_4, D_2, OUT_4)
MMA_F64(MmaF64K16, 52, 16, 16, "m16n8k16.row.col.f64.f64.f64.f64" R_8_4_4, D_8, D_4, OUT_4)

#define WGMMA(NAME, NUMBER, K, FA, FB, FC, ACC, T, OPERANDS, REGISTERS, A_B_SCALE, SCALES, OUT) \
    struct NAME {                                                                            \
        SHAPE(NUMBER, 64, 8, K, FA, FB, FC)                                                  \
        typedef ACC accumulator;                                                             \
        static __device__ void multiply(u64 a, u64 b, ACC *c) {                              \
            asm volatile("{ .reg .pred accumulate; setp.eq.u32 accumulate, 0, 0;"            \
                         " wgmma.mma_async.sync.aligned." OPERANDS REGISTERS A_B_SCALE SCALES "; }" \
                         : OUT(T, c) : "l"(a), "l"(b));                                      \
        }                                                                                    \
    };
#define WR_4 " {%0,%1,%2,%3}, %4, %5, accumulate"
#define WR_2 " {%0,%1}, %2, %3, accumulate"
WGMMA(WgmmaF16, 0, 16, F16, F16, F32, float, "f", "m64n8k16.f32.f16.f16", WR_4, ", 1, 1", ", 0, 0", OUT_4)
WGMMA(WgmmaF16ToF16, 1, 16, F16, F16, F16, u32, "r", "m64n8k16.f16.f16.f16", WR_2, ", 1, 1", ", 0, 0", OUT_2)
WGMMA(WgmmaBf16, 2, 16, BF16, BF16, F32, float, "f", "m64n8k16.f32.bf16.bf16", WR_4, ", 1, 1", ", 0, 0", OUT_4)
WGMMA(WgmmaTf32, 3, 8, TF32, TF32, F32, float, "f", "m64n8k8.f32.tf32.tf32", WR_4, ", 1, 1", "", OUT_4)
WGMMA(WgmmaE4m3, 4, 32, E4M3, E4M3, F32, float, "f", "m64n8k32.f32.e4m3.e4m3", WR_4, ", 1, 1", "", OUT_4)
WGMMA(WgmmaE5m2, 5, 32, E5M2, E5M2, F32, float, "f", "m64n8k32.f32.e5m2.e5m2", WR_4, ", 1, 1", "", OUT_4)
WGMMA(WgmmaE4m3E5m2, 6, 32, E4M3, E5M2, F32, float, "f", "m64n8k32.f32.e4m3.e5m2", WR_4, ", 1, 1", "", OUT_4)
WGMMA(WgmmaE4m3ToF16, 7, 32, E4M3, E4M3, F16, u32, "r", "m64n8k32.f16.e4m3.e4m3", WR_2, ", 1, 1", "", OUT_2)
WGMMA(WgmmaS8, 8, 32, INT8, INT8, INT32, u32, "r", "m64n8k32.s32.s8.s8", WR_4, "", "", OUT_4)
WGMMA(WgmmaU8, 9, 32, INT8, INT8, INT32, u32, "r", "m64n8k32.s32.u8.u8", WR_4, "", "", OUT_4)
WGMMA(WgmmaS8U8, 10, 32, INT8, INT8, INT32, u32, "r", "m64n8k32.s32.s8.u8", WR_4, "", "", OUT_4)
WGMMA(WgmmaS8Saturating, 11, 32, INT8, INT8, INT32, u32, "r", "m64n8k32.s32.s8.s8.satfinite", WR_4, "", "", OUT_4)

#define OUT_8(X, I) "+f"(X[I]), "+f"(X[I + 1]), "+f"(X[I + 2]), "+f"(X[I + 3]),              \
        "+f"(X[I + 4]), "+f"(X[I + 5]), "+f"(X[I + 6]), "+f"(X[I + 7])
#define OUT_32(X, I) OUT_8(X, I), OUT_8(X, I + 8), OUT_8(X, I + 16), OUT_8(X, I + 24)

// The widest shape, to show that a row's other columns do not matter.
struct WgmmaF16Wide {
    SHAPE(12, 64, 256, 16, F16, F16, F32)
    typedef float accumulator;
    static __device__ void multiply(u64 a, u64 b, float *c) {
        asm volatile(
            "{ .reg .pred accumulate; setp.eq.u32 accumulate, 0, 0;"
            " wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
            "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
            "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
            "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
            "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,"
            "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"
            "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"
            "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,"
            "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
            "}, %128, %129, accumulate, 1, 1, 0, 0; }"
            : OUT_32(c, 0), OUT_32(c, 32), OUT_32(c, 64), OUT_32(c, 96)
            : "l"(a), "l"(b));
    }
};

// ---- Kernels ----

__device__ inline u64 to_bits(float x) { return __float_as_uint(x); }
__device__ inline u64 to_bits(u32 x) { return x; }
__device__ inline u64 to_bits(double x) { return u64(__double_as_longlong(x)); }
__device__ inline void from_bits(u64 bits, float &x) { x = __uint_as_float(u32(bits)); }
__device__ inline void from_bits(u64 bits, u32 &x) { x = u32(bits); }
__device__ inline void from_bits(u64 bits, double &x) { x = __longlong_as_double((long long)bits); }

// Accumulators of one thread: each register holds one element, or two in f16. `row` is that of the
// thread's first element, and each pair of rows is 8 further down.
template <class I, class Visit> __device__ void each_accumulator(u32 row, u32 lane, Visit visit) {
    const u32 pairs = I::m == 8 ? 1 : 2;
    for (u32 tile = 0; tile < I::n / 8; tile++)
        for (u32 pair = 0; pair < pairs; pair++)
            for (u32 i = 0; i < 2; i++)
                visit((tile * pairs + pair) * 2 + i, row + 8 * pair, 8 * tile + 2 * (lane % 4) + i);
}

template <class I>
__device__ void load_accumulators(u32 kind, u32 problem, u32 row, u32 lane,
                                  typename I::accumulator *c) {
    u64 pending = 0;
    each_accumulator<I>(row, lane, [&](u32 index, u32 r, u32 column) {
        Element e = {I::number, kind, problem, C, r, column, I::k};
        u64 bits = element(I::c_format::format(), I::a_format::format(), e);
        if (I::c_format::bits != 16) {
            from_bits(bits, c[index]);
        } else if (index % 2 == 0) {
            pending = bits;
        } else {
            from_bits(pending | bits << 16, c[index / 2]);
        }
    });
}

template <class I, class Output>
__device__ void store_accumulators(u32 problem, u32 row, u32 lane,
                                   const typename I::accumulator *c, Output *out) {
    each_accumulator<I>(row, lane, [&](u32 index, u32 r, u32 column) {
        u64 bits = I::c_format::bits == 16 ? to_bits(c[index / 2]) >> (index % 2 * 16) & 0xffff
                                           : to_bits(c[index]);
        out[(problem * I::m + r) * I::n + column] = Output(bits);
    });
}

// Registers of A or B: `register_type` holds consecutive k; the next register of the same rows is
// four registers' worth of k further.
template <class F, class Register, class I>
__device__ void load_factors(u32 kind, u32 problem, u32 operand, u32 lane, u32 rows, Register *x) {
    const u32 packed = sizeof(Register) * 8 / F::bits;
    const u32 line_groups = rows == 16 ? 2 : 1;
    const u32 count = rows * I::k / 32 / packed;
    for (u32 i = 0; i < count; i++) {
        u64 bits = 0;
        for (u32 j = 0; j < packed; j++) {
            u32 line = lane / 4 + 8 * (i % line_groups);
            u32 place = lane % 4 * packed + j + 4 * packed * (i / line_groups);
            Element e = {I::number, kind, problem, operand, line, place, I::k};
            bits |= element(F::format(), I::c_format::format(), e) << (j * F::bits % 64);
        }
        from_bits(bits, x[i]);
    }
}

// A warp for each problem.
template <class I, class Register, class Output>
__global__ void mma_products(u32 kind, Output *out) {
    u32 lane = threadIdx.x % 32;
    u32 problem = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    Register a[8], b[4];
    typename I::accumulator c[4];
    load_factors<typename I::a_format, Register, I>(kind, problem, A, lane, I::m, a);
    load_factors<typename I::b_format, Register, I>(kind, problem, B, lane, 8, b);
    load_accumulators<I>(kind, problem, lane / 4, lane, c);
    I::multiply(a, b, c);
    store_accumulators<I>(problem, lane / 4, lane, c, out);
}

// Fills a tile whose rows are 32 bytes of k: core matrices of 8 rows by 16 bytes, one after
// another along k, then along the rows.
template <class F, class I>
__device__ void fill(unsigned char *tile, u32 kind, u32 problem, u32 operand, u32 lines) {
    const u32 bytes = F::bits / 8;
    for (u32 i = threadIdx.x; i < lines * I::k; i += blockDim.x) {
        u32 line = i / I::k, place = i % I::k, byte = place * bytes;
        Element e = {I::number, kind, problem, operand, line, place, I::k};
        u64 bits = element(F::format(), I::c_format::format(), e);
        u32 at = line / 8 * 256 + byte / 16 * 128 + line % 8 * 16 + byte % 16;
        for (u32 j = 0; j < bytes; j++) tile[at + j] = (unsigned char)(bits >> (8 * j));
    }
}

__device__ u64 descriptor(const void *tile, u64 offsets) {
    u64 address = __cvta_generic_to_shared(tile);
    return (address >> 4 & 0x3fff) | offsets;
}

// A warpgroup for each problem.
template <class I> __global__ void __launch_bounds__(128) wgmma_products(u32 kind, u64 offsets, u32 *out) {
    __shared__ __align__(1024) unsigned char a[64 * 32];
    __shared__ __align__(1024) unsigned char b[I::n * 32];
    u32 problem = blockIdx.x, lane = threadIdx.x % 32;
    u32 row = threadIdx.x / 32 * 16 + lane / 4;
    fill<typename I::a_format, I>(a, kind, problem, A, 64);
    fill<typename I::b_format, I>(b, kind, problem, B, I::n);
    typename I::accumulator c[I::n / 2];
    load_accumulators<I>(kind, problem, row, lane, c);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    I::multiply(descriptor(a, offsets), descriptor(b, offsets), c);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    store_accumulators<I>(problem, row, lane, c, out);
}

// ---- Files ----

template <class Output>
static void write_record(FILE *file, u32 instruction, u32 kind, const std::vector<Output> &outputs) {
    u32 header[] = {0x31424354, instruction, kind, sizeof(Output), u32(outputs.size()), IN_FULL};
    fwrite(header, sizeof header, 1, file);
    fwrite(outputs.data(), sizeof(Output), IN_FULL, file);
    for (size_t start = 0; start < outputs.size(); start += BLOCK) {
        u64 hash = 0;
        for (size_t i = start; i < start + BLOCK; i++) hash = mix(hash ^ u64(outputs[i]));
        fwrite(&hash, sizeof hash, 1, file);
    }
}

template <class I, class Output, class Launch> static std::vector<Output> run(Launch launch) {
    static_assert(OUTPUTS % (I::m * I::n) == 0, "whole problems");
    std::vector<Output> outputs(OUTPUTS);
    Output *device;
    check(cudaMalloc(&device, OUTPUTS * sizeof(Output)), "memory");
    check(cudaMemset(device, 0xee, OUTPUTS * sizeof(Output)), "memory");
    launch(OUTPUTS / (I::m * I::n), device);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(outputs.data(), device, OUTPUTS * sizeof(Output), cudaMemcpyDeviceToHost),
          "products");
    check(cudaFree(device), "memory");
    return outputs;
}

template <class I> static u32 kinds() {
    return I::c_format::format().exponent_bits == 0 ? INTEGER_KINDS : u32(FLOAT_KINDS);
}

template <class I, class Register, class Output> static void mma(FILE *file) {
    for (u32 kind = 0; kind < kinds<I>(); kind++) {
        auto outputs = run<I, Output>([&](u32 problems, Output *out) {
            mma_products<I, Register, Output><<<problems / 4, 128>>>(kind, out);
        });
        write_record(file, I::number, kind, outputs);
    }
    printf("mma %u\n", I::number);
    fflush(stdout);
}

template <class I> static std::vector<u32> wgmma_outputs(u32 kind, u64 offsets) {
    return run<I, u32>([&](u32 problems, u32 *out) {
        wgmma_products<I><<<problems, 128>>>(kind, offsets, out);
    });
}

template <class I> static void wgmma(FILE *file, u64 offsets) {
    for (u32 kind = 0; kind < kinds<I>(); kind++)
        write_record(file, I::number, kind, wgmma_outputs<I>(kind, offsets));
    printf("wgmma %u\n", I::number);
    fflush(stdout);
}

// Products of small 8-bit integers are exact, so they show whether a descriptor describes the tiles.
static bool describes_tiles(u64 offsets) {
    typedef WgmmaS8 I;
    auto outputs = wgmma_outputs<I>(0, offsets);
    for (u32 i = 0; i < OUTPUTS; i++) {
        u32 column = i % I::n, row = i / I::n % I::m, problem = i / I::n / I::m;
        u32 sum = u32(large_integer({I::number, 0, problem, C, row, column, I::k}));
        for (u32 k = 0; k < I::k; k++)
            sum += u32(int(int8_t(small_integer({I::number, 0, problem, A, row, k, I::k}))) *
                       int(int8_t(small_integer({I::number, 0, problem, B, column, k, I::k}))));
        if (sum != outputs[i]) return false;
    }
    return true;
}

static FILE *create(const std::string &folder, const char *name) {
    FILE *file = fopen((folder + "/" + name).c_str(), "wb");
    if (!file) {
        fprintf(stderr, "%s/%s cannot be written\n", folder.c_str(), name);
        exit(1);
    }
    return file;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "tensor_core FOLDER\n");
        return 1;
    }
    FILE *file = create(argv[1], "mma.bin");
    mma<MmaF16K8, u32, u32>(file);
    mma<MmaF16K16, u32, u32>(file);
    mma<MmaF16ToF16K8, u32, u32>(file);
    mma<MmaF16ToF16K16, u32, u32>(file);
    mma<MmaBf16K8, u32, u32>(file);
    mma<MmaBf16K16, u32, u32>(file);
    mma<MmaTf32K4, u32, u32>(file);
    mma<MmaTf32K8, u32, u32>(file);
    mma<MmaE4m3, u32, u32>(file);
    mma<MmaE5m2, u32, u32>(file);
    mma<MmaE4m3E5m2, u32, u32>(file);
    mma<MmaS8N8K16, u32, u32>(file);
    mma<MmaS8K16, u32, u32>(file);
    mma<MmaS8K32, u32, u32>(file);
    mma<MmaU8K32, u32, u32>(file);
    mma<MmaS8U8K32, u32, u32>(file);
    mma<MmaS8K32Saturating, u32, u32>(file);
    mma<MmaF64M8, double, u64>(file);
    mma<MmaF64K4, double, u64>(file);
    mma<MmaF64K8, double, u64>(file);
    mma<MmaF64K16, double, u64>(file);
    fclose(file);

    // The leading offset is the distance of core matrices along k, the stride that along the rows.
    const u64 along_k = 128 >> 4, along_rows = 256 >> 4;
    u64 offsets = along_k << 16 | along_rows << 32;
    if (!describes_tiles(offsets)) {
        fprintf(stderr, "the descriptor does not describe the tiles: offsets exchanged\n");
        offsets = along_rows << 16 | along_k << 32;
        if (!describes_tiles(offsets)) {
            fprintf(stderr, "nor with its offsets exchanged\n");
            return 1;
        }
    }
    file = create(argv[1], "wgmma.bin");
    wgmma<WgmmaF16>(file, offsets);
    wgmma<WgmmaF16ToF16>(file, offsets);
    wgmma<WgmmaBf16>(file, offsets);
    wgmma<WgmmaTf32>(file, offsets);
    wgmma<WgmmaE4m3>(file, offsets);
    wgmma<WgmmaE5m2>(file, offsets);
    wgmma<WgmmaE4m3E5m2>(file, offsets);
    wgmma<WgmmaE4m3ToF16>(file, offsets);
    wgmma<WgmmaS8>(file, offsets);
    wgmma<WgmmaU8>(file, offsets);
    wgmma<WgmmaS8U8>(file, offsets);
    wgmma<WgmmaS8Saturating>(file, offsets);
    wgmma<WgmmaF16Wide>(file, offsets);
    fclose(file);
    return 0;
}
