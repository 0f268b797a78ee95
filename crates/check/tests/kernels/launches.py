"""Writes the launch files of this folder, with what NumPy computes as the expected outputs.

    python launches.py
"""

import math
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).parent
TYPES = {
    "u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16, "u32": np.uint32, "i32": np.int32,
    "u64": np.uint64, "i64": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": np.float32,
}
FLOATS = ("f16", "bf16", "f32", "f64")


def random(length, seed):
    """As `tilewright-check` fills a buffer: SplitMix64."""
    mask = (1 << 64) - 1
    units = []
    for index in range(length):
        word = (seed + (index + 1) * 0x9E3779B97F4A7C15) & mask
        word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & mask
        word = ((word ^ word >> 27) * 0x94D049BB133111EB) & mask
        word ^= word >> 31
        units.append((word >> 11) / float(1 << 53))
    return np.array(units)


def to_bf16(values):
    bits = np.asarray(values, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
    return rounded.astype(np.uint32).view(np.float32)


class Buffer:
    def __init__(self, element, length, fill="uninitialised", **options):
        self.element, self.length, self.fill, self.options = element, length, fill, options

    def array(self):
        element = TYPES[self.element]
        if self.fill == "index":
            return np.arange(self.length).astype(element)
        if self.fill == "random":
            least, most = self.options.get("range", (-1.0, 1.0) if self.element in FLOATS else (0, 100))
            values = least + (most - least) * random(self.length, self.options.get("seed", 0))
            if self.element == "bf16":
                return to_bf16(values)
            return (values if self.element in FLOATS else np.floor(values)).astype(element)
        if self.fill == "uninitialised":
            return None
        return np.broadcast_to(np.array(self.fill), self.length).astype(element)

    def lines(self, name, stem):
        lines = [f"\n[buffers.{name}]", f'type = "{self.element}"', f"length = {self.length}"]
        is_rule = isinstance(self.fill, str)
        key = "values" if isinstance(self.fill, list) else "fill"
        lines.append(f'fill = "{self.fill}"' if is_rule else f"{key} = {self.fill}")
        for key, value in self.options.items():
            if key == "expect":
                continue
            text = {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value
            lines.append(f"{key} = {list(text) if isinstance(text, tuple) else text}")
        expected = self.options.get("expect")
        if expected is not None:
            expected = np.asarray(expected)
            if expected.size <= 8:
                numbers = ", ".join(repr(it) for it in expected.reshape(-1).tolist())
                lines.append(f"expect = [{numbers}]")
            else:
                kind = np.float32 if self.element == "bf16" else TYPES[self.element]
                path = f"expected/{stem}.{name}.npy"
                (FOLDER / "expected").mkdir(exist_ok=True)
                np.save(FOLDER / path, np.ascontiguousarray(expected.reshape(-1).astype(kind)))
                lines.append(f'expect = "{path}"')
        return lines


def launch(ptx, entry, arguments, buffers, **options):
    """One file; `options` are keys of it."""
    stem = f"{ptx}.{entry}"
    lines = [f'ptx = "{ptx}.ptx"', f'entry = "{entry}"']
    for key, value in options.items():
        text = {True: "true", False: "false"}.get(value) if isinstance(value, bool) else value
        lines.append(f"{key} = {list(text) if isinstance(text, tuple) else text}")
    shown = [f'"{it}"' if isinstance(it, str) and not it.startswith(("{", "[")) else str(it) for it in arguments]
    lines.append(f"arguments = [{', '.join(shown)}]")
    for name, buffer in buffers.items():
        lines += buffer.lines(name, stem)
    (FOLDER / f"{stem}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def basic():
    n = 200
    a, b = Buffer("f32", n, "random"), Buffer("f32", n, "random", seed=1)
    launch("basic", "vector_add", ["a", "b", "c", n],
           {"a": a, "b": b, "c": Buffer("f32", n, expect=a.array() + b.array())}, grid=2, block=128)
    y = Buffer("f32", n, "index", expect=np.float32(2.5) * a.array() + np.arange(n, dtype=np.float32), tolerance=1e-6)
    launch("basic", "saxpy_strided", ["y", "a", 2.5, n], {"a": a, "y": y}, grid=1, block=64)

    n = 1000
    x = Buffer("f32", n, "random")
    sums = [x.array()[i * 256 : (i + 1) * 256].astype(np.float64).sum() for i in range(4)]
    launch("basic", "reduce_shared", ["x", "partials", n],
           {"x": x, "partials": Buffer("f32", 4, expect=sums, tolerance=1e-5)}, grid=4, block=128, shared=512)
    x = Buffer("i32", n, "random")
    launch("basic", "reduce_last_block", ["x", "partials", "total", n],
           {"x": x, "partials": Buffer("i32", 3), "total": Buffer("i32", 1, expect=[x.array().sum()])},
           grid=3, block=128)

    width, height = 70, 50
    x = Buffer("f32", width * height, "index")
    launch("basic", "transpose", ["out", "x", width, height],
           {"x": x, "out": Buffer("f32", width * height, expect=x.array().reshape(height, width).T)},
           grid=(3, 2), block=(32, 8), schedules=4)
    x = Buffer("u8", n, "random", range=(0, 40))
    launch("basic", "histogram", ["x", "bins", n],
           {"x": x, "bins": Buffer("u32", 256, 0, expect=np.bincount(x.array(), minlength=256))},
           grid=2, block=128, schedules=4)

    n = 256
    x = Buffer("i32", n, "random")
    launch("basic", "scan_blelloch", ["out", "x", n],
           {"x": x, "out": Buffer("i32", n, expect=np.cumsum(x.array()) - x.array())}, block=128, shared=1024)
    launch("basic", "scan_warps", ["x", "out", 250],
           {"x": Buffer("i32", 250, "random"),
            "out": Buffer("i32", 250, expect=np.cumsum(Buffer("i32", 250, "random").array()))}, block=256)

    n = 300
    x = Buffer("f32", n, "index")
    padded = np.pad(x.array(), 3)
    launch("basic", "stencil", ["x", "out", n],
           {"x": x, "out": Buffer("f32", n, expect=sum(padded[k : k + n] for k in range(7)))}, grid=3, block=128)
    width, height = 60, 4
    x = Buffer("f32", width * height, "random")
    rows = np.pad(x.array().reshape(height, width).astype(np.float64), ((0, 0), (2, 2)), mode="edge")
    weights = [0.0625, 0.25, 0.375, 0.25, 0.0625]
    launch("basic", "convolve_rows", ["x", "out", width, height],
           {"x": x, "out": Buffer("f32", width * height, tolerance=1e-6,
                                  expect=sum(w * rows[:, k : k + width] for k, w in enumerate(weights)))},
           grid=(1, 4), block=64)
    n = 32
    a, b = Buffer("f32", n * n, "random"), Buffer("f32", n * n, "random", seed=1)
    product = a.array().reshape(n, n).astype(np.float64) @ b.array().reshape(n, n)
    launch("basic", "matmul_tiled", ["a", "b", "c", n],
           {"a": a, "b": b, "c": Buffer("f32", n * n, expect=product, tolerance=1e-5)},
           grid=(2, 2), block=(16, 16), schedules=4)
    x = Buffer("i32", 128, "random")
    sorted_x = Buffer("i32", 128, "random", expect=np.sort(x.array()))
    launch("basic", "bitonic_sort", ["x"], {"x": sorted_x}, block=128, shared=512, schedules=4)
    x = Buffer("i32", 256, "random")
    launch("basic", "compact", ["x", "out", "count", 256],
           {"x": x, "out": Buffer("i32", 256, may_differ=True),
            "count": Buffer("i32", 1, 0, expect=[(x.array() % 3 == 0).sum()])}, grid=2, block=128)
    words = [64 * 63 // 2, 63, -63, -1, 0, 0, 5, 128, 0, -64]
    for i in range(64):
        words[5] ^= 1 << i % 7
    launch("basic", "atomics", ["words", "wide", "real", "precise"],
           {"words": Buffer("i32", 10, 0, expect=words), "wide": Buffer("u64", 1, 0, expect=[64 << 33]),
            "real": Buffer("f32", 1, 0, expect=[32]), "precise": Buffer("f64", 1, 0, expect=[16])},
           block=64)
    launch("basic", "print_lines", [3], {}, block=32)

    def steps(n):
        count = 0
        while n != 1:
            n, count = (3 * n + 1 if n % 2 else n // 2), count + 1
        return count

    launch("basic", "calls", ["steps", "roots", 40],
           {"steps": Buffer("i32", 40, expect=[steps(i + 1) for i in range(40)]),
            "roots": Buffer("f32", 40, expect=np.sqrt(np.arange(1, 41, dtype=np.float32)))}, block=64)

    def case(v):
        reverse = int(f"{v:032b}"[::-1], 2)
        cases = [v * 3, v - 7, v << 2, v ^ 0x55, v // 3, bin(v).count("1"), 32 - v.bit_length(), reverse >> 8, v % 11,
                 abs(v - 500), v | 0x1000, -v, v * v]
        return cases[v & 15] if v & 15 < 13 else 1

    x = Buffer("i32", 100, "index")
    launch("basic", "switches", ["x", "out", 100],
           {"x": x, "out": Buffer("i32", 100, expect=[case(v) for v in range(100)])}, block=128)
    x = Buffer("i32", 50, "random")
    found = []
    for i in range(32):
        bins = np.bincount((x.array() * (i + 1)) & 15, minlength=16)
        found.append(int(bins.argmax()) * 1000 + int(bins.max()))
    launch("basic", "local_arrays", ["x", "out", 50], {"x": x, "out": Buffer("i32", 32, expect=found)}, block=32)
    x = Buffer("f32", 128 * 4, "random")
    bodies = x.array().reshape(128, 4).astype(np.float64)
    away = bodies[None, :, :3] - bodies[:, None, :3]
    inverse = 1 / np.sqrt((away**2).sum(2) + 0.01)
    force = (away * (bodies[None, :, 3] * inverse**3)[:, :, None]).sum(1)
    moved = bodies.copy()
    moved[:, :3] += force * 0.01
    launch("basic", "nbody", ["x", "out", 0.01, 128],
           {"x": x, "out": Buffer("f32", 512, expect=moved, tolerance=1e-4)}, grid=2, block=64, schedules=2)
    fields = ('[{ value = 3, type = "i32" }, { value = 0.5, type = "f32" }, { value = 1.25, type = "f64" }, '
              '{ value = 1, type = "i16" }, { value = 2, type = "i16" }, { value = 4, type = "i16" }]')
    launch("basic", "structure", ["out", fields, 10],
           {"out": Buffer("f64", 10, expect=[1.25 + 0.5 * (3 + i) + [1, 2, 4][i % 3] for i in range(10)])}, block=32)
    # Their references are their own arithmetic, step by step in NumPy's f32.
    hits = 0
    state = np.arange(64, dtype=np.uint32) * np.uint32(747796405) + np.uint32(2891336453)
    for _ in range(10):
        point = []
        for _ in range(2):
            state = state * np.uint32(747796405) + np.uint32(2891336453)
            word = ((state >> ((state >> np.uint32(28)) + np.uint32(4))) ^ state) * np.uint32(277803737)
            point.append(((word >> np.uint32(22)) ^ word).astype(np.float32) * np.float32(2.3283064e-10))
        hits += int((point[0].astype(np.float64) ** 2 + point[1].astype(np.float64) ** 2 < 1).sum())
    launch("basic", "monte_carlo", ["hits", 10], {"hits": Buffer("u32", 1, 0, expect=[hits])}, block=64)
    launch("basic", "mandelbrot", ["out", 32, 0.1], {"out": Buffer("u16", 32 * 8)}, grid=(1, 8), block=32)


def functions():
    n = 64
    x = Buffer("f32", n, "random", range=(-3.0, 3.0))
    v = x.array().astype(np.float64)
    erf = np.vectorize(math.erf)
    accurate = [np.sin(v), np.cos(v), np.exp(v), np.log(abs(v) + 0.5), (abs(v) + 0.1) ** 1.7, np.tanh(v), erf(v),
                np.arctan2(v, 0.3), np.cbrt(v), np.fmod(np.float32(v) * np.float32(10), np.float32(0.7)), 1 / (v + 3.0),
                np.sqrt(abs(v)), np.rint(v * 4), v * 8]
    launch("math", "accurate", ["x", "out", n],
           {"x": x, "out": Buffer("f32", 14 * n, expect=np.concatenate(accurate), tolerance=2e-6)}, block=64, schedules=2)
    fast = [np.sin(v), np.cos(v), np.exp(v), np.log(abs(v) + 0.5), (abs(v) + 0.1) ** 1.7, v / np.float32(0.7),
            1 / np.sqrt(abs(v) + 0.1), np.clip(v + 0.5, 0, 1)]
    launch("math", "fast", ["x", "out", n],
           {"x": x, "out": Buffer("f32", 8 * n, expect=np.concatenate(fast), tolerance=3e-6)}, block=64, schedules=2)
    d = Buffer("f64", n, "random", range=(-3.0, 3.0))
    v = d.array()
    precise = [np.sin(v), np.exp(v), np.log(abs(v) + 0.5), (abs(v) + 0.1) ** 1.7, 1 / np.sqrt(abs(v) + 0.1), erf(v),
               v / 0.7, np.vectorize(math.lgamma)(abs(v) + 1)]
    launch("math", "precise", ["x", "out", n],
           {"x": d, "out": Buffer("f64", 8 * n, expect=np.concatenate(precise), tolerance=1e-14)}, block=64, schedules=2)
    launch("math", "rounded", ["x", "out", n], {"x": x, "out": Buffer("f32", 8 * n, expect=directed(x.array()))},
           block=64, schedules=2)

    a, b = Buffer("f16", 2 * n, "random"), Buffer("f16", 2 * n, "random", seed=1)
    p, q = a.array().astype(np.float64), b.array().astype(np.float64)
    halves = [p + q, p * q + p, np.maximum(p, q), p / (np.float16(abs(q) + 0.5)).astype(float), np.exp(p),
              np.maximum(p * q + p, 0), (p > q).astype(float), np.sqrt(abs(p))]
    launch("math", "half_pairs", ["a", "b", "out", n],
           {"a": a, "b": b, "out": Buffer("f16", 16 * n, expect=np.concatenate(halves), tolerance=2e-3)},
           block=64, schedules=2)
    a, b = Buffer("bf16", n, "random"), Buffer("bf16", n, "random", seed=1)
    p, q = a.array().astype(np.float64), b.array().astype(np.float64)
    bfloats = [p + q, p * q + p, np.minimum(p, q), np.exp(p), p * q, p * 3]
    launch("math", "bfloats", ["a", "b", "out", n],
           {"a": a, "b": b, "out": Buffer("bf16", 6 * n, expect=np.concatenate(bfloats), tolerance=1e-2)},
           block=64, schedules=2)
    x = Buffer("f32", n, "random")
    scaled = np.concatenate([x.array() * np.float32(50), x.array() * np.float32(5000)])
    launch("math", "small_floats", ["x", "out", n],
           {"x": x, "out": Buffer("f32", 2 * n, expect=np.concatenate([small(scaled[:n], 3, -6), small(scaled[n:], 2, -14)]))},
           block=64, schedules=2)
    x, y = Buffer("i32", n, "random", range=(-2e9, 2e9)), Buffer("u32", n, "random", range=(0, 4e9), seed=1)
    launch("math", "integers", ["x", "y", "out", n],
           {"x": x, "y": y, "out": Buffer("i64", 16 * n, expect=whole(x.array(), y.array()))}, block=64, schedules=2)


def small(values, fraction_bits, least_exponent):
    """Rounded to nearest even, with subnormal numbers."""
    exponent = np.maximum(np.frexp(values)[1] - 1, least_exponent) - fraction_bits
    return np.rint(values / 2.0**exponent) * 2.0**exponent


def directed(x):
    """By exact fractions."""
    from fractions import Fraction

    def rounded(value, mode):
        near = np.float32(float(value))
        exact = Fraction(float(near))
        down, up = np.float32(-np.inf), np.float32(np.inf)
        if mode == "rz":
            mode = "rd" if value > 0 else "ru"
        if mode == "rd":
            return near if exact <= value else np.nextafter(near, down)
        return near if exact >= value else np.nextafter(near, up)

    n, rows = len(x), [[] for _ in range(8)]
    for i in range(n):
        v, w = Fraction(float(x[i])), Fraction(float(x[(i + 1) % n]))
        rows[0].append(rounded(v + w, "rz"))
        rows[1].append(rounded(v * w, "ru"))
        rows[2].append(rounded(v * w + v, "rd"))
        root = np.float32(math.sqrt(abs(float(x[i]))))
        rows[3].append(root if Fraction(float(root)) ** 2 >= abs(v) else np.nextafter(root, np.float32(np.inf)))
        rows[4].append(math.floor(float(x[i] * np.float32(100))))
        rows[5].append(math.ceil(float(abs(x[i]) * np.float32(100))))
        word = ((i + 1) * 16777259 + (1 << 31)) % (1 << 32) - (1 << 31)
        rows[6].append(rounded(Fraction(word), "rz"))
        rows[7].append(rounded(Fraction(float(x[i]) * 1.0000001), "ru"))
    return np.concatenate([np.array(row, np.float32) for row in rows])


def whole(x, y):
    def signed(value, bits):
        value &= (1 << bits) - 1
        return value - (1 << bits) if value >> bits - 1 else value

    def parts(v, w, bits, function):
        mask = (1 << bits) - 1
        pieces = [(function(v >> s & mask, w >> s & mask) & mask) << s for s in range(0, 32, bits)]
        return sum(pieces)

    def divided(p, q):
        return abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)

    rows = [[] for _ in range(16)]
    for v, w in zip(x.tolist(), y.tolist()):
        w = (w + 1) & 0xFFFFFFFF
        wide = signed(v * 1234567891011 + w, 64)
        u = v & 0xFFFFFFFF
        bytes_of = (u | w << 32).to_bytes(8, "little")
        half = lambda value: signed(value, 16)
        dot = 5 + sum(signed(u >> s & 255, 8) * signed(w >> s & 255, 8) for s in (0, 8, 16, 24))
        reverse = int(f"{wide & (1 << 64) - 1:064b}"[::-1], 2)
        unsigned = wide & (1 << 64) - 1
        values = [
            divided(wide, w), wide - divided(wide, 1000003) * 1000003, v * 0x12345678 >> 32,
            unsigned * 0x123456789ABCDEF >> 64, (u << 7 | w >> 25) & 0xFFFFFFFF,
            int.from_bytes(bytes([bytes_of[0], bytes_of[4], bytes_of[1], bytes_of[5]]), "little"),
            signed(dot, 32), (abs(v - 3) + w) & 0xFFFFFFFF, parts(u, w, 8, lambda p, q: abs(p - q)),
            parts(u, w, 8, lambda p, q: p + q), signed(signed(u, 24) * 77, 32), reverse >> 13,
            (unsigned & -unsigned).bit_length() + 64 - unsigned.bit_length(),
            parts(u, w, 16, lambda p, q: max(half(p), half(q))), (v + signed(w, 32) + 1) >> 1,
            wide * wide >> 40,
        ]
        for row, value in zip(rows, values):
            row.append(signed(value, 64))
    return np.array(rows, np.int64).reshape(-1)


def cooperative():
    x = Buffer("i32", 64, "random")
    groups = x.array().reshape(8, 8)
    before = np.cumsum(groups, axis=1) - groups
    launch("cooperative", "tiles", ["x", "out"],
           {"x": x, "out": Buffer("i32", 64, expect=groups.sum(1, keepdims=True) * 1000 + before)}, block=64)
    x = Buffer("i32", 64, "random")
    kept = (x.array() % 3 == 0).sum()
    launch("cooperative", "coalesced", ["out", "x"], {"x": x, "out": Buffer("i32", 65, 0, may_differ=True)}, block=64)
    x = Buffer("i32", 200, "random", expect=Buffer("i32", 200, "random").array() * 2)
    launch("cooperative", "grid_wide", ["x", "total", 200],
           {"x": x, "total": Buffer("i32", 1, expect=[Buffer("i32", 200, "random").array().sum() * 2])},
           grid=3, block=64, cooperative=True)
    x = Buffer("f32", 1024, "random")
    tiles = x.array().astype(np.float64).reshape(4, 256)
    sums = [sum(tiles[t, (4 * i + k + 64) % 256] for t in range(4) for k in range(4)) for i in range(64)]
    launch("cooperative", "async_copies", ["x", "out", 1024],
           {"x": x, "out": Buffer("f32", 64, expect=sums, tolerance=1e-5)}, block=64)
    x = Buffer("i32", 128, "index")
    launch("cooperative", "group_copy", ["x", "out"],
           {"x": x, "out": Buffer("i32", 128, expect=x.array()[::-1])}, block=128, shared=512)
    values = np.arange(128)
    for _ in range(5):
        values = values + np.roll(values, -1)
    launch("cooperative", "barrier_phases", ["out", 5], {"out": Buffer("i32", 128, expect=values)}, block=128)
    launch("cooperative", "spin_lock", ["lock", "counter"],
           {"lock": Buffer("i32", 1, 0), "counter": Buffer("i32", 1, 0, expect=[6])}, grid=6, block=32)
    launch("cooperative", "hand_over", ["data", "flag", "out"],
           {"data": Buffer("i32", 1, 0), "flag": Buffer("i32", 1, 0), "out": Buffer("i32", 1, 0, expect=[42])},
           grid=2, block=32)
    x = Buffer("i32", 200, "random")
    launch("cooperative", "cluster_histogram", ["x", "out", 200],
           {"x": x, "out": Buffer("i32", 32, 0, expect=np.bincount(x.array() % 32, minlength=32))},
           grid=2, block=128, shared=64)


def tensor():
    a, b = Buffer("f16", 16 * 32, "random"), Buffer("f16", 16 * 32, "random", seed=1)
    product = a.array().reshape(16, 32).astype(np.float64) @ b.array().reshape(16, 32).astype(np.float64).T
    launch("tensor", "wmma_f16", ["a", "b", "c", 32],
           {"a": a, "b": b, "c": Buffer("f32", 256, expect=product, tolerance=1e-5)}, block=32)
    a, b = (Buffer("i8", 256, "random", range=(-100, 100), seed=seed) for seed in (0, 1))
    product = a.array().reshape(16, 16).astype(int) @ b.array().reshape(16, 16).astype(int) + 1
    launch("tensor", "wmma_i8", ["a", "b", "c"], {"a": a, "b": b, "c": Buffer("i32", 256, expect=product.T)}, block=32)
    a, b = Buffer("f16", 256, "random"), Buffer("f16", 128, "random", seed=1)
    product = a.array().reshape(16, 16).astype(np.float64) @ b.array().reshape(16, 8).astype(np.float64)
    launch("tensor", "mma_ldmatrix", ["a", "b", "c"],
           {"a": a, "b": b, "c": Buffer("f32", 128, expect=product, tolerance=1e-5)}, block=32)


def advanced():
    launch("advanced", "half_atomics", ["a", "b", "c", "d", "e", "f"],
           {"a": Buffer("f16", 2, 0, expect=[32, 64]), "b": Buffer("bf16", 2, 0, expect=[32, 64]),
            "c": Buffer("f16", 2, 0, expect=[16, 0]), "d": Buffer("u16", 2, 0, expect=[7, 0]),
            "e": Buffer("f32", 2, 0, expect=[32, 64]), "f": Buffer("f32", 4, 0, expect=[32, 64, 96, 128])}, block=32)
    x = Buffer("i32", 32, "random")
    v = x.array().astype(int)
    fives = v // 50
    same = fives.min() == fives.max()
    first = (v > 3).all() + 2 * (v > 3).any() + 4 * same + 8 * same
    counts = [sum(v % 3 == it % 3) for it in v]
    rows = [first + 16 * np.array(counts), [(v > 50).sum() + 100 + 1000 * (v > 98).any()] * 32,
            [v.max() + v.min() + np.bitwise_or.reduce(v)] * 32, v[np.arange(32) ^ 3] + 1000 * (np.arange(32) == 0)]
    launch("advanced", "votes", ["x", "out"], {"x": x, "out": Buffer("i32", 128, expect=np.concatenate(rows))}, block=32)
    launch("advanced", "spaces", ["out"], {"out": Buffer("i32", 3, expect=[1, 1, 1])})
    launch("advanced", "times", ["out"], {"out": Buffer("i64", 2)})
    launch("advanced", "asserts", ["out", 5], {"out": Buffer("i32", 1, expect=[5])})
    launch("advanced", "virtuals", ["out", 6], {"out": Buffer("i32", 8, expect=[42, 36] * 4)}, block=8)
    launch("advanced", "pointers", ["out", 10],
           {"out": Buffer("i32", 8, expect=[10 - i if i % 2 else 10 + i for i in range(8)])}, block=8)
    x = Buffer("i32", 4 * 32, "index")
    stored = x.array().reshape(32, 4)
    stored = np.stack([stored[:, 0] + stored[:, 1], stored[:, 2], stored[:, 3], np.zeros(32)], axis=1)
    launch("advanced", "caches", ["x", "out", "flag", "d"],
           {"x": x, "out": Buffer("i32", 4 * 32, expect=stored), "flag": Buffer("u8", 1, 0, expect=[1]),
            "d": Buffer("f64", 1, 0.5)}, block=32)
    x = Buffer("f32", 4 * 64, "index")
    launch("advanced", "pipelines", ["x", "out", 4],
           {"x": x, "out": Buffer("f32", 64, expect=x.array().reshape(4, 64).sum(0)[::-1])}, block=64)
    x = Buffer("i32", 256, "index")
    launch("advanced", "bulk", ["x", "out"], {"x": x, "out": Buffer("i32", 256, expect=x.array() + 1)}, block=256)


def cub():
    """CUB's collectives; nvcc compiles them from its headers: nvcc -ptx -I.../cccl cub.cu -o cub.ptx."""
    x = Buffer("i32", 128, "random")
    for name in ("reduce_raking", "reduce_commutative", "reduce_warps"):
        launch("cub", name, ["x", "out"], {"x": x, "out": Buffer("i32", 1, expect=[x.array().sum()])}, block=128)
    x = Buffer("i32", 512, "random")
    launch_of = lambda name, element, expect, given=x: launch(
        "cub", name, ["x", "out"], {"x": given, "out": Buffer(element, len(expect), expect=expect)}, block=128, schedules=4)
    launch_of("scan_raking", "i32", x.array().cumsum())
    launch_of("scan_warps", "i32", x.array().cumsum())
    launch_of("merge_sort", "i32", np.sort(x.array()))
    launch_of("exchange", "i32", x.array())
    launch_of("differences", "i32", np.diff(x.array(), prepend=0))
    coarse = Buffer("i32", 512, "random", range=(0, 3))
    launch_of("heads", "i32", (np.diff(coarse.array(), prepend=-1) != 0).astype(int), coarse)
    words = Buffer("u32", 512, "random", range=(0, 4e9))
    launch_of("radix_sort", "u32", np.sort(words.array()), words)
    small = Buffer("u8", 512, "random", range=(0, 64))
    for name in ("histogram_sort", "histogram_atomic"):
        launch_of(name, "u32", np.bincount(small.array(), minlength=64), small)
    reals = Buffer("f32", 128, "random")
    before = np.maximum.accumulate(np.pad(reals.array().reshape(8, 16), ((0, 0), (1, 0)), constant_values=-1.0)[:, :16], axis=1)
    launch_of("warp_scan", "f32", before.reshape(-1), reals)
    wide = Buffer("f64", 128, "index")
    launch_of("warp_reduce", "f64", wide.array().reshape(4, 32).sum(1), wide)
    values, lengths = Buffer("i32", 256, "random"), Buffer("u32", 256, "random", range=(1, 6), seed=1)
    decoded = np.repeat(values.array(), lengths.array())
    launch("cub", "run_lengths", ["values", "lengths", "out"],
           {"values": values, "lengths": lengths, "out": Buffer("i32", len(decoded), expect=decoded)}, block=128, schedules=4)
    launch_of("warp_merge_sort", "i32", np.sort(x.array().reshape(8, 64), axis=1).reshape(-1))
    launch_of("warp_exchange", "i32", x.array().reshape(32, 4, 4).swapaxes(1, 2).reshape(-1))
    launch_of("shuffles", "i32", np.concatenate([np.roll(x.array()[:128], -37), [0], x.array()[:-1]]))
    x = Buffer("i32", 128 * 6, "random")
    # Descriptors of tiles behind 32 that are none: 99 says that a tile is not ready.
    launch("cub", "init_state", ['[{ buffer = "words" }]', 6],
           {"words": Buffer("u64", 38, expect=np.array([0] * 32 + [99] * 6))}, block=128)
    launch("cub", "look_back", ["x", "out", "words", 6],
           {"x": x, "out": Buffer("i32", 128 * 6, expect=x.array().cumsum()), "words": Buffer("u64", 38, [0] * 32 + [99] * 6, may_differ=True)},
           grid=6, block=128)


if __name__ == "__main__":
    for part in (basic, functions, cooperative, tensor, advanced, cub):
        part()
