// The driver of `tests/calls`, whose streams and events are told apart: it records what is submitted to which stream.

// A word of the trace, such as `S1.waits(E2)`: streams and events are numbered from 1.
static void trace(const char *format, ...) {
  char word[64];
  va_list values;
  va_start(values, format);
  vsnprintf(word, sizeof word, format, values);
  va_end(values);
  record(word);
}
static int number(const void *handle) { return ((uintptr_t)handle >> 12) & 0xff; }
static void *handle(int kind, int number) { return (void *)(uintptr_t)(kind << 20 | number << 12); }

int cuCtxSetCurrent(void *context) {
  if (depth == 0) depth = 1;
  contexts[depth - 1] = context;
  return SUCCESS;
}
int cuCtxGetDevice(int *device) { *device = device_of(current()); return SUCCESS; }
int cuCtxSynchronize(void) { complete(); return SUCCESS; }

static int new_stream(void **stream) {
  static int streams;
  *stream = handle(1, ++streams);
  return SUCCESS;
}
int cuStreamCreate(void **stream, unsigned flags) { return new_stream(stream); }
int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  return new_stream(stream);
}
int cuStreamDestroy_v2(void *stream) { trace("S%d.is_destroyed", number(stream)); return SUCCESS; }
int cuEventCreate(void **event, unsigned flags) {
  static int events;
  *event = handle(2, ++events);
  return SUCCESS;
}
int cuEventRecord(void *event, void *stream) {
  trace("S%d.records(E%d)", number(stream), number(event));
  return SUCCESS;
}
int cuEventSynchronize(void *event) { complete(); return SUCCESS; }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  trace("S%d.waits(E%d)", number(stream), number(event));
  return SUCCESS;
}
int cuMemAllocAsync(void **address, size_t bytes, void *stream) {
  return cuMemAllocFromPoolAsync(address, bytes, NULL, stream);
}
int cuMemFreeAsync(void *address, void *stream) {
  trace("S%d.frees", number(stream));
  return freed_once(address, stream);
}
int cuMemsetD8Async(void *address, unsigned char value, size_t bytes, void *stream) {
  trace("S%d.fills", number(stream));
  return filled(address, value, bytes, stream);
}
int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t bytes, void *stream) {
  trace("S%d.writes", number(stream));
  return written(to, from, bytes, stream);
}
int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t bytes, void *stream) {
  trace("S%d.reads", number(stream));
  return read_back(to, from, bytes, stream);
}
int cuLaunchKernel(const char *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **parameters, void **extra) {
  trace("S%d.launches", number(stream));
  return launched(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream,
                  parameters, extra);
}

// Graphs: nothing is recorded, and launches do nothing.
int cuStreamBeginCapture_v2(void *stream, int mode) {
  trace("S%d.begins", number(stream));
  return SUCCESS;
}
int cuStreamEndCapture(void *stream, void **graph) {
  trace("S%d.ends", number(stream));
  *graph = handle(3, 1);
  return SUCCESS;
}
int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags) {
  *executable = graph;
  return SUCCESS;
}
int cuGraphDestroy(void *graph) { return SUCCESS; }
int cuGraphExecDestroy(void *executable) { return SUCCESS; }
int cuGraphLaunch(void *executable, void *stream) {
  trace("S%d.runs", number(stream));
  return SUCCESS;
}
