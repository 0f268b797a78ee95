"""CUDA's driver API, as far as `run.py` and `chains.py` need it."""

import ctypes
import gzip
import os

import numpy

BLOCK = 256
LOG_BYTES = 4096
ERROR_LOG_BUFFER, ERROR_LOG_BYTES, OPTIMISATION_LEVEL = 5, 6, 7


def read(folder, name):
    """The bytes of a file, which may be compressed."""
    path = os.path.join(folder, name)
    if os.path.exists(path):
        with open(path, "rb") as file:
            return file.read()
    with gzip.open(f"{path}.gz") as file:
        return file.read()


class Driver:
    """A context of the first device."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context, version = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuDriverGetVersion", ctypes.byref(version))
        name = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", name, 100, device)
        self.name = f"{name.value.decode()}, driver API {version.value}"

    def call(self, function, *arguments):
        code = getattr(self.cuda, function)(*arguments)
        if code:
            raise RuntimeError(f"{function}: error {code}")

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def module(self, text, level=4):
        """The module of a text of PTX in bytes, compiled with this level of optimisation."""
        module = ctypes.c_void_p()
        log = ctypes.create_string_buffer(LOG_BYTES)
        options = (ctypes.c_int * 3)(ERROR_LOG_BUFFER, ERROR_LOG_BYTES, OPTIMISATION_LEVEL)
        values = (ctypes.c_void_p * 3)(ctypes.cast(log, ctypes.c_void_p), LOG_BYTES, level)
        try:
            text += b"\0"
            self.call("cuModuleLoadDataEx", ctypes.byref(module), text, 3, options, values)
        except RuntimeError as error:
            raise RuntimeError(f"{error}: {log.value.decode(errors='replace')}") from None
        return module

    def unload(self, module):
        self.call("cuModuleUnload", module)

    def launch(self, module, name, inputs, output, threads):
        """Starts a kernel that stores from the address `output` on."""
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        count = ctypes.c_uint32(threads)
        arguments = (ctypes.c_void_p * 3)(
            *(ctypes.cast(ctypes.byref(it), ctypes.c_void_p) for it in (inputs, output, count))
        )
        blocks = (threads + BLOCK - 1) // BLOCK
        block = min(threads, BLOCK)
        self.call("cuLaunchKernel", function, blocks, 1, 1, block, 1, 1, 0, None, arguments, None)

    def download(self, address, size):
        stored = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", stored, address, ctypes.c_size_t(size))
        return stored.raw

    def run(self, module, name, inputs, threads, size):
        """The bytes that a kernel stores."""
        output = self.allocate(size)
        self.call("cuMemsetD8_v2", output, ctypes.c_ubyte(0), ctypes.c_size_t(size))
        self.launch(module, name, inputs, output, threads)
        stored = self.download(output, size)
        self.call("cuMemFree_v2", output)
        return stored


def mixed(words):
    """SplitMix64's function of its counter."""
    shift = numpy.uint64
    words = (words ^ (words >> shift(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> shift(27))) * numpy.uint64(0x94D049BB133111EB)
    return words ^ (words >> shift(31))


def hashes(stored, threads):
    """For each instruction the hash of its results, as hash.rs computes it."""
    words = numpy.frombuffer(stored, dtype=numpy.uint64).reshape(-1, threads)
    indices = numpy.arange(1, threads + 1, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
    return mixed(words ^ indices).sum(axis=1, dtype=numpy.uint64)
