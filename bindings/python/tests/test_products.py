"""Products of numpy arrays, against numpy."""

import math

import numpy as np
import pytest

import tilewright


def matrix(rows, columns, element="float32", seed=1):
    """Small integers, whose products are exact in every type."""
    return np.random.default_rng(seed).integers(-3, 4, (rows, columns)).astype(element)


@pytest.mark.parametrize("element", ["float16", "float32", "float64"])
@pytest.mark.parametrize(("m", "k", "n"), [(3, 5, 4), (33, 17, 65), (1, 40, 7), (7, 40, 1), (2, 0, 3), (0, 2, 3)])
def test_products_are_those_of_numpy(element, m, k, n):
    a, b = matrix(m, k, element), matrix(k, n, element, seed=2)
    found = tilewright.matmul(a, b)
    assert found.dtype == element
    np.testing.assert_array_equal(found, a @ b)


def test_products_of_integers_are_exact():
    a, b = matrix(9, 70, "int8"), matrix(70, 5, "int8", seed=2)
    found = tilewright.matmul(a, b)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, a.astype("int32") @ b)


def test_float32_is_not_rounded_to_tf32():
    a = np.full((64, 64), 1 + 2**-20, "float32")
    np.testing.assert_array_equal(tilewright.matmul(a, np.eye(64, dtype="float32")), a)


VIEWS = {
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "part": lambda x: np.pad(x, 2)[2:-2, 2:-2],
    "reversed": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "strided": lambda x: np.repeat(np.repeat(x, 2, 0), 2, 1)[::2, ::2],
    "read-only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
}


@pytest.mark.parametrize("of_b", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("of_a", VIEWS.values(), ids=VIEWS)
def test_any_layout(of_a, of_b):
    a, b = of_a(matrix(6, 5)), of_b(matrix(5, 7, seed=2))
    np.testing.assert_array_equal(tilewright.matmul(a, b), a @ b)


def test_out():
    a, b = matrix(3, 5), matrix(5, 4, seed=2)
    expected = a @ b
    out = np.zeros((3, 4), "float32")
    assert tilewright.matmul(a, b, out) is out
    np.testing.assert_array_equal(out, expected)
    # By columns, and in a part of a matrix, whose rest stays.
    by_columns = np.zeros((4, 3), "float32").T
    tilewright.matmul(a, b, by_columns)
    np.testing.assert_array_equal(by_columns, expected)
    whole = np.full((5, 6), 9, "float32")
    tilewright.matmul(a, b, whole[1:4, 1:5])
    np.testing.assert_array_equal(whole[1:4, 1:5], expected)
    assert (whole == 9).sum() == 30 - 12 + (expected == 9).sum()
    of_halves = np.zeros((3, 4), "float32")
    tilewright.matmul(a.astype("float16"), b.astype("float16"), of_halves)
    np.testing.assert_array_equal(of_halves, expected)


def test_out_is_refused_where_it_cannot_be_written():
    a, b = matrix(4, 4), matrix(4, 4, seed=2)
    with pytest.raises(ValueError, match="out shares memory with an operand"):
        tilewright.matmul(a, b, a)
    with pytest.raises(ValueError, match="out shares memory with an operand"):
        tilewright.matmul(a, b, b.T)
    with pytest.raises(tilewright.LayoutError, match="copy"):
        tilewright.matmul(a, b, np.zeros((8, 8), "float32")[::2, ::2])
    out = np.zeros((4, 4), "float32")
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tilewright.matmul(a, b, out)
    with pytest.raises(ValueError, match="the product is 4x4 and the matrix for it is 3x4"):
        tilewright.matmul(a, b, np.zeros((3, 4), "float32"))
    with pytest.raises(TypeError, match="products of float32 cannot be written as float64"):
        tilewright.matmul(a, b, np.zeros((4, 4)))


ACTIVATIONS = {
    None: lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "silu": lambda x: x / (1 + np.exp(-x)),
}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("element", ["float16", "float32", "float64"])
def test_epilogue(element, activation):
    scalar = "float64" if element == "float64" else "float32"
    a, b = matrix(5, 8, element), matrix(8, 6, element, seed=2)
    bias, rows, columns = (np.linspace(low, 1, n).astype(scalar) for low, n in [(-2, 6), (0.5, 5), (0.25, 6)])
    found = tilewright.matmul(
        a, b, bias=bias, activation=activation, scale=0.5, row_scale=rows, column_scale=columns
    )
    sums = 0.5 * rows[:, None] * columns * (a.astype("float64") @ b.astype("float64")) + bias
    tolerance = 2e-3 if element == "float16" else 1e-5
    np.testing.assert_allclose(found, ACTIVATIONS[activation](sums), rtol=tolerance, atol=tolerance)


def test_quantised_products():
    a, b = matrix(5, 8, "int8"), matrix(8, 6, "int8", seed=2)
    rows, columns = np.linspace(0.5, 1, 5).astype("float32"), np.linspace(1, 2, 6).astype("float32")
    out = np.empty((5, 6), "float32")
    tilewright.matmul(a, b, out, row_scale=rows, column_scale=columns)
    np.testing.assert_allclose(out, rows[:, None] * columns * (a.astype("int32") @ b), rtol=1e-6)
    with pytest.raises(ValueError, match="int8 with scales, bias or activation needs an out of floats"):
        tilewright.matmul(a, b, row_scale=rows)


def test_errors_are_exceptions_with_the_crates_message():
    a = matrix(3, 5)
    with pytest.raises(tilewright.InvalidValueError, match="^Matmul::run_into: A is 3x5 and B is 3x5"):
        tilewright.matmul(a, a)
    with pytest.raises(tilewright.Error, match="Tensor::matrix: .* this call needs f32"):
        tilewright.matmul(a, a.T.astype("float64"))
    with pytest.raises(TypeError, match="int32 cannot be multiplied"):
        tilewright.matmul(a.astype("int32"), a.T.astype("int32"))
    with pytest.raises(ValueError, match="matrices have 2 dimensions"):
        tilewright.matmul(a, a[0])
    with pytest.raises(ValueError, match="the column bias has 4 elements, and needs 3"):
        tilewright.matmul(a, a.T, bias=np.ones(4, "float32"))
    with pytest.raises(TypeError, match="elements are float 64, and this call needs f32"):
        tilewright.matmul(a, a.T, bias=np.ones(3))
    with pytest.raises(ValueError, match="there is no activation"):
        tilewright.matmul(a, a.T, activation="tanh")
    with pytest.raises(TypeError, match="this is a list"):
        tilewright.matmul([[1.0]], a)


def test_vectors_have_one_dimension():
    a = matrix(3, 3)
    for shape in [(1, 3), (3, 1), ()]:
        for name in ("bias", "row_scale", "column_scale"):
            with pytest.raises(tilewright.InvalidValueError, match=f"{name} has one dimension"):
                tilewright.matmul(a, a, **{name: np.ones(shape, "float32")})
