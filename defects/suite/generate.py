"""Writes the suite: each kernel's PTX, and a launch file for it and for its twin.

    cargo build -p tilewright-defects --features cuda
    python3 defects/suite/generate.py target/debug/build/tilewright-defects-*/out/cuda_builder/ptx

It packs them into suite.tar.xz beside this file.
"""

import io
import pathlib
import re
import sys
import tarfile

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCES = FOLDER.parent / "src"
KINDS = FOLDER.parent.parent / "crates/simt/src/basics/defect_kind.rs"

ROW = re.compile(
    r"(\w+)::(\w+) and (\w+), (\(.*?\)|\w+),\s*\[([\w ]+)\] \"(.*?)\",\s*\"([^\"]*)\"(?:,\s*\"([^\"]*)\")?;", re.S
)

# The compiler has moved the access behind the comparison, or has made it one that is aligned.
REMOVED = ["load_without_the_mask", "read_before_the_comparison", "vectors_behind_the_sums"]

# PTX has no bounds of views: the kernel reads memory of its block that nothing has written.
ELSEWHERE = {"more_sums_than_there_are": ['"read of uninitialised memory"']}

ASYNCHRONOUS = """shared = 20528
arguments = [{ tensor_map = "tiles", sizes = [64, 64], box = [64, 64], swizzle = 128 }, "source", 1024, "out", 1024]

[buffers.tiles]
type = "bf16"
length = 4096
fill = 0

[buffers.source]
type = "u32"
length = 1024
fill = 0

[buffers.out]
type = "u32"
length = 1024
fill = 0
may_differ = true
"""

PUBLIC = """shared = 1024
arguments = ["input", 256, "data", 256, "out", 256]

[buffers.input]
type = "u32"
length = 256
fill = 1

[buffers.data]
type = "u32"
length = 256
fill = 0
may_differ = true

[buffers.out]
type = "u32"
length = 256
may_differ = true
"""


def shapes(text):
    """Constants such as `const ONE: (u32, u32) = (1, THREADS);`."""
    found = re.findall(r"const (\w+): \(u32, u32\) = (\(.*?\));", text)
    return dict(found)


def launch(ptx, name, shape, kinds, comment, memory):
    blocks, threads = re.findall(r"\w+", shape)
    threads = {"THREADS": "128"}.get(threads, threads)
    cluster = re.search(r"\.reqnctapercluster (\d+)", ptx)
    lines = [f"# {comment}", f'ptx = "{name}.ptx"', f'entry = "{name}"', f"grid = {blocks}", f"block = {threads}"]
    lines += [f"cluster = {cluster[1]}"] if cluster else []
    lines += ["schedules = 32", "strict = true"]
    lines += [f"finding = [{', '.join(kinds)}]"] if kinds else []
    return "\n".join(lines) + "\n" + memory


def files(ptx_folder):
    texts = dict(re.findall(r"Self::(\w+) => \"([\w ]+)\"", KINDS.read_text().split("impl DefectKind")[0]))
    for table, memory in (("table.rs", ASYNCHRONOUS), ("public_table.rs", PUBLIC)):
        text = re.sub(r"///.*", "", (SOURCES / table).read_text())
        constants = shapes(text)
        rows = ROW.findall(text)
        group = "public" if memory is PUBLIC else "asynchronous"
        for _, name, twin, shape, kinds, _, comment, source in rows:
            shape = constants.get(shape, shape)
            named = [f'"{texts[kind]}"' for kind in kinds.split()]
            comment = " ".join(comment.split())
            comment = f"{comment} ({source})" if source else comment
            if name in REMOVED:
                continue
            named += ELSEWHERE.get(name, [])
            for kernel, findings, about in ((name, named, comment), (twin, [], f"without the mistake of {name}")):
                ptx = (ptx_folder / f"{kernel}.sm_90a.ptx").read_text()
                ptx = "\n".join(line for line in ptx.splitlines() if "__signature_of_" not in line) + "\n"
                yield f"{group}/{kernel}.ptx", ptx
                yield f"{group}/{kernel}.toml", launch(ptx, kernel, shape, findings, about, memory)


def main():
    count = 0
    with tarfile.open(FOLDER / "suite.tar.xz", "w:xz", preset=9) as archive:
        for name, text in files(pathlib.Path(sys.argv[1])):
            data = text.encode()
            entry = tarfile.TarInfo(f"suite/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
            count += name.endswith(".toml")
    print(f"{count} launches")


if __name__ == "__main__":
    main()
