"""Runs the random programs of this folder on a GPU, and compares their results with those of the executor.

    python3 chains.py [FOLDER] [PROCESSES]

It needs NVIDIA's driver and NumPy. chains_report.txt has what it prints; the exit code is 0 if all is equal. Of kernels
that differ, the first ones' results are in `differing`.
"""

import collections
import ctypes
import multiprocessing
import os
import re
import sys
import time

import numpy

from gpu import Driver, hashes, read

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
PROCESSES = int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
SEPARATOR = "// module\n"
# Of chains.rs.
INPUTS, LENGTH, THREADS = 3, 100, 256
# Kernels whose results are written, and lines of a report.
WRITTEN, SHOWN = 40, 40
DEFAULT_LEVEL, NO_OPTIMISATION = 4, 0

# The driver and the address of the inputs, of this process.
device = None


def start():
    global device
    os.environ["CUDA_CACHE_DISABLE"] = "1"
    driver = Driver()
    words = read(FOLDER, "inputs.bin")
    inputs = driver.allocate(len(words))
    driver.call("cuMemcpyHtoD_v2", inputs, words, ctypes.c_size_t(len(words)))
    device = driver, inputs


def results(text, names, level):
    driver, inputs = device
    module = driver.module(text.encode(), level)
    found = [driver.run(module, name, inputs, THREADS, 8 * LENGTH * THREADS) for name in names]
    driver.unload(module)
    return found


def instruction(text, name, step):
    """The text of an instruction of a kernel: the first line with the register of its result."""
    body = text[text.index(f".entry {name}(") :]
    result = re.compile(rf"%[phrd]{INPUTS + step}\b")
    return next(line.strip() for line in body.split("\n") if result.search(line))


def compare(task):
    """Of each kernel of a module that differs: its name, the first instruction that differs, how many do, and whether
    the kernel is equal if it is compiled without optimisation."""
    text, expected = task
    names = re.findall(r"\.entry (\w+)", text)
    found = results(text, names, DEFAULT_LEVEL)
    differing = []
    for index, name in enumerate(names):
        wrong = numpy.flatnonzero(hashes(found[index], THREADS) != expected[index])
        if len(wrong):
            plain = results(text, [name], NO_OPTIMISATION)[0]
            is_equal = bool((hashes(plain, THREADS) == expected[index]).all())
            first = int(wrong[0])
            shown = instruction(text, name, first)
            differing.append((name, first, len(wrong), is_equal, shown, found[index]))
    return len(names), differing


def report(name, seconds, count, differing):
    equal = LENGTH * count - sum(it[2] for it in differing)
    plain = sum(it[3] for it in differing)
    yield f"device: {name}"
    yield f"seconds: {seconds:.1f}"
    yield f"programs: {LENGTH * count}, of them equal: {equal}, with {THREADS} triples of inputs each"
    yield f"kernels of {LENGTH} programs: {count}, of them equal: {count - len(differing)}"
    yield f"kernels that are equal only if they are compiled without optimisation: {plain}"
    named = collections.Counter(it[4].split(" ")[0] for it in differing)
    for instruction, times in named.most_common(SHOWN):
        yield f"FIRST {instruction}  in {times} kernels"
    for kernel, first, wrong, is_equal, shown, _ in differing[:SHOWN]:
        without = "equal" if is_equal else "differs"
        yield f"{kernel}, instruction {first}, {wrong} in all, without optimisation {without}: {shown}"


def main():
    began = time.time()
    texts = read(FOLDER, "chains.ptx").decode().split(SEPARATOR)[1:]
    expected = numpy.frombuffer(read(FOLDER, "chains.bin"), dtype=numpy.uint64).reshape(-1, LENGTH)
    tasks, place = [], 0
    for text in texts:
        count = text.count(".entry ")
        tasks.append((text, expected[place : place + count]))
        place += count
    with multiprocessing.get_context("spawn").Pool(PROCESSES, start) as pool:
        compared = list(pool.imap_unordered(compare, tasks, 4))
    differing = sorted((it for _, of_module in compared for it in of_module), key=lambda it: it[0])
    os.makedirs(os.path.join(FOLDER, "differing"), exist_ok=True)
    for name, *_, found in differing[:WRITTEN]:
        with open(os.path.join(FOLDER, "differing", f"{name}.bin"), "wb") as file:
            file.write(found)
    count = sum(it for it, _ in compared)
    text = "\n".join(report(Driver().name, time.time() - began, count, differing)) + "\n"
    with open(os.path.join(FOLDER, "chains_report.txt"), "w", encoding="utf-8") as file:
        file.write(text)
    print(text, end="")
    return 1 if differing or count != len(expected) else 0


if __name__ == "__main__":
    sys.exit(main())
