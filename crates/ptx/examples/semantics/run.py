"""Runs the kernels of this folder on a GPU, and compares their outputs with those of the executor.

    python3 run.py [FOLDER]

It needs NVIDIA's driver and Python alone. report.txt has what it prints; the exit code is 0 if all is equal.
"""

import ctypes
import math
import os
import struct
import sys
import time

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
EXAMPLES = 4
BLOCK = 256
LOG_BYTES = 4096
ERROR_LOG_BUFFER, ERROR_LOG_BYTES = 5, 6


class Driver:
    """CUDA's driver API, as far as it is needed."""

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

    def function(self, path, name):
        with open(path, "rb") as file:
            text = file.read() + b"\0"
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        log = ctypes.create_string_buffer(LOG_BYTES)
        options = (ctypes.c_int * 2)(ERROR_LOG_BUFFER, ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), LOG_BYTES)
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), text, 2, options, values)
        except RuntimeError as error:
            raise RuntimeError(f"{error}: {log.value.decode(errors='replace')}") from None
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return module, function

    def run(self, path, name, inputs, threads, size):
        """The bytes that a kernel stores."""
        module, function = self.function(path, name)
        output = self.allocate(size)
        self.call("cuMemsetD8_v2", output, ctypes.c_ubyte(0), ctypes.c_size_t(size))
        count = ctypes.c_uint32(threads)
        arguments = (ctypes.c_void_p * 3)(
            *(ctypes.cast(ctypes.byref(it), ctypes.c_void_p) for it in (inputs, output, count))
        )
        blocks = (threads + BLOCK - 1) // BLOCK
        block = min(threads, BLOCK)
        self.call("cuLaunchKernel", function, blocks, 1, 1, block, 1, 1, 0, None, arguments, None)
        self.call("cuCtxSynchronize")
        stored = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", stored, output, ctypes.c_size_t(size))
        self.call("cuMemFree_v2", output)
        self.call("cuModuleUnload", module)
        return stored.raw


# Exponent bits and fraction bits.
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def lanes(word, of):
    """The numbers of a word, and their format."""
    if of.endswith("x2"):
        return [word & 0xFFFF, word >> 16 & 0xFFFF], FORMATS[of[:-2]]
    return [word], FORMATS.get(of, (8, 23))


def is_nan(bits, form):
    exponent, fraction = form
    return bits & ((1 << exponent + fraction) - 1) > ((1 << exponent) - 1) << fraction


def rank(bits, form):
    """The place of a number among all of its format."""
    sign = 1 << sum(form)
    return -(bits & ~sign) if bits & sign else bits


def units(word, other, of):
    """The distance of two floats in units in the last place; none if one is NaN."""
    worst = 0
    (left, form), (right, _) = lanes(word, of), lanes(other, of)
    for a, b in zip(left, right):
        if is_nan(a, form) != is_nan(b, form):
            return None
        if not is_nan(a, form):
            worst = max(worst, abs(rank(a, form) - rank(b, form)))
    return worst


def single(word):
    return struct.unpack("<f", struct.pack("<I", word & 0xFFFFFFFF))[0]


class Step:
    """One instruction, with what was seen of it."""

    def __init__(self, comparison, text):
        self.kind, *self.limits = comparison.split(" ")
        self.text = text
        self.values = self.wrong = self.payloads = 0
        self.worst = 0.0
        self.examples = []
        self.payload_example = None

    def distance(self, expected, found):
        """How far the result is off; none if it is wrong whatever the limit is."""
        if self.kind == "units":
            return units(expected, found, "f32")
        if self.kind == "half":
            return units(expected, found, self.limits[1])
        if self.kind == "upper":
            if is_nan(expected, FORMATS["f64"]) or is_nan(found, FORMATS["f64"]):
                return 0 if units(expected, found, "f64") is not None else None
            return abs((expected >> 32) - (found >> 32))
        if self.kind in ("absolute", "relative"):
            a, b = single(expected), single(found)
            if math.isnan(a) or math.isnan(b):
                return 0 if math.isnan(a) and math.isnan(b) else None
            scale = max(1.0, abs(a)) if self.kind == "relative" else 1.0
            return 0 if a == b else abs(a - b) / scale
        return None

    def is_near(self, expected, found):
        if self.kind == "exact":
            return False
        if self.kind == "nan":
            (left, form), (right, _) = lanes(expected, self.limits[0]), lanes(found, self.limits[0])
            pairs = list(zip(left, right))
            is_same = all(a == b or (is_nan(a, form) and is_nan(b, form)) for a, b in pairs)
            if is_same:
                self.payloads += 1
                self.payload_example = self.payload_example or (expected, found)
            return is_same
        distance = self.distance(expected, found)
        if distance is None:
            return False
        self.worst = max(self.worst, distance)
        return distance <= float(self.limits[0])

    def compare(self, expected, found, operands):
        self.values += len(expected) // 8
        if expected == found:
            return True
        is_equal = True
        pairs = zip(struct.iter_unpack("<Q", expected), struct.iter_unpack("<Q", found))
        for thread, ((wanted,), (stored,)) in enumerate(pairs):
            if wanted == stored or self.is_near(wanted, stored):
                continue
            is_equal = False
            self.wrong += 1
            if len(self.examples) < EXAMPLES:
                self.examples.append((operands(thread), wanted, stored))
        return is_equal


def kernels():
    found = []
    with open(os.path.join(FOLDER, "kernels.txt"), encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if fields[0] == "kernel":
                found.append((fields[1], int(fields[2]), []))
            else:
                found[-1][2].append((fields[1], fields[2]))
    return found


def expected_outputs():
    packed = os.path.join(FOLDER, "outputs.bin.xz")
    if os.path.exists(packed):
        import lzma  # Not every Python has it: `xz -dk outputs.bin.xz` makes the file below.

        with lzma.open(packed) as file:
            return file.read()
    with open(os.path.join(FOLDER, "outputs.bin"), "rb") as file:
        return file.read()


def report(driver, seen, chains, failed, seconds):
    lines = [f"device: {driver.name}", f"seconds: {seconds:.1f}"]
    steps = list(seen.values())
    wrong = [it for it in steps if it.wrong]
    lines.append(f"instructions: {len(steps)}, of them equal: {len(steps) - len(wrong)}")
    lines.append(f"results: {sum(it.values for it in steps)}, of them wrong: {sum(it.wrong for it in steps)}")
    lines.append(f"chains: {len(chains)}, of them equal: {sum(it is None for it in chains)}")
    for name, error in failed:
        lines.append(f"FAILED {name}: {error}")
    for step in sorted(wrong, key=lambda it: -it.wrong):
        lines.append(f"WRONG {step.text}  {step.wrong} of {step.values} ({step.kind})")
        for operands, wanted, stored in step.examples:
            shown = " ".join(f"{it:016x}" for it in operands)
            lines.append(f"    operands {shown}: executor {wanted:016x}, GPU {stored:016x}")
    counts = {}
    for chain in chains:
        if chain is not None:
            name, number, step = chain
            counts.setdefault(step.text, []).append((name, number, step))
    for text, them in sorted(counts.items(), key=lambda it: -len(it[1])):
        name, number, step = them[0]
        _, wanted, stored = step.examples[0]
        lines.append(f"CHAIN {text}  first to differ in {len(them)} chains")
        lines.append(f"    {name}, instruction {number}: executor {wanted:016x}, GPU {stored:016x}")
    for step in steps:
        if step.payloads:
            wanted, stored = step.payload_example
            lines.append(
                f"NAN {step.text}  {step.payloads} NaN with other bits: executor {wanted:016x}, GPU {stored:016x}"
            )
    for step in steps:
        if step.kind not in ("exact", "nan"):
            lines.append(f"ERROR {step.text}  at most {step.worst:g} of {step.limits[0]} {step.kind}")
    return lines, bool(wrong or failed or any(it is not None for it in chains))


def main():
    start = time.time()
    driver = Driver()
    with open(os.path.join(FOLDER, "inputs.bin"), "rb") as file:
        words = file.read()
    inputs = driver.allocate(len(words))
    driver.call("cuMemcpyHtoD_v2", inputs, words, ctypes.c_size_t(len(words)))
    operands = lambda thread: struct.unpack_from("<3Q", words, 24 * thread)
    outputs = expected_outputs()
    place = 0
    seen, chains, failed = {}, [], []
    for name, threads, instructions in kernels():
        size = 8 * threads
        expected = outputs[place : place + size * len(instructions)]
        place += len(expected)
        try:
            path = os.path.join(FOLDER, f"{name}.ptx")
            found = driver.run(path, name, inputs, threads, len(expected))
        except RuntimeError as error:
            failed.append((name, error))
            continue
        is_chain, first = name.startswith("chain"), None
        for number, (comparison, text) in enumerate(instructions):
            part = slice(size * number, size * (number + 1))
            step = Step(comparison, text)
            if not is_chain:
                seen[text] = step
            is_equal = step.compare(expected[part], found[part], operands)
            if is_chain and not is_equal:
                # What comes behind may use the wrong result.
                first = (name, number, step)
                break
            if is_chain and step.payloads:
                break
        if is_chain:
            chains.append(first)
    lines, is_wrong = report(driver, seen, chains, failed, time.time() - start)
    text = "\n".join(lines) + "\n"
    with open(os.path.join(FOLDER, "report.txt"), "w", encoding="utf-8") as file:
        file.write(text)
    print(text, end="")
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
