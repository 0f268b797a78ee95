"""Runs the random programs of this folder on a GPU, and compares their results with those of the executor.

    python3 chains.py [FOLDER] [PROCESSES]

It needs NVIDIA's driver and NumPy. It prints a line for each kernel that differs as soon as it is compared, and sums at
the end; chains_report.txt has the same. The exit code is 0 if all are equal. Of kernels that differ, the first ones'
results are in `differing`. After BUDGET seconds, an environment variable, it ends with what has been compared, and its
last line says with which FIRST, another one, it goes on: the number of the first program that it compares.
"""

import collections
import ctypes
import itertools
import multiprocessing
import os
import re
import sys
import time

import numpy

from gpu import Driver, hashes, read

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
PROCESSES = int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
BUDGET = float(os.environ.get("BUDGET", 1e9))
FIRST = int(os.environ.get("FIRST", 0))
SEPARATOR = "// module\n"
# Of chains.rs.
INPUTS, LENGTH, THREADS = 3, 100, 256
OF_KERNEL = 8 * LENGTH * THREADS
# Kernels that are compiled again without optimisation and whose results are written, and lines of a report.
WRITTEN, SHOWN = 40, 40
DEFAULT_LEVEL, NO_OPTIMISATION = 4, 0
# Seconds between lines that say how far it is.
PROGRESS = 5


class Device:
    """A driver, and the addresses of the inputs and of the outputs of `count` kernels."""

    def __init__(self, count):
        os.environ["CUDA_CACHE_DISABLE"] = "1"
        self.driver = Driver()
        words = read(FOLDER, "inputs.bin")
        self.inputs = self.driver.allocate(len(words))
        self.driver.call("cuMemcpyHtoD_v2", self.inputs, words, ctypes.c_size_t(len(words)))
        self.outputs = self.driver.allocate(OF_KERNEL * count)

    def results(self, text, names, level):
        """What kernels of a module store, one behind the other. The processes share the GPU, so that each wait is
        long: there is one for all."""
        module = self.driver.module(text.encode(), level)
        for number, name in enumerate(names):
            output = ctypes.c_uint64(self.outputs.value + OF_KERNEL * number)
            self.driver.launch(module, name, self.inputs, output, THREADS)
        stored = self.driver.download(self.outputs, OF_KERNEL * len(names))
        self.driver.unload(module)
        return stored


# That of this process.
device = None


def start(count):
    global device
    device = Device(count)


def instruction(text, name, step):
    """The text of an instruction of a kernel: the first line with the register of its result."""
    body = text[text.index(f".entry {name}(") :]
    result = re.compile(rf"%[phrd]{INPUTS + step}\b")
    return next(line.strip() for line in body.split("\n") if result.search(line))


def compare(task):
    """The place of the module, how many kernels it has, and of each that differs: its name, its hashes that the
    executor expects, the first instruction that differs, how many do, the text of the first, and the results."""
    place, text, expected = task
    names = re.findall(r"\.entry (\w+)", text)
    stored = device.results(text, names, DEFAULT_LEVEL)
    found = hashes(stored, THREADS).reshape(-1, LENGTH)
    differing = []
    for index, name in enumerate(names):
        wrong = numpy.flatnonzero(found[index] != expected[index])
        if len(wrong):
            first = int(wrong[0])
            results = stored[OF_KERNEL * index : OF_KERNEL * (index + 1)]
            shown = instruction(text, name, first)
            differing.append((name, expected[index], first, len(wrong), shown, results))
    return place, len(names), differing


def is_equal_without_optimisation(task):
    text, name, expected = task
    stored = device.results(text, [name], NO_OPTIMISATION)
    return bool((hashes(stored, THREADS) == expected).all())


def tasks():
    texts = read(FOLDER, "chains.ptx").decode().split(SEPARATOR)[1:]
    expected = numpy.frombuffer(read(FOLDER, "chains.bin"), dtype=numpy.uint64).reshape(-1, LENGTH)
    place = 0
    for number, text in enumerate(texts):
        count = text.count(".entry ")
        yield number, text, expected[place : place + count]
        place += count


def until(iterator, end):
    """The results of a pool that come before a time."""
    while True:
        try:
            yield iterator.next(max(0.0, end - time.time()))
        except (StopIteration, multiprocessing.TimeoutError):
            return


def sums(seconds, count, all_of_them, differing, plain):
    equal = LENGTH * count - sum(it[3] for it in differing)
    yield f"seconds: {seconds:.1f}"
    compared = f"programs: {LENGTH * count} of {LENGTH * all_of_them} compared, of them equal: {equal}"
    yield f"{compared}, with {THREADS} triples of inputs each"
    yield f"kernels of {LENGTH} programs: {count}, of them equal: {count - len(differing)}"
    yield f"compiled without optimisation, {sum(plain)} of {len(plain)} kernels that differ are equal"
    named = collections.Counter(it[4].split(" ")[0] for it in differing)
    for instruction, times in named.most_common(SHOWN):
        yield f"FIRST {instruction}  in {times} kernels"


def main():
    began = time.time()
    os.makedirs(os.path.join(FOLDER, "differing"), exist_ok=True)
    report = open(os.path.join(FOLDER, "chains_report.txt"), "w", encoding="utf-8")

    def say(line):
        print(line, flush=True)
        print(line, file=report, flush=True)

    modules = list(tasks())
    firsts = [LENGTH * it for it in itertools.accumulate((len(it[2]) for it in modules), initial=0)]
    left = [it for it in modules if firsts[it[0] + 1] > FIRST]
    unfinished = {it[0] for it in left}
    all_of_them = sum(len(expected) for _, _, expected in left)
    most = max(len(expected) for _, _, expected in modules)
    count, differing, places, said = 0, [], {}, began
    # What is left of the time is for the kernels that differ.
    end = began + BUDGET * 0.9
    with multiprocessing.get_context("spawn").Pool(PROCESSES, start, (most,)) as pool:
        for place, of_module, wrong in until(pool.imap_unordered(compare, left), end):
            count += of_module
            unfinished.remove(place)
            for it in wrong:
                name, _, first, number, shown, results = it
                say(f"{name}, instruction {first}, {number} in all: {shown}")
                places[name] = place
                if len(differing) < WRITTEN:
                    with open(os.path.join(FOLDER, "differing", f"{name}.bin"), "wb") as file:
                        file.write(results)
                differing.append(it[:5])
            if time.time() - said > PROGRESS:
                said = time.time()
                print(f"{said - began:.0f} s: {count} kernels", flush=True)
        if count < all_of_them:
            # The other modules are still in the queue.
            pool.terminate()
    plain = []
    if differing:
        start(1)
        for it in differing[:WRITTEN]:
            if time.time() - began < BUDGET:
                plain.append(is_equal_without_optimisation((modules[places[it[0]]][1], it[0], it[1])))
    say(f"device: {(device or Device(1)).driver.name}")
    for line in sums(time.time() - began, count, all_of_them, differing, plain):
        say(line)
    if unfinished:
        say(f"it goes on with FIRST={firsts[min(unfinished)]}")
    return 1 if differing or count != all_of_them else 0


if __name__ == "__main__":
    sys.exit(main())
