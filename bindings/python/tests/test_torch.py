"""Tensors of torch: on the CPU where torch is installed, and on the first GPU where it sees one."""

import os
import subprocess
import sys

import pytest

import tilewright

torch = pytest.importorskip("torch", reason="torch is not installed")

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device")


class Foreign:
    """A tensor whose library the package does not know."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, stream=None, **others):
        return self.tensor.__dlpack__(stream=stream, **others)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=needs_cuda)])
def device(request):
    return request.param


@pytest.fixture
def side(device):
    """Rows of matrices: few for the simulator."""
    return 1024 if device == "cuda" else 40


@pytest.fixture(autouse=True)
def exact():
    """torch's own products are in f32, too."""
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False


def largest_error(found, a, b):
    """The largest error of a product, in units of |A||B| 2^-24: f32 arithmetic has a few, and TF32 hundreds."""
    a, b = a.double(), b.double()
    return ((found.double() - a @ b).abs() / (a.abs() @ b.abs() * 2**-24)).max().item()


def test_f32_products_are_as_accurate_as_those_of_torch(device, side):
    a, b = torch.randn(2, side, side, device=device)
    found = tilewright.matmul(a, b)
    assert isinstance(found, torch.Tensor) and (found.device, found.dtype) == (a.device, a.dtype)
    assert largest_error(found, a, b) <= 16
    torch.testing.assert_close(found, torch.matmul(a, b), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("element", ["float64", "float16", "bfloat16"])
def test_products_of_other_types(device, element):
    element = getattr(torch, element)
    if device == "cuda" and element != torch.float64 and torch.cuda.get_device_capability() < (8, 0):
        pytest.skip("products of 16-bit floats need compute capability 8.0")
    # Small integers: every sum is exact.
    a, b = torch.randint(-3, 4, (2, 48, 48), device=device).to(element)
    found = tilewright.matmul(a, b)
    assert found.dtype == element
    expected = (a.double() @ b.double()).to(element)
    assert torch.equal(found, expected)
    if element != torch.float64:
        out = torch.empty(48, 48, device=device)
        assert tilewright.matmul(a, b, out) is out
        assert torch.equal(out, a.float() @ b.float())


LAYOUTS = {
    "transposed": lambda x: x.t().contiguous().t(),
    "part": lambda x: torch.nn.functional.pad(x, (3, 2, 1, 4))[1:-4, 3:-2],
    "strided": lambda x: x.repeat_interleave(2, 0).repeat_interleave(2, 1)[::2, ::2],
    "expanded": lambda x: x[:1].expand(x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_any_layout(device, layout):
    whole = torch.randint(-3, 4, (2, 33, 33), device=device).float()
    a, b = layout(whole[0]), layout(whole[1])
    assert torch.equal(tilewright.matmul(a, b), a @ b)
    assert torch.equal(tilewright.sum(a, 0), a.sum(0))
    assert torch.equal(tilewright.sum(a, 1), a.sum(1))
    assert tilewright.sum(a).item() == a.sum().item()


def test_reductions(device, side):
    x = torch.randint(-9, 10, (side, side), device=device).float()
    total = tilewright.sum(x)
    assert (total.shape, total.dtype, total.device) == (torch.Size(), torch.float32, x.device)
    assert total.item() == x.sum().item()
    for axis in (0, 1, -1):
        assert torch.equal(tilewright.sum(x, axis), x.sum(axis))
        assert torch.equal(tilewright.reduce(x, "max", axis), x.amax(axis))
        found = tilewright.reduce(x, "norm2", axis)
        torch.testing.assert_close(found, x.norm(dim=axis), rtol=1e-5, atol=0)
    blocks = x[:24, :24].reshape(4, 6, 24)
    assert torch.equal(tilewright.sum(blocks, 1), blocks.sum(1))
    assert tilewright.reduce(x > 0, "count").item() == (x > 0).sum().item()
    assert tilewright.sum(x.int()).dtype == torch.int64


def test_epilogue(device, side):
    a, b = torch.randn(2, side, side, device=device)
    bias = torch.randn(side, device=device)
    found = tilewright.matmul(a, b, bias=bias, activation="relu", scale=0.5)
    torch.testing.assert_close(found, torch.relu(0.5 * (a @ b) + bias), rtol=1e-4, atol=1e-3)


def test_out_is_written_in_place(device):
    a, b = torch.randint(-3, 4, (2, 40, 40), device=device).float()
    whole = torch.full((50, 60), 9.0, device=device)
    part = whole[5:45, 10:50]
    assert tilewright.matmul(a, b, part) is part
    assert torch.equal(whole[5:45, 10:50], a @ b)
    assert (whole[:5] == 9).all() and (whole[45:] == 9).all() and (whole[:, :10] == 9).all()
    with pytest.raises(ValueError, match="out shares memory with an operand"):
        tilewright.matmul(a, b, a)


def test_a_negated_view_is_not_written(device):
    z = torch.zeros(3, 3, device=device, dtype=torch.complex64)
    out = z.conj().imag
    assert out.is_neg()
    a = torch.ones(3, 3, device=device)
    with pytest.raises(ValueError, match="cannot be written"):
        tilewright.matmul(a, a, out)


def test_gradients_refuse_what_a_call_has_overwritten(device):
    w = torch.ones(3, 3, device=device, requires_grad=True)
    saved = torch.ones(3, 3, device=device)
    loss = (w * saved).sum()
    with torch.no_grad():
        tilewright.matmul(saved.clone(), saved.clone(), saved)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_gradients_are_refused(device):
    x = torch.ones(3, 3, device=device, requires_grad=True)
    with pytest.raises(ValueError, match="gradients are not recorded"):
        tilewright.sum(x)
    assert tilewright.sum(x.detach()).item() == 9
    with torch.no_grad():
        assert tilewright.sum(x).item() == 9


def test_errors(device):
    a = torch.ones(3, 5, device=device)
    with pytest.raises(tilewright.InvalidValueError, match="A is 3x5 and B is 3x5"):
        tilewright.matmul(a, a)
    with pytest.raises(TypeError, match="this call needs f32"):
        tilewright.matmul(a, a.t().double())


def test_an_array_of_the_package_becomes_a_tensor():
    found = torch.from_dlpack(tilewright.sum(Foreign(torch.ones(2, 3)), axis=0))
    assert found.tolist() == [2, 2, 2]


def slow_ones(side):
    """A matrix of ones, which the GPU writes a few milliseconds after the call."""
    x = torch.zeros(side, side, device="cuda")
    torch.cuda._sleep(20_000_000)
    x += 1
    return x


@needs_cuda
def test_calls_work_in_torchs_current_stream():
    """Without an order of streams, the product would read zeros, and torch the result before it is there."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        # Loads the kernel, which takes longer than the GPU's work.
        x = torch.ones(512, 512, device="cuda")
        tilewright.matmul(x, x)
    for _ in range(5):
        with torch.cuda.stream(stream):
            x = slow_ones(512)
            product = tilewright.matmul(x, x)
            assert not stream.query(), "the call waited"
            # Read in this stream: torch orders no others.
            assert (tilewright.sum(product) + 0).item() == 512**3
        x = slow_ones(256)
        assert (tilewright.matmul(x, x) + 1).eq(257).all()


@needs_cuda
def test_memory_of_torch_is_reused_in_order():
    """Operands and results are freed at once, and their memory goes to other tensors while the GPU still works."""
    for round in range(20):
        x = slow_ones(512) if round % 5 == 0 else torch.ones(512, 512, device="cuda")
        product = tilewright.matmul(x, x)
        del x
        other = torch.full((512, 512), 7.0, device="cuda")
        assert product.eq(512).all() and other.eq(7).all()


@needs_cuda
def test_other_libraries_on_a_gpu_exchange_streams():
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            x = slow_ones(256)
            array = tilewright.matmul(Foreign(x), Foreign(x.t()))
            assert isinstance(array, tilewright.Array) and array.__dlpack_device__() == (2, 0)
            assert repr(array) == "<tilewright.Array of shape [256, 256], float32, cuda:0>"
            found = torch.from_dlpack(array)
            assert found.eq(256).all()
            out = torch.zeros(256, 256, device="cuda")
            tilewright.matmul(Foreign(x), Foreign(x), Foreign(out))
            assert out.eq(256).all()


@needs_cuda
def test_arrays_in_host_memory_are_computed_with_on_the_gpu():
    """In a process of its own, without the choice of the simulator."""
    program = """
import numpy as np, tilewright
assert tilewright.device_name() != "simulator"
a = np.random.default_rng(1).integers(-3, 4, (300, 200)).astype("float32")
assert (tilewright.matmul(a, a.T) == a @ a.T).all()
assert (tilewright.sum(a[:, ::2], 0) == a[:, ::2].sum(0)).all()
whole = np.full((310, 320), 9, "float32")
tilewright.matmul(a, a.T, whole[5:305, 10:310])
assert (whole[5:305, 10:310] == a @ a.T).all() and (whole[:5] == 9).all() and (whole[:, 310:] == 9).all()
whole.flags.writeable = False
try:
    tilewright.matmul(a, a.T, whole[5:305, 10:310])
except ValueError as error:
    assert "read-only" in str(error)
else:
    raise AssertionError
"""
    environment = {name: value for name, value in os.environ.items() if name != "TILEWRIGHT_DEVICE"}
    subprocess.run([sys.executable, "-W", "error", "-c", program], env=environment, check=True)


@needs_cuda
def test_operands_on_different_devices_are_refused():
    x = torch.ones(3, 3, device="cuda")
    with pytest.raises(ValueError, match="different devices: cuda:0 and the CPU"):
        tilewright.matmul(x, x.cpu())
    with pytest.raises(ValueError, match="different devices: cuda:0 and the CPU"):
        tilewright.matmul(x, x, torch.ones(3, 3))


@needs_cuda
@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="torch sees one CUDA device")
def test_a_call_works_on_the_device_of_its_tensors():
    x = torch.ones(64, 64, device="cuda:1")
    found = tilewright.matmul(x, x)
    assert found.device == x.device and found.eq(64).all()


@needs_cuda
def test_a_call_is_captured_in_a_graph():
    x, out = torch.ones(256, 256, device="cuda"), torch.empty(256, 256, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        # Kernels are loaded before the capture.
        tilewright.matmul(x, x, out)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        tilewright.matmul(x, x, out)
    for value in (2.0, 3.0):
        x.fill_(value)
        graph.replay()
        assert out.eq(256 * value * value).all()
