"""What the package asks of libraries, and what libraries get."""

import os
import subprocess
import sys
import threading
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import tilewright
from tilewright._libraries import Torch


class Foreign:
    """An array of a library that the package does not know, around one of numpy."""

    def __init__(self, array, old=False):
        self.array = array
        self.shape = array.shape
        self.old = old
        self.asked = []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, stream=None, **new):
        if self.old and new:
            raise TypeError("__dlpack__() got an unexpected keyword argument")
        self.asked.append((stream, new))
        return self.array.__dlpack__(stream=stream, **new)


@pytest.mark.parametrize("old", [False, True])
def test_results_for_other_libraries_are_arrays_that_share_memory(old):
    a = np.arange(6, dtype="float32").reshape(2, 3)
    theirs = Foreign(a, old)
    found = tilewright.matmul(theirs, Foreign(np.ascontiguousarray(a.T)))
    assert isinstance(found, tilewright.Array)
    assert (found.shape, found.dtype, found.__dlpack_device__()) == ((2, 2), "float32", (1, 0))
    assert repr(found) == "<tilewright.Array of shape [2, 2], float32, host memory>"
    assert theirs.asked[-1][0] is None, "arrays in host memory have no stream"
    view = np.from_dlpack(found)
    np.testing.assert_array_equal(view, a @ a.T)
    np.from_dlpack(found)[0, 0] = -1
    assert view[0, 0] == -1
    del found
    assert view[1, 1] == 50
    total = tilewright.sum(Foreign(a, old))
    assert (total.shape, np.from_dlpack(total)) == ((), 15)


def test_an_array_is_an_operand():
    a = np.arange(6, dtype="float32").reshape(2, 3)
    product = tilewright.matmul(Foreign(a), Foreign(a.T))
    assert np.from_dlpack(tilewright.sum(product, axis=0)).tolist() == (a @ a.T).sum(0).tolist()


def test_what_an_array_refuses():
    array = tilewright.sum(Foreign(np.ones(3, "float32")))
    with pytest.raises(BufferError, match="not copied"):
        array.__dlpack__(copy=True)
    with pytest.raises(BufferError, match="not copied"):
        array.__dlpack__(dl_device=(2, 0))
    with pytest.raises(tilewright.Error, match="host memory has no stream"):
        array.__dlpack__(stream=1)
    assert "dltensor_versioned" in repr(array.__dlpack__(max_version=(1, 0)))
    assert "dltensor_versioned" not in repr(array.__dlpack__())


def test_memory_is_given_back_once():
    """Also after an error, and if nobody takes the capsule."""
    x = np.ones((4, 4), "float32")
    before = sys.getrefcount(x)
    for _ in range(10):
        tilewright.matmul(x, x)
        tilewright.sum(x, 0)
        with pytest.raises(ValueError):
            tilewright.matmul(x, x[:2])
        with pytest.raises(ValueError):
            tilewright.matmul(x, x, x)
    assert sys.getrefcount(x) == before
    array = tilewright.sum(Foreign(x))
    array.__dlpack__()


def test_other_threads_run_during_a_call():
    """A thread counts while the simulator multiplies, which it could not if the call kept the interpreter."""
    count, stop, ready = 0, threading.Event(), threading.Event()

    def work():
        nonlocal count
        while not stop.is_set():
            count += 1
            ready.set()
            # It gives the interpreter back by itself: nothing interrupts it.
            time.sleep(1e-4)

    thread = threading.Thread(target=work)
    interval = sys.getswitchinterval()
    # Without a release, this thread keeps the interpreter for the whole call.
    sys.setswitchinterval(60)
    try:
        thread.start()
        ready.wait()
        before = count
        a = np.ones((96, 96), "float32")
        tilewright.matmul(a, a)
        assert count > before
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join()


def test_threads_share_the_device():
    x = np.arange(1000, dtype="float32")
    results = []
    threads = [threading.Thread(target=lambda: results.append(tilewright.sum(x))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [x.sum()] * 8


def test_the_simulator_is_warned_of():
    program = """
import os, warnings
import numpy, tilewright
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        tilewright.sum(numpy.ones(3, "float32"))
simulated = tilewright.device_name() == "simulator"
assert len(caught) == (simulated and "TILEWRIGHT_DEVICE" not in os.environ), caught
for warning in caught:
    assert warning.category is tilewright.SimulatorWarning and warning.filename == "<string>", warning
"""

    environment = {name: value for name, value in os.environ.items() if name != "TILEWRIGHT_DEVICE"}
    for chosen in ({}, {"TILEWRIGHT_DEVICE": "sim"}):
        subprocess.run([sys.executable, "-c", program], env=environment | chosen, check=True)


def test_a_device_that_is_not_there_is_an_error():

    program = "import numpy, tilewright; tilewright.sum(numpy.ones(3))"
    result = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"TILEWRIGHT_DEVICE": "gpu"}, capture_output=True, text=True
    )
    assert "tilewright._errors.InvalidValueError" in result.stderr and "TILEWRIGHT_DEVICE" in result.stderr


class Elsewhere(Foreign):
    """An array that says that it is on another device."""

    def __init__(self, array, device):
        super().__init__(array)
        self.device = device

    def __dlpack_device__(self):
        return self.device


def test_arrays_on_other_devices_are_refused():
    x = np.ones((3, 3), "float32")
    with pytest.raises(ValueError, match="on a device of DLPack type 10"):
        tilewright.sum(Elsewhere(x, (10, 0)))
    with pytest.raises(ValueError, match="different devices: the CPU and cuda:1; move them to one"):
        tilewright.matmul(x, Elsewhere(x, (2, 1)))


def test_the_hierarchy_of_errors():
    assert issubclass(tilewright.LayoutError, tilewright.InvalidValueError)
    for error, base in [
        (tilewright.InvalidValueError, ValueError),
        (tilewright.ElementTypeError, TypeError),
        (tilewright.DeviceError, RuntimeError),
    ]:
        assert issubclass(error, tilewright.Error) and issubclass(error, base)
    assert issubclass(tilewright.SimulatorWarning, Warning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tilewright.sum(np.ones(3, "float32"))


class Negated:
    """A tensor as torch has them, whose elements are negated when they are read."""

    def is_neg(self):
        return True

    def resolve_neg(self):
        raise AssertionError("a copy, in which nothing finds what is written")


def test_a_view_that_is_negated_when_it_is_read_cannot_be_written():
    with pytest.raises(ValueError, match="cannot be written"):
        Torch(SimpleNamespace(_C=None)).writable(Negated())


def test_torch_is_told_what_was_written():
    told = []
    graph = SimpleNamespace(increment_version=told.append)
    torch = SimpleNamespace(_C=None, autograd=SimpleNamespace(graph=graph))
    out = SimpleNamespace(is_inference=lambda: False)
    Torch(torch).written(out)
    assert told == [out]
    Torch(torch).written(SimpleNamespace(is_inference=lambda: True))
    old = SimpleNamespace(_C=None, autograd=SimpleNamespace(graph=SimpleNamespace()))
    Torch(old).written(out)
    assert told == [out]


class Nameless:
    """An array of which nothing is known but the protocol."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)


def test_an_operand_without_a_shape_leaves_the_result_to_the_library_of_the_other():
    a = np.arange(6, dtype="float32").reshape(2, 3)
    found = tilewright.matmul(a, Nameless(np.ascontiguousarray(a.T)))
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, a @ a.T)


def test_layouts_that_the_protocol_cannot_describe_are_copied():
    fields = np.zeros(5, [("x", "f4"), ("y", "u1")])
    fields["x"] = range(5)
    unaligned = np.frombuffer(b"\0" + np.arange(5, dtype="f4").tobytes(), dtype="f4", offset=1)
    for x in (fields["x"], unaligned, np.arange(5, dtype=">f4")):
        assert tilewright.sum(x) == 10
        out = np.empty_like(x) if x.dtype.byteorder == ">" else fields["x"][:2]
        with pytest.raises(tilewright.LayoutError, match="out is not aligned"):
            tilewright.sum(np.ones((2, 3), "f4"), axis=1, out=out[:2])


def test_axes_are_integers():
    x = np.ones((2, 3), "f4")
    assert list(tilewright.sum(x, axis=np.int64(-1))) == [3, 3]
    for axis in (2, -3, 2**70, -(2**70)):
        with pytest.raises(tilewright.InvalidValueError, match="axis"):
            tilewright.sum(x, axis=axis)
    for axis in (1.0, "0", (0, 1)):
        with pytest.raises(TypeError):
            tilewright.sum(x, axis=axis)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_a_forked_child_computes_while_a_thread_of_its_parent_does():
    program = """
import os, signal, threading, time
import numpy as np
import tilewright
x = np.ones(1 << 18, "f4")
is_over = False
def work():
    while not is_over:
        tilewright.sum(x)
thread = threading.Thread(target=work)
thread.start()
time.sleep(0.2)
results = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if tilewright.sum(x[:1000]) == 1000 else 1)
    results.append(os.waitpid(child, 0)[1])
is_over = True
thread.join()
assert results == [0] * 4, results
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=300)
