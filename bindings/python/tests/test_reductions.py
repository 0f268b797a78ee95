"""Reductions of numpy arrays, against numpy."""

import numpy as np
import pytest

import tilewright

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int32", "uint32", "int64", "uint64"]

# What numpy computes, in f64 where the crate does.
EXPECTED = {
    "sum": lambda x, axis: x.sum(axis),
    "product": lambda x, axis: x.prod(axis),
    "mean": lambda x, axis: x.mean(axis),
    "min": lambda x, axis: x.min(axis),
    "max": lambda x, axis: x.max(axis),
    "argmin": lambda x, axis: x.argmin(axis),
    "argmax": lambda x, axis: x.argmax(axis),
    "sum_of_squares": lambda x, axis: (x * x).sum(axis),
    "norm1": lambda x, axis: np.abs(x).sum(axis),
    "norm2": lambda x, axis: np.sqrt((x * x).sum(axis)),
    "norm_inf": lambda x, axis: np.abs(x).max(axis),
    "variance": lambda x, axis: x.var(axis),
}
OF_FLOATS = ["sum_of_squares", "norm1", "norm2", "norm_inf", "variance"]


def numbers(shape, element):
    """Small numbers, of either sign if the type has them, none of them zero."""
    values = np.random.default_rng(1).integers(1, 4, shape)
    if np.dtype(element).kind != "u":
        values = values * np.random.default_rng(2).choice([-1, 1], shape)
    return values.astype(element)


@pytest.mark.parametrize("element", FLOATS + INTEGERS)
@pytest.mark.parametrize("op", EXPECTED)
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((37,), None),
        ((3, 5), None),
        ((3, 5), 0),
        ((3, 5), -1),
        ((2, 3, 5), 0),
        ((2, 3, 5), 1),
        ((2, 3, 5), 2),
    ],
)
def test_reductions_are_those_of_numpy(op, element, shape, axis):
    x = numbers(shape, element)
    if op in OF_FLOATS and element in INTEGERS:
        with pytest.raises(tilewright.ElementTypeError, match=f'"{op}" has no kernel for elements of type {element}'):
            tilewright.reduce(x, op, axis)
        return
    expected = EXPECTED[op](x.astype("float64" if element in FLOATS else element), axis)
    found = tilewright.reduce(x, op, axis)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(np.asarray(found, "float64"), np.asarray(expected, "float64"), rtol=1e-6)


def test_types_of_results():
    def of(op, element):
        return tilewright.reduce(np.ones(3, element), op).dtype.name

    assert [of("sum", it) for it in FLOATS] == ["float32", "float32", "float64"]
    assert [of("sum", it) for it in INTEGERS] == ["int64", "uint64", "int64", "uint64"]
    assert (of("mean", "int32"), of("argmax", "float32"), of("max", "float16")) == ("float64", "uint64", "float16")


def test_a_sum_is_a_scalar_or_an_array_of_numpy():
    x = np.arange(6, dtype="float32").reshape(2, 3)
    assert isinstance(tilewright.sum(x), np.float32)
    assert type(tilewright.sum(x, axis=0)) is np.ndarray
    assert tilewright.sum(x, axis=0).tolist() == [3, 5, 7]


def test_masks():
    mask = np.array([[True, False, True], [True, True, True]])
    assert tilewright.reduce(mask, "count") == 5
    assert tilewright.reduce(mask, "all", axis=1).tolist() == [0, 1]
    assert tilewright.reduce(mask.view("uint8"), "any", axis=0).tolist() == [1, 1, 1]


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T,
        lambda x: x[:, 1:4],
        lambda x: x[::2],
        lambda x: x[::-1],
        lambda x: x[:, ::2],
        lambda x: x[1:1],
    ],
)
def test_any_strides(view, axis):
    x = view(numbers((6, 5), "float32"))
    np.testing.assert_array_equal(tilewright.sum(x, axis), x.sum(axis))


def test_read_only_elements():
    x = np.arange(5, dtype="float32")
    x.flags.writeable = False
    assert tilewright.sum(x) == 10


def test_no_values_take_no_time():
    # A launch for each index of the first axis would take days.
    none = tilewright.reduce(np.empty((1 << 40, 5, 0), np.float32), "sum", axis=1)
    assert none.shape == (1 << 40, 0)
    with pytest.raises(tilewright.InvalidValueError, match="needs at least one element"):
        tilewright.reduce(np.empty((2, 0, 3), np.float32), "min", axis=1)


def test_masked_arrays_are_refused():
    x = np.ma.array([1, 2, 3], mask=[0, 1, 0], dtype=np.float32)
    with pytest.raises(tilewright.ElementTypeError, match="pass x.filled"):
        tilewright.sum(x)
    with pytest.raises(tilewright.ElementTypeError, match="pass x.filled"):
        tilewright.sum(np.ones((3, 2), np.float32), axis=1, out=x)
    assert tilewright.sum(x.compressed()) == 4


def test_out():
    x, out = numbers((3, 4), "float32"), np.empty(4, "float32")
    assert tilewright.sum(x, 0, out) is out
    np.testing.assert_array_equal(out, x.sum(0))
    with pytest.raises(ValueError, match=r"out has shape \[4\], and the result \[3\]"):
        tilewright.sum(x, 1, out)
    with pytest.raises(TypeError, match="elements are float 64, and this call needs f32"):
        tilewright.sum(x, 0, np.empty(4))
    with pytest.raises(ValueError, match="out shares memory with an operand"):
        tilewright.sum(x, 0, x[1])
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tilewright.sum(x, 0, out)


def test_errors_are_exceptions_with_the_crates_message():
    nothing = np.empty(0, "float32")
    with pytest.raises(tilewright.Error, match="^reduce_into: "):
        tilewright.reduce(nothing, "max")
    assert tilewright.sum(nothing) == 0
    with pytest.raises(ValueError, match='there is no reduction "median"; there are sum, product'):
        tilewright.reduce(nothing, "median")
    with pytest.raises(ValueError, match="2 dimensions has no axis 2"):
        tilewright.sum(np.ones((2, 2), "float32"), axis=2)
    with pytest.raises(ValueError, match="2 dimensions has no axis -3"):
        tilewright.sum(np.ones((2, 2), "float32"), axis=-3)
    with pytest.raises(TypeError, match="complex64"):
        tilewright.sum(np.ones(2, "complex64"))
    with pytest.raises(TypeError, match="this is a list"):
        tilewright.sum([1.0, 2.0])


def test_sums_have_the_same_bits_in_every_run():
    x = np.random.default_rng(3).normal(size=5000).astype("float32")
    first = tilewright.sum(x)
    assert all(tilewright.sum(x).tobytes() == first.tobytes() for _ in range(3))
    assert tilewright.sum(x.reshape(50, 100).T.T).tobytes() == first.tobytes()
