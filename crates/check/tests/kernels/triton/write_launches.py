"""Writes launch files for the kernels that `compile.py` has compiled into FOLDER.

    python compile.py FOLDER > FOLDER/shared.txt
    python write_launches.py FOLDER
"""

import math
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import launches
from launches import Buffer, launch, to_bf16


def all_of(capability, shared):
    def add(name, arguments, buffers, grid=1, **options):
        # Triton's kernels end with the addresses of two scratch buffers.
        buffers["none"] = Buffer("u8", 16, 0)
        launch(f"triton{capability}_{name}", name, [*arguments, "none", "none"], buffers, grid=grid, block=128,
               shared=shared[name], schedules=4, **options)

    n = 500
    x, y = Buffer("f32", n, "random"), Buffer("f32", n, "random", seed=1)
    add("add", ["x", "y", "out", n], {"x": x, "y": y, "out": Buffer("f32", n, expect=x.array() + y.array())}, 2)
    add("gelu", ["x", "out", n], {"x": x, "out": Buffer("f32", n, tolerance=1e-6, expect=[
        0.5 * v * (1 + math.erf(v * 0.5**0.5)) for v in x.array().tolist()])}, 2)
    add("dropout", ["x", "out", n, 0.5, 123], {"x": x, "out": Buffer("f32", n)}, 2)
    add("atomic_sum", ["x", "out", n], {"x": x, "out": Buffer("f32", 1, 0, may_differ=True, tolerance=1e-4,
                                                             expect=[float(x.array().astype(float).sum())])}, 4)
    rows, n = 4, 112
    x = Buffer("f32", rows * n, "random")
    v = x.array().reshape(rows, n).astype(float)
    e = np.exp(v - v.max(1, keepdims=True))
    add("softmax", ["out", "x", n, n],
        {"x": x, "out": Buffer("f32", rows * n, expect=e / e.sum(1, keepdims=True), tolerance=1e-6)}, rows)
    w, b = Buffer("f32", n, "random", seed=1), Buffer("f32", n, "random", seed=2)
    normal = (v - v.mean(1, keepdims=True)) / np.sqrt(v.var(1, keepdims=True) + 1e-5)
    add("layer_norm", ["x", "out", "w", "b", n, 1e-5],
        {"x": x, "w": w, "b": b, "out": Buffer("f32", rows * n, tolerance=1e-5, expect=normal * w.array() + b.array())},
        rows)
    add("argmax_rows", ["x", "out", n], {"x": x, "out": Buffer("i32", rows, expect=v.argmax(1))}, rows)
    x, w = Buffer("bf16", rows * n, "random"), Buffer("bf16", n, "random", seed=1)
    v = x.array().reshape(rows, n).astype(float)
    normal = v / np.sqrt((v * v).mean(1, keepdims=True) + 1e-5) * w.array()
    add("rms_norm_bf16", ["x", "w", "out", n, 1e-5],
        {"x": x, "w": w, "out": Buffer("bf16", rows * n, expect=to_bf16(normal), tolerance=1e-2)}, rows)
    x = Buffer("i32", 256, "random", range=(0, 16))
    add("cumsum", ["x", "out"], {"x": x, "out": Buffer("i32", 256, expect=x.array().cumsum())})
    add("histogram", ["x", "out"], {"x": x, "out": Buffer("i32", 16, expect=np.bincount(x.array(), minlength=16))})
    x = Buffer("i32", 128, "random")
    add("sort", ["x", "out"], {"x": x, "out": Buffer("i32", 128, expect=np.sort(x.array()))})
    x = Buffer("f32", 64 * 32, "index")
    add("transpose", ["x", "out", 64, 32],
        {"x": x, "out": Buffer("f32", 64 * 32, expect=x.array().reshape(64, 32).T)}, (2, 1))
    a, b = Buffer("f16", 64 * 64, "random"), Buffer("f16", 64 * 64, "random", seed=1)
    product = a.array().reshape(64, 64).astype(float) @ b.array().reshape(64, 64)
    add("matmul", ["a", "b", "c", 64, 64, 64],
        {"a": a, "b": b, "c": Buffer("f16", 64 * 64, expect=product, tolerance=2e-3)})
    a, b = (Buffer("i8", 32 * 64, "random", range=(-128, 128), seed=seed) for seed in (0, 1))
    product = a.array().reshape(32, 64).astype(int) @ b.array().reshape(64, 32).astype(int)
    add("matmul_i8", ["a", "b", "c", 32, 32, 64], {"a": a, "b": b, "c": Buffer("i32", 32 * 32, expect=product)})
    q, k, v = (Buffer("f16", 64 * 32, "random", seed=seed) for seed in range(3))
    scores = q.array().reshape(64, 32).astype(float) @ k.array().reshape(64, 32).T.astype(float) * 0.5
    e = np.exp(scores - scores.max(1, keepdims=True))
    values = (e / e.sum(1, keepdims=True)) @ v.array().reshape(64, 32)
    add("attention", ["q", "k", "v", "out", 64, 0.5],
        {"q": q, "k": k, "v": v, "out": Buffer("f16", 64 * 32, expect=values, tolerance=2e-3)})


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    launches.FOLDER = folder
    lines = [line.split() for line in (folder / "shared.txt").read_text().splitlines()]
    for capability in (80, 90):
        all_of(capability, {name: int(bytes_) for name, of, bytes_ in lines if of == str(capability)})
