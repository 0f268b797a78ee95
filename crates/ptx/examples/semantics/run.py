"""Runs the kernels of this folder on a GPU, and compares their outputs with those of the executor.

    python3 run.py [FOLDER]

It needs NVIDIA's driver and NumPy. report.txt has what it prints; the exit code is 0 if all is equal.
gpu_semantics.txt has what the GPU stores: a test compares it with the executor (`tests/semantics.rs`).
"""

import ctypes
import math
import os
import struct
import sys
import time

from gpu import Driver, hashes, read

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
EXAMPLES = 4
# Results of an approximation that the file has.
ROWS = 48


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
        self.values = self.wrong = 0
        self.worst = 0.0
        self.examples = []

    def distance(self, expected, found):
        """How far the result is off; none if it is wrong whatever the limit is."""
        if self.kind == "units":
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


def report(driver, steps, failed, seconds):
    lines = [f"device: {driver.name}", f"seconds: {seconds:.1f}"]
    wrong = [it for it in steps if it.wrong]
    lines.append(f"instructions: {len(steps)}, of them equal: {len(steps) - len(wrong)}")
    lines.append(f"results: {sum(it.values for it in steps)}, of them wrong: {sum(it.wrong for it in steps)}")
    for name, error in failed:
        lines.append(f"FAILED {name}: {error}")
    for step in sorted(wrong, key=lambda it: -it.wrong):
        lines.append(f"WRONG {step.text}  {step.wrong} of {step.values} ({step.kind})")
        for operands, wanted, stored in step.examples:
            shown = " ".join(f"{it:016x}" for it in operands)
            lines.append(f"    operands {shown}: executor {wanted:016x}, GPU {stored:016x}")
    for step in steps:
        if step.kind != "exact":
            lines.append(f"ERROR {step.text}  at most {step.worst:g} of {step.limits[0]} {step.kind}")
    return lines, bool(wrong or failed)


def line_of(comparison, text, found, its_hash):
    """A line of the file: the comparison, the hash of all results or the first of an approximation, the instruction."""
    if comparison == "exact":
        return f"exact\t{its_hash:016x}\t{text}"
    words = [f"{word:x}" for (word,) in struct.iter_unpack("<Q", found[: 8 * ROWS])]
    return f"{comparison}\t{' '.join(words)}\t{text}"


def write(name, lines):
    text = "\n".join(lines) + "\n"
    with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
        file.write(text)
    return text


def main():
    start = time.time()
    driver = Driver()
    words = read(FOLDER, "inputs.bin")
    inputs = driver.allocate(len(words))
    driver.call("cuMemcpyHtoD_v2", inputs, words, ctypes.c_size_t(len(words)))
    operands = lambda thread: struct.unpack_from("<3Q", words, 24 * thread)
    outputs = read(FOLDER, "outputs.bin")
    place = 0
    steps, failed, golden = [], [], []
    for name, threads, instructions in kernels():
        size = 8 * threads
        expected = outputs[place : place + size * len(instructions)]
        place += len(expected)
        try:
            module = driver.module(read(FOLDER, f"{name}.ptx"))
            found = driver.run(module, name, inputs, threads, len(expected))
            driver.unload(module)
        except RuntimeError as error:
            failed.append((name, error))
            continue
        of_steps = hashes(found, threads)
        for number, (comparison, text) in enumerate(instructions):
            part = slice(size * number, size * (number + 1))
            step = Step(comparison, text)
            step.compare(expected[part], found[part], operands)
            steps.append(step)
            golden.append(line_of(comparison, text, found[part], int(of_steps[number])))
    write("gpu_semantics.txt", [f"# What an {driver.name} stores.", *golden])
    lines, is_wrong = report(driver, steps, failed, time.time() - start)
    print(write("report.txt", lines), end="")
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
