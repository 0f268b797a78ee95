"""Compares products and sums with torch's on the first GPU: times of large ones, and what a small call costs.

    python bench.py

Each time is the least of several rounds, between two events of torch's stream, divided by the calls of a round.
"""

import time

import torch

import tilewright

SIDE = 4096
SMALL = 64
ELEMENTS = 1 << 28
ROUNDS = 7


def gpu_time(call, calls):
    """Microseconds of the GPU for each call."""
    call()
    times = []
    for _ in range(ROUNDS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e3 / calls)
    return min(times)


def host_time(call, calls=1000):
    """Microseconds until a call returns, while the GPU keeps up."""
    call()
    times = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) * 1e6 / calls)
    return min(times)


def largest_error(found, exact, bound):
    return ((found.double() - exact).abs() / bound).max().item()


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, tilewright {tilewright.__version__}")

    a, b = torch.rand(2, SIDE, SIDE, device="cuda") * 2 - 1
    out = torch.empty_like(a)
    exact, bound = a.double() @ b.double(), a.abs().double() @ b.abs().double()
    flops = 2 * SIDE**3
    print(f"\nf32 product of {SIDE} x {SIDE}, without TF32")
    for name, product in [("torch", torch.matmul), ("tilewright", tilewright.matmul)]:
        error = largest_error(product(a, b), exact, bound)
        for result, options in [("new result", {}), ("out", {"out": out})]:
            each = gpu_time(lambda: product(a, b, **options), calls=10)
            speed = flops / each / 1e6
            print(f"{name:>12}, {result:<10}  {each:8.1f} us  {speed:6.1f} TFLOP/s  error {error:.1e} |A||B|")

    x = torch.rand(ELEMENTS, device="cuda")
    print(f"\nf32 sum of {ELEMENTS} elements")
    for name, total in [("torch", torch.sum), ("tilewright", tilewright.sum)]:
        each = gpu_time(lambda: total(x), calls=10)
        print(f"{name:>12}  {each:8.1f} us  {4 * ELEMENTS / each / 1e3:6.0f} GB/s")

    a, b = torch.rand(2, SMALL, SMALL, device="cuda")
    out = torch.empty_like(a)
    row, total = a[0].contiguous(), torch.empty((), device="cuda")
    print(f"\nsmall calls, {SMALL} x {SMALL} and {SMALL} elements: us until the call returns, us of the stream")
    for name, call in [
        ("torch.matmul", lambda: torch.matmul(a, b)),
        ("torch.matmul, out", lambda: torch.matmul(a, b, out=out)),
        ("tilewright.matmul", lambda: tilewright.matmul(a, b)),
        ("tilewright.matmul, out", lambda: tilewright.matmul(a, b, out=out)),
        ("torch.sum", lambda: torch.sum(row)),
        ("torch.sum, out", lambda: torch.sum(row, dim=0, out=total)),
        ("tilewright.sum", lambda: tilewright.sum(row)),
        ("tilewright.sum, out", lambda: tilewright.sum(row, out=total)),
    ]:
        print(f"{name:>24}  {host_time(call):6.1f}  {gpu_time(call, calls=1000):6.1f}")


if __name__ == "__main__":
    main()
