"""Compiles the kernels of this folder to PTX for compute capabilities 8.0 and 9.0, without a GPU.

    python compile.py FOLDER
"""

import pathlib
import sys

import kernels
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

F32, F16, I32, I8, BF16 = "*fp32", "*fp16", "*i32", "*i8", "*bf16"
KERNELS = [
    ("add", (F32, F32, F32, "i32"), dict(BLOCK=256)),
    ("softmax", (F32, F32, "i32", "i32"), dict(BLOCK=128)),
    ("matmul", (F16, F16, F16, "i32", "i32", "i32"), dict(BM=64, BN=64, BK=32)),
    ("layer_norm", (F32, F32, F32, F32, "i32", "fp32"), dict(BLOCK=128)),
    ("dropout", (F32, F32, "i32", "fp32", "i32"), dict(BLOCK=256)),
    ("attention", (F16, F16, F16, F16, "i32", "fp32"), dict(BM=64, BN=32, D=32)),
    ("cumsum", (I32, I32), dict(BLOCK=256)),
    ("gelu", (F32, F32, "i32"), dict(BLOCK=256)),
    ("argmax_rows", (F32, I32, "i32"), dict(BLOCK=128)),
    ("histogram", (I32, I32), dict(BLOCK=256, BINS=16)),
    ("atomic_sum", (F32, F32, "i32"), dict(BLOCK=128)),
    ("transpose", (F32, F32, "i32", "i32"), dict(B=32)),
    ("sort", (I32, I32), dict(BLOCK=128)),
    ("matmul_i8", (I8, I8, I32, "i32", "i32", "i32"), dict(BM=32, BN=32, BK=32)),
    ("rms_norm_bf16", (BF16, BF16, BF16, "i32", "fp32"), dict(BLOCK=128)),
]


def compiled(name, types, constants, capability):
    function = getattr(kernels, name)
    signature = dict(zip(function.arg_names, types)) | {it: "constexpr" for it in constants}
    # As the launcher specialises for aligned pointers and lengths that are multiples of 16.
    aligned = {(i,): [["tt.divisibility", 16]] for i, it in enumerate(types) if it[0] == "*" or it == "i32"}
    source = ASTSource(fn=function, signature=signature, constexprs=constants, attrs=aligned)
    return triton.compile(source, target=GPUTarget("cuda", capability, 32))


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    for capability in (80, 90):
        for name, types, constants in KERNELS:
            kernel = compiled(name, types, constants, capability)
            (folder / f"triton{capability}_{name}.ptx").write_text(kernel.asm["ptx"], encoding="utf-8")
            print(f"{name} {capability} {kernel.metadata.shared}")
