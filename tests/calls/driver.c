// A driver whose two devices are the host: enough of one for sums, products and copies to be submitted.
//
// Work is done when the host waits for it, as late as a GPU may do it. The only kernel that computes
// is `reduce_sum_u32`. A call without the device's context fails as with the driver.

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUCCESS 0
#define OUT_OF_MEMORY 2
#define INVALID_CONTEXT 201
#define INVALID_HANDLE 400
#define NOT_FOUND 500
#define LAUNCH_FAILED 719
#define UNSUPPORTED_PTX_VERSION 222

// The newest CUDA version that the driver supports: 11080 is 11.8.
#ifndef DRIVER_VERSION
#define DRIVER_VERSION 13000
#endif

// The names of the calling thread's calls.
static __thread char calls[1 << 16];
static __thread size_t calls_length;

const char *recorded_calls(void) { return calls; }
void forget_calls(void) { calls[calls_length = 0] = 0; }

static void record(const char *name) {
  size_t length = strlen(name);
  if (calls_length + length + 2 > sizeof calls) abort();
  memcpy(calls + calls_length, name, length);
  calls_length += length;
  memcpy(calls + calls_length++, " ", 2);
}

// Contexts: each thread has a stack of them. Those of the devices, their streams and events are numbers that
// end in the device's.
#define DEVICES 2
#define DEVICE_CONTEXT 0x1000
#define STREAM 0x2000
#define EVENT 0x4000
#define HANDLE(kind, device) ((void *)(uintptr_t)((kind) + (device)))
static __thread void *contexts[16];
static __thread int depth;

int context_depth(void) { return depth; }
static void *current(void) { return depth == 0 ? NULL : contexts[depth - 1]; }
static uintptr_t device_of(const void *handle) { return (uintptr_t)handle & 0xfff; }
static int is_context(const void *context) {
  return context == HANDLE(DEVICE_CONTEXT, device_of(context)) && device_of(context) < DEVICES;
}
static int is_here(const void *handle) { return device_of(handle) == device_of(current()); }

// A device is lost once its memory has been copied from, if a test says so.
static int is_lost[DEVICES], is_lost_by_copies[DEVICES];
void lose_by_copies(int device) { is_lost_by_copies[device] = 1; }

#define CALL record(__func__)
#define CALL_IN_CONTEXT                                                                            \
  CALL;                                                                                            \
  if (!is_context(current())) return INVALID_CONTEXT;                                              \
  if (is_lost[device_of(current())]) return LAUNCH_FAILED

int cuCtxGetCurrent(void **context) { CALL; *context = current(); return SUCCESS; }
int cuCtxPushCurrent_v2(void *context) {
  CALL;
  if (depth == 16) return INVALID_CONTEXT;
  contexts[depth++] = context;
  return SUCCESS;
}
int cuCtxPopCurrent_v2(void **context) {
  CALL;
  if (depth == 0) return INVALID_CONTEXT;
  *context = contexts[--depth];
  return SUCCESS;
}

// The device.
int cuInit(unsigned flags) { CALL; return flags; }
int cuDriverGetVersion(int *version) { CALL; *version = DRIVER_VERSION; return SUCCESS; }
int cuDeviceGetCount(int *count) { CALL; *count = DEVICES; return SUCCESS; }
int cuDeviceCanAccessPeer(int *can_access, int device, int peer) {
  CALL;
  *can_access = device != peer;
  return SUCCESS;
}
int cuDeviceGet(int *device, int number) { CALL; *device = number; return SUCCESS; }
int cuDeviceGetName(char *name, int room, int device) {
  CALL;
  snprintf(name, room, "host %d", device);
  return SUCCESS;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  CALL;
  *bytes = (size_t)1 << 30;
  return SUCCESS;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  CALL;
  switch (attribute) {
    case 10: *value = 32; break;          // the threads of a warp
    case 75: *value = 9; break;           // compute capability 9.0
    case 76: *value = 0; break;
    case 115: *value = 1; break;          // pools of memory
    case 16: *value = 132; break;         // multiprocessors
    case 97: *value = 227 << 10; break;   // the most bytes of shared memory of a block
    default: *value = 1024;
  }
  return SUCCESS;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  CALL;
  *context = HANDLE(DEVICE_CONTEXT, device);
  return SUCCESS;
}
int cuDevicePrimaryCtxRelease_v2(int device) { CALL; return SUCCESS; }

// The stream: what is to be done with a sum, or freed.
struct work {
  void *freed;
  const uint32_t *elements;
  uint64_t count;
  uint64_t *sum;
};
static struct work *queue;
static size_t queued, room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void submit(struct work work) {
  pthread_mutex_lock(&lock);
  if (queued == room) queue = realloc(queue, (room = 2 * room + 64) * sizeof *queue);
  queue[queued++] = work;
  pthread_mutex_unlock(&lock);
}

static void complete(void) {
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < queued; ++i) {
    free(queue[i].freed);
    if (queue[i].sum == NULL) continue;
    uint64_t sum = 0;
    for (uint64_t k = 0; k < queue[i].count; ++k) sum += queue[i].elements[k];
    *queue[i].sum = sum;
  }
  queued = 0;
  pthread_mutex_unlock(&lock);
}

int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  CALL_IN_CONTEXT;
  *stream = HANDLE(STREAM, device_of(current()));
  return SUCCESS;
}
int cuStreamDestroy_v2(void *stream) { CALL_IN_CONTEXT; return SUCCESS; }
int cuStreamQuery(void *stream) { CALL_IN_CONTEXT; complete(); return SUCCESS; }
int cuStreamSynchronize(void *stream) { CALL_IN_CONTEXT; complete(); return SUCCESS; }

// Events. One is recorded in streams of its own context alone. A test may say that there is no memory for them.
static int are_events_refused;
void refuse_events(void) { are_events_refused = 1; }
int cuEventCreate(void **event, unsigned flags) {
  CALL_IN_CONTEXT;
  if (are_events_refused) return OUT_OF_MEMORY;
  *event = HANDLE(EVENT, device_of(current()));
  return SUCCESS;
}
int cuEventRecord(void *event, void *stream) {
  CALL_IN_CONTEXT;
  return is_here(event) && is_here(stream) ? SUCCESS : INVALID_HANDLE;
}
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  CALL_IN_CONTEXT;
  return is_lost[device_of(stream)] ? LAUNCH_FAILED : flags;
}
int cuEventQuery(void *event) { CALL_IN_CONTEXT; complete(); return SUCCESS; }
int cuEventDestroy_v2(void *event) { CALL_IN_CONTEXT; return SUCCESS; }

// Memory.
static int allocate(void **place, size_t bytes) {
  *place = aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *place == NULL ? OUT_OF_MEMORY : SUCCESS;
}
int cuMemPoolCreate(void **pool, const void *properties) {
  CALL;
  *pool = (void *)0x3000;
  return SUCCESS;
}
int cuMemPoolSetAttribute(void *pool, int attribute, void *value) { CALL; return SUCCESS; }
int cuMemPoolSetAccess(void *pool, const int *access, size_t count) {
  CALL;
  // A device, and reading and writing.
  return count == 1 && access[0] == 1 && access[1] < DEVICES && access[2] == 3 ? SUCCESS : INVALID_HANDLE;
}
int cuMemPoolDestroy(void *pool) { CALL; return SUCCESS; }
int cuMemAllocFromPoolAsync(void **address, size_t bytes, void *pool, void *stream) {
  CALL_IN_CONTEXT;
  return allocate(address, bytes);
}
int cuMemFreeAsync(void *address, void *stream) {
  CALL_IN_CONTEXT;
  submit((struct work){.freed = address});
  return SUCCESS;
}
int cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
  CALL_IN_CONTEXT;
  return allocate(address, bytes);
}
int cuMemHostGetDevicePointer_v2(void **address, void *host, unsigned flags) {
  CALL_IN_CONTEXT;
  *address = host;
  return SUCCESS;
}
int cuMemFreeHost(void *address) { CALL_IN_CONTEXT; free(address); return SUCCESS; }
int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t bytes, void *stream) {
  CALL_IN_CONTEXT;
  complete();
  memcpy(to, from, bytes);
  return SUCCESS;
}
int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t bytes, void *stream) {
  CALL_IN_CONTEXT;
  complete();
  memcpy(to, from, bytes);
  return SUCCESS;
}
int cuMemcpyDtoDAsync_v2(void *to, const void *from, size_t bytes, void *stream) {
  CALL_IN_CONTEXT;
  complete();
  memcpy(to, from, bytes);
  return SUCCESS;
}
int cuMemcpyPeerAsync(void *to, void *context, const void *from, void *of_peer, size_t bytes,
                      void *stream) {
  CALL_IN_CONTEXT;
  if (context != current() || !is_context(of_peer) || !is_here(stream)) return INVALID_HANDLE;
  is_lost[device_of(of_peer)] = is_lost_by_copies[device_of(of_peer)];
  complete();
  memcpy(to, from, bytes);
  return SUCCESS;
}
int cuMemcpyDtoH_v2(void *to, const void *from, size_t bytes) {
  CALL_IN_CONTEXT;
  memcpy(to, from, bytes);
  return SUCCESS;
}
int cuMemcpyHtoD_v2(void *to, const void *from, size_t bytes) {
  CALL_IN_CONTEXT;
  memcpy(to, from, bytes);
  return SUCCESS;
}
int cuMemsetD32Async(uint32_t *address, unsigned value, size_t count, void *stream) {
  CALL_IN_CONTEXT;
  complete();
  for (size_t i = 0; i < count; ++i) address[i] = value;
  return SUCCESS;
}
int cuMemsetD8Async(void *address, unsigned char value, size_t bytes, void *stream) {
  CALL_IN_CONTEXT;
  complete();
  memset(address, value, bytes);
  return SUCCESS;
}

// Modules are their PTX, functions their names. PTX 8 needs CUDA 12. The compiler remarks what the PTX has after
// `//remarks: `.
#define INFO_LOG_BUFFER 3
int cuModuleLoadDataEx(void **module, const char *ptx, unsigned count, const int *options,
                       void **values) {
  CALL_IN_CONTEXT;
  const char *version = strstr(ptx, ".version ");
  if (DRIVER_VERSION < 12000 && version != NULL && strtoul(version + 9, NULL, 10) >= 8)
    return UNSUPPORTED_PTX_VERSION;
  *module = strdup(ptx);
  const char *remarks = strstr(ptx, "//remarks: ");
  for (unsigned i = 0; i < count && remarks != NULL; ++i)
    if (options[i] == INFO_LOG_BUFFER) strcpy(values[i], remarks);
  return SUCCESS;
}
int cuModuleUnload(void *module) { CALL_IN_CONTEXT; free(module); return SUCCESS; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  CALL_IN_CONTEXT;
  *function = strdup(name);
  return SUCCESS;
}
// An array of bytes: `NAME[3] = {116, 105, 108};`.
int cuModuleGetGlobal_v2(void **address, size_t *bytes, const char *module, const char *name) {
  CALL_IN_CONTEXT;
  char declared[256];
  snprintf(declared, sizeof declared, " %s[", name);
  const char *text = strstr(module, declared);
  if (text == NULL) return NOT_FOUND;
  *bytes = strtoul(text + strlen(declared), NULL, 10);
  unsigned char *array = *address = malloc(*bytes);
  text = strchr(text, '{');
  for (size_t i = 0; i < *bytes; ++i) {
    char *end;
    array[i] = strtoul(text + 1, &end, 10);
    text = end;
  }
  return SUCCESS;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) {
  CALL;
  *value = attribute == 0 ? 1024 : 0;
  return SUCCESS;
}
int cuFuncSetAttribute(void *function, int attribute, int value) { CALL; return SUCCESS; }
int cuLaunchKernel(const char *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **parameters, void **extra) {
  CALL_IN_CONTEXT;
  if (strcmp(function, "reduce_sum_u32") != 0) return SUCCESS;
  // Elements, their number; partial sums; ticket; result: each view is an address and a length.
  submit((struct work){
      .elements = *(const uint32_t **)parameters[0],
      .count = *(uint64_t *)parameters[1],
      .sum = *(uint64_t **)parameters[6],
  });
  return SUCCESS;
}
