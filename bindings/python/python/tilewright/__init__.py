"""Reproducible sums and accurate matrix products of DLPack tensors on NVIDIA GPUs.

Functions take arrays of any library with ``__dlpack__`` and ``__dlpack_device__``, such as numpy, torch, jax and cupy,
without a copy. Results are arrays of the same library for numpy and torch, and of class `Array` for others.

On a CUDA device, calls on tensors of torch work in torch's current stream and do not wait. Calls on other arrays work
in a stream of their own and return when their work is done.

Arrays in host memory are computed with on the device that the environment variable ``TILEWRIGHT_DEVICE`` names:
``sim``, ``cuda``, ``cuda:N`` or a UUID. Without the variable, it is the first GPU, or else the simulator, which is for
tests: it is thousands of times slower, and the first call warns of it.
"""

import functools
import operator
import os
import sys
import warnings
from importlib.metadata import version

from . import _native
from ._errors import (
    DeviceError,
    ElementTypeError,
    Error,
    InvalidValueError,
    LayoutError,
    SimulatorWarning,
)
from ._libraries import library_of
from ._native import Array, device_name

__all__ = [
    "Array",
    "DeviceError",
    "ElementTypeError",
    "Error",
    "InvalidValueError",
    "LayoutError",
    "SimulatorWarning",
    "device_name",
    "matmul",
    "reduce",
    "sum",
]
__version__ = version("tilewright")

_product_type = functools.cache(_native.product_type)


@functools.cache
def _reduced_type(op):
    """The function that says the name of a reduction's type: one for each operation, so that libraries can keep it."""
    return functools.cache(functools.partial(_native.reduced_type, op))


def matmul(a, b, out=None, bias=None, activation=None, scale=1.0, row_scale=None, column_scale=None):
    """Multiply two matrices by the fastest kernel that meets the accuracy guarantee of their type.

    The result is ``activation(scale * row_scale[:, None] * column_scale * (a @ b) + bias)``, computed in one kernel.

    Parameters
    ----------
    a : array of shape (m, k)
        The left operand, of float32, float64, float16, bfloat16, int8, float8_e4m3fn or float8_e5m2.
    b : array of shape (k, n)
        The right operand, of the same type and on the same device.
    out : array of shape (m, n), optional
        Where the result is written. It shares no memory with an operand. Its type is that of a new result, or float32
        for operands of 16 and 8 bits; products of int8 may also be written as float16 and bfloat16.
    bias : array of shape (n,), optional
        Added to each row. It is of float64 for operands of float64, and of float32 for others.
    activation : {"relu", "gelu", "gelu_tanh", "silu"}, optional
        Applied last.
    scale : float, optional
        The factor of the product.
    row_scale : array of shape (m,), optional
        The factors of rows, of the type of `bias`.
    column_scale : array of shape (n,), optional
        The factors of columns, of the type of `bias`.

    Returns
    -------
    array of shape (m, n)
        `out`, or a new array of the operands' type; of int32 for int8, and of bfloat16 for 8-bit floats.

    Raises
    ------
    InvalidValueError
        If shapes or devices do not fit together, or `out` is read-only or shares memory with an operand.
    ElementTypeError
        If no kernel takes the types.
    DeviceError
        If the device, its driver or the simulator fails.

    Notes
    -----
    Products of float32 are never rounded to TF32. Operands may be transposes and parts of matrices; those without
    contiguous rows or columns are copied for numpy and torch. Products of int8 with scales, bias or activation need an
    `out` of floats.

    Examples
    --------
    >>> import numpy as np
    >>> import tilewright
    >>> a = np.array([[1, 2], [3, 4]], dtype=np.float32)
    >>> tilewright.matmul(a, a.T, bias=np.array([-5, 0], dtype=np.float32), activation="relu")
    array([[ 0., 11.],
           [ 6., 25.]], dtype=float32)
    """
    library = library_of(a)
    vectors = [None if vector is None else _ready(vector) for vector in (bias, row_scale, column_scale)]
    if not hasattr(b, "shape"):
        b = library.imported(b)
    a, b = _ready(a), _ready(b)
    result = _writable(out)
    if result is None and _dimensions(a) == _dimensions(b) == 2:
        result = library.empty(a, (a.shape[0], b.shape[1]), _product_type)
    stream = library.stream(a)

    def call(a, b, bias, row_scale, column_scale):
        return _native.matmul(a, b, result, bias, activation, scale, row_scale, column_scale, stream)

    written = _with_copies(call, [a, b, *vectors])
    return _given(library, out, written)


def reduce(x, op, axis=None, out=None):
    """Reduce an array to one value, or an axis of it to one value for each line.

    Parameters
    ----------
    x : array
        The elements, of float32, float64, float16, bfloat16, int32, uint32, int64 or uint64; of uint8 or bool for
        ``"count"``, ``"any"`` and ``"all"``.
    op : str
        ``"sum"``, ``"product"``, ``"mean"``, ``"min"``, ``"max"``, ``"argmin"``, ``"argmax"``; for floats also
        ``"sum_of_squares"``, ``"norm1"``, ``"norm2"``, ``"norm_inf"`` and ``"variance"``.
    axis : int, optional
        The axis along which to reduce, from the end if negative. All elements if not given.
    out : array, optional
        Where the result is written: contiguous, of the shape and type of a new result.

    Returns
    -------
    array or numpy scalar
        `out`, or a new array of the shape of `x` without the axis. Sums and products of 32-bit integers are of 64 bits;
        those of float16 and bfloat16, and their means and norms, of float32; means of integers of float64; indices and
        counts of uint64.

    Raises
    ------
    InvalidValueError
        If there is no such operation or axis, or if there are no elements and the operation needs one.
    ElementTypeError
        If the operation has no kernel for the elements.
    DeviceError
        If the device, its driver or the simulator fails.

    Notes
    -----
    The order of every addition is fixed by the shape and the type, so the same elements give the same bits in every run
    and on every device. An axis between others takes one launch for each index of the axes before it. Arrays of numpy
    and torch whose layout no kernel takes are copied.

    Examples
    --------
    >>> import numpy as np
    >>> import tilewright
    >>> tilewright.reduce(np.array([3, -4], dtype=np.float32), "norm2")
    np.float32(5.0)
    >>> tilewright.reduce(np.array([[1, 5, 2], [7, 3, 4]]), "argmax", axis=1)
    array([1, 0], dtype=uint64)
    """
    library = library_of(x)
    if axis is not None:
        # No array has more dimensions than a byte counts.
        axis = max(-256, min(operator.index(axis), 255))
    x = _ready(x)
    result = _writable(out)
    if result is None:
        shape = _without_axis(getattr(x, "shape", ()), axis)
        result = library.empty(x, shape, _reduced_type(op)) if shape is not None else None
    stream = library.stream(x)
    written = _with_copies(lambda x: _native.reduce(x, op, axis, result, stream), [x])
    return _given(library, out, written)


def sum(x, axis=None, out=None):
    """Sum an array, or an axis of it: `reduce` with ``"sum"``.

    Parameters
    ----------
    x : array
        The elements.
    axis : int, optional
        The axis along which to sum. All elements if not given.
    out : array, optional
        Where the result is written.

    Returns
    -------
    array or numpy scalar
        `out`, or a new array of the shape of `x` without the axis.

    Examples
    --------
    >>> import numpy as np
    >>> import tilewright
    >>> tilewright.sum(np.arange(6, dtype=np.float32).reshape(2, 3), axis=0)
    array([3., 5., 7.], dtype=float32)
    """
    return reduce(x, "sum", axis, out)


def _ready(x):
    library = library_of(x)
    if library.is_on_host(x):
        _warn_of_simulator()
    return library.ready(x)


def _writable(out):
    """Room for a result that the caller has, if any."""
    if out is None:
        return None
    if type(out).__module__.partition(".")[0] in ("jax", "jaxlib"):
        # They do not say so in the protocol.
        raise InvalidValueError("arrays of jax are immutable, so out cannot be one")
    library = library_of(out)
    if library.is_on_host(out):
        _warn_of_simulator()
    return library.writable(out)


def _given(library, out, written):
    """What a call returns that wrote `written`: the caller's `out` if there is one."""
    if out is None:
        return library.finished(written)
    library_of(out).written(out)
    return out


@functools.cache
def _warn_of_simulator():
    if os.environ.get("TILEWRIGHT_DEVICE") is None and _native.is_simulator():
        warnings.warn(
            "there is no GPU, so the simulator computes, which is for tests and thousands of times slower; "
            "TILEWRIGHT_DEVICE=sim chooses it without this warning",
            SimulatorWarning,
            stacklevel=_frames_here(),
        )


def _frames_here():
    """How many calls ago the package was called."""
    count, frame = 0, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        count, frame = count + 1, frame.f_back
    return count


def _dimensions(x):
    return len(getattr(x, "shape", ()))


def _without_axis(shape, axis):
    """The shape of a result; None if there is no such axis, which the native module says."""
    if axis is None:
        return ()
    if not -len(shape) <= axis < len(shape):
        return None
    axis %= len(shape)
    return (*shape[:axis], *shape[axis + 1 :])


def _with_copies(call, operands):
    """The result of a call, which gets copies of operands if no kernel takes their layout."""
    try:
        return call(*operands)
    except LayoutError:
        copies = [x if x is None else library_of(x).contiguous(x) for x in operands]
        if all(copy is x for copy, x in zip(copies, operands)):
            raise
    return call(*copies)
