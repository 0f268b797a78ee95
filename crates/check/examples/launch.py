"""Runs launch files on a GPU, one after the other, by the driver's API, for tools such as compute-sanitizer.

    compute-sanitizer --tool racecheck --error-exitcode 9 python3 launch.py FILE.toml...

It needs NVIDIA's driver and Python alone. It prints the buffers that a file prints, and compares those with expected
numbers; it reads no others, which a kernel may have written in part. Exit code: 0, or 1 for another result, or 2 for
an error of the driver, or 3 for a kernel that has not ended HANG seconds (an environment variable) after its launch.
"""

import ctypes
import os
import pathlib
import struct
import sys
import threading

try:
    import tomllib
except ModuleNotFoundError:  # Before Python 3.11.
    from pip._vendor import tomli as tomllib

FORMATS = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "f16": "e",
           "f32": "f", "f64": "d", "bf16": "H"}
# CUtensorMapDataType and CUtensorMapSwizzle.
TENSOR_TYPES = {"u8": 0, "u16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9}
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
DYNAMIC_SHARED = 8
HANG = float(os.environ.get("HANG", 1e6))


def check(code, what):
    if code:
        print(f"{what}: error {code}")
        sys.exit(2)


class Cuda:
    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuInit", 0)
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *arguments):
        check(getattr(self.library, name)(*arguments), name)

    def allocate(self, size):
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def upload(self, address, data):
        self("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)))

    def download(self, address, size):
        data = ctypes.create_string_buffer(size)
        self("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw


def random_units(count, seed):
    mask = (1 << 64) - 1
    for index in range(count):
        word = (seed + (index + 1) * 0x9E3779B97F4A7C15) & mask
        word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & mask
        word = ((word ^ word >> 27) * 0x94D049BB133111EB) & mask
        yield ((word ^ word >> 31) >> 11) / float(1 << 53)


def encoded(kind, value):
    if kind == "bf16":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return struct.pack("<H", bits + 0x7FFF + (bits >> 16 & 1) >> 16 & 0xFFFF)
    if kind[0] == "f":
        return struct.pack("<" + FORMATS[kind], value)
    size = struct.calcsize(FORMATS[kind])
    return (int(value) & (1 << 8 * size) - 1).to_bytes(size, "little")


def length(buffer):
    return buffer.get("length", len(buffer.get("values", [])))


def contents(buffer):
    """The bytes of a buffer, or none: initcheck takes what is copied there for initialised."""
    kind, count = buffer["type"], length(buffer)
    if "file" in buffer:
        sys.exit("files as contents are not supported here")
    fill = buffer.get("values", buffer.get("fill", "uninitialised"))
    if fill == "uninitialised":
        return None
    if fill == "index":
        values = range(count)
    elif fill == "random":
        low, high = buffer.get("range", (-1.0, 1.0) if "f" in kind else (0, 100))
        values = [low + (high - low) * unit for unit in random_units(count, buffer.get("seed", 0))]
        values = values if "f" in kind else [int(it // 1) for it in values]
    else:
        values = fill if isinstance(fill, list) else [fill] * count
    return b"".join(encoded(kind, it) for it in values)


def tensor_map(cuda, argument, buffers):
    name = argument["tensor_map"]
    address, kind, _ = buffers[name]
    sizes, box = argument["sizes"], argument["box"]
    size, strides = struct.calcsize(FORMATS[kind]), []
    for extent in sizes[:-1]:
        size *= extent
        strides.append(size)
    strides = argument.get("strides", strides)
    rank = len(sizes)
    space = ctypes.create_string_buffer(192)
    start = (ctypes.addressof(space) + 63) // 64 * 64
    cuda("cuTensorMapEncodeTiled", ctypes.c_void_p(start), TENSOR_TYPES[kind], rank, ctypes.c_void_p(address),
         (ctypes.c_uint64 * rank)(*sizes), (ctypes.c_uint64 * max(rank - 1, 1))(*strides),
         (ctypes.c_uint32 * rank)(*box), (ctypes.c_uint32 * rank)(*[1] * rank), 0,
         SWIZZLES[argument.get("swizzle", 0)], 0, 0)
    return ctypes.string_at(start, 128)


def argument_bytes(cuda, argument, buffers):
    """The bytes of an argument; an integer without a type has eight, of which the driver takes the parameter's,
    and a float without one is an f32."""
    if isinstance(argument, str):
        return struct.pack("<Q", buffers[argument][0])
    if isinstance(argument, int):
        return struct.pack("<q", argument)
    if isinstance(argument, float):
        return struct.pack("<f", argument)
    if isinstance(argument, list):
        data = b""
        for field in argument:
            field = argument_bytes(cuda, field, buffers)
            data += b"\0" * (-len(data) % min(len(field), 8)) + field
        return data
    if "buffer" in argument:
        return struct.pack("<Q", buffers[argument["buffer"]][0] + argument.get("offset", 0))
    if "tensor_map" in argument:
        return tensor_map(cuda, argument, buffers)
    return encoded(argument["type"], argument["value"])


def extent(value):
    value = [value] if isinstance(value, int) else value
    return [*value, 1, 1][:3]


def end_of_a_hang():
    """Nothing can stop the kernel but the end of the process."""
    print("hangs", flush=True)
    os._exit(3)


def run(cuda, path):
    """Whether the launch gives what its file expects."""
    launch = tomllib.loads(path.read_text(encoding="utf-8"))
    text = (path.parent / launch["ptx"]).read_bytes() + b"\0"
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    cuda("cuModuleLoadData", ctypes.byref(module), text)
    cuda("cuModuleGetFunction", ctypes.byref(function), module, launch["entry"].encode())
    buffers = {}
    for name, buffer in launch.get("buffers", {}).items():
        data = contents(buffer)
        size = struct.calcsize(FORMATS[buffer["type"]]) * length(buffer)
        buffers[name] = (cuda.allocate(size), buffer["type"], size)
        if data is not None:
            cuda.upload(buffers[name][0], data)
    arguments = [argument_bytes(cuda, it, buffers) for it in launch.get("arguments", [])]
    held = [ctypes.create_string_buffer(it, len(it)) for it in arguments]
    pointers = (ctypes.c_void_p * max(len(held), 1))(*(ctypes.addressof(it) for it in held))
    shared = launch.get("shared", 0)
    if shared > 48 << 10:
        cuda("cuFuncSetAttribute", function, DYNAMIC_SHARED, shared)
    grid, block = extent(launch.get("grid", 1)), extent(launch.get("block", 1))
    name = "cuLaunchCooperativeKernel" if launch.get("cooperative") else "cuLaunchKernel"
    rest = [pointers] if launch.get("cooperative") else [pointers, None]
    watch = threading.Timer(HANG, end_of_a_hang)
    watch.daemon = True
    watch.start()
    # A cluster's size is that of the kernel, `.reqnctapercluster`.
    cuda(name, function, *grid, *block, shared, None, *rest)
    cuda("cuCtxSynchronize")
    watch.cancel()
    is_right = True
    for name, buffer in launch.get("buffers", {}).items():
        address, kind, size = buffers[name]
        if "expect" not in buffer and not buffer.get("print"):
            continue
        found = [it for (it,) in struct.iter_unpack("<" + FORMATS[kind], cuda.download(address, size))]
        expected = buffer.get("expect")
        if expected is not None and not isinstance(expected, str):
            expected = expected * len(found) if isinstance(expected, list) and len(expected) == 1 else expected
            expected = expected if isinstance(expected, list) else [expected] * len(found)
            limit = buffer.get("tolerance", 0)
            pairs = list(zip(found, expected))
            is_right &= all(abs(a - b) <= limit * max(1, abs(b)) for a, b in pairs)
        if buffer.get("print"):
            print(name, *found[:8])
    return is_right


def main():
    cuda = Cuda()
    are_right = [run(cuda, pathlib.Path(path)) for path in sys.argv[1:]]
    return 0 if all(are_right) else 1


if __name__ == "__main__":
    sys.exit(main())
