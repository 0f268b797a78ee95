// Makes the requests of shared_wavefronts_h200.txt, one launch of one warp for each line, so that
// Nsight Compute can count their passes:
//
//     nvcc -O2 -std=c++17 -arch=sm_90 -o shared_wavefronts shared_wavefronts.cu
//     ncu --csv --page raw --cache-control none --clock-control none --metrics METRICS \
//         ./shared_wavefronts shared_wavefronts_h200.txt
//
// The metrics are those that the file names. A request is made `REPEATS` times.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

const int REPEATS = 8;
const int LANES = 32;
const int SHARED_BYTES = 32 * 1024;

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(1);
    }
}

template <int BYTES> __device__ void load(unsigned address, unsigned &sum);
template <> __device__ void load<1>(unsigned address, unsigned &sum) {
    unsigned short v;
    asm volatile("ld.volatile.shared.u8 %0, [%1];" : "=h"(v) : "r"(address) : "memory");
    sum += v;
}
template <> __device__ void load<2>(unsigned address, unsigned &sum) {
    unsigned short v;
    asm volatile("ld.volatile.shared.u16 %0, [%1];" : "=h"(v) : "r"(address) : "memory");
    sum += v;
}
template <> __device__ void load<4>(unsigned address, unsigned &sum) {
    unsigned v;
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
    sum += v;
}
template <> __device__ void load<8>(unsigned address, unsigned &sum) {
    unsigned v, w;
    asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(v), "=r"(w) : "r"(address) : "memory");
    sum += v ^ w;
}
template <> __device__ void load<16>(unsigned address, unsigned &sum) {
    unsigned v, w, x, y;
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v), "=r"(w), "=r"(x), "=r"(y) : "r"(address) : "memory");
    sum += v ^ w ^ x ^ y;
}

template <int BYTES> __device__ void store(unsigned address, unsigned v);
template <> __device__ void store<1>(unsigned address, unsigned v) {
    asm volatile("st.volatile.shared.u8 [%0], %1;" ::"r"(address), "h"((unsigned short)v) : "memory");
}
template <> __device__ void store<2>(unsigned address, unsigned v) {
    asm volatile("st.volatile.shared.u16 [%0], %1;" ::"r"(address), "h"((unsigned short)v) : "memory");
}
template <> __device__ void store<4>(unsigned address, unsigned v) {
    asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(address), "r"(v) : "memory");
}
template <> __device__ void store<8>(unsigned address, unsigned v) {
    asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" ::"r"(address), "r"(v) : "memory");
}
template <> __device__ void store<16>(unsigned address, unsigned v) {
    asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(address), "r"(v) : "memory");
}

template <int BYTES> __device__ void copy(unsigned address, const void *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from), "n"(BYTES)
                 : "memory");
}
template <> __device__ void copy<16>(unsigned address, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}

// One request, `REPEATS` times; lanes with a negative offset take no part.
#define REQUEST(NAME, INSTRUCTION)                                                        \
    template <int BYTES> __global__ void NAME(const int *offsets, unsigned *out) {        \
        extern __shared__ __align__(1024) unsigned char memory[];                         \
        int offset = offsets[threadIdx.x];                                                \
        unsigned address = (unsigned)__cvta_generic_to_shared(memory) + offset;           \
        unsigned sum = threadIdx.x;                                                       \
        if (offset >= 0) {                                                                \
            _Pragma("unroll") for (int i = 0; i < REPEATS; i++) { INSTRUCTION; }          \
        }                                                                                 \
        asm volatile("cp.async.wait_all;" ::: "memory");                                  \
        out[threadIdx.x] = sum;                                                           \
    }
REQUEST(request_load, load<BYTES>(address, sum))
REQUEST(request_store, store<BYTES>(address, sum + i))
REQUEST(request_copy, copy<BYTES>(address, (char *)out + (LANES * (i + 1) + threadIdx.x) * BYTES))
REQUEST(request_atomic, atomicAdd((unsigned *)(memory + offset), sum + i))

typedef void (*Kernel)(const int *, unsigned *);

static Kernel choose(const char *operation, int bytes) {
    const struct { const char *operation; int bytes; Kernel kernel; } all[] = {
        {"load", 1, request_load<1>},   {"load", 2, request_load<2>},
        {"load", 4, request_load<4>},   {"load", 8, request_load<8>},
        {"load", 16, request_load<16>}, {"store", 1, request_store<1>},
        {"store", 2, request_store<2>}, {"store", 4, request_store<4>},
        {"store", 8, request_store<8>}, {"store", 16, request_store<16>},
        {"copy", 4, request_copy<4>},   {"copy", 8, request_copy<8>},
        {"copy", 16, request_copy<16>}, {"atomic", 4, request_atomic<4>},
    };
    for (const auto &entry : all)
        if (!strcmp(entry.operation, operation) && entry.bytes == bytes) return entry.kernel;
    fprintf(stderr, "no kernel for %s of %d bytes\n", operation, bytes);
    exit(1);
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "r") : nullptr;
    if (!file) {
        fprintf(stderr, "usage: shared_wavefronts FILE\n");
        return 1;
    }
    int *offsets;
    unsigned *out;
    check(cudaMalloc(&offsets, LANES * sizeof(int)));
    check(cudaMalloc(&out, 1 << 16));
    check(cudaMemset(out, 0, 1 << 16));
    char line[1024];
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        const char *operation = strtok(line, " ");
        int bytes = atoi(strtok(nullptr, " "));
        strtok(nullptr, " "); // passes and conflicts are what is to be counted
        strtok(nullptr, " ");
        int host[LANES];
        for (int &offset : host) {
            const char *field = strtok(nullptr, " \n");
            offset = !field || *field == '-' ? -1 : atoi(field);
        }
        check(cudaMemcpy(offsets, host, sizeof host, cudaMemcpyHostToDevice));
        choose(operation, bytes)<<<1, LANES, SHARED_BYTES>>>(offsets, out);
        check(cudaGetLastError());
        check(cudaDeviceSynchronize());
    }
}
