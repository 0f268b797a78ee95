"""Writes the suite: each kernel's PTX, and a launch file for it and for its twin.

    cargo build -p tilewright-defects --features cuda
    ../cuda/compile.sh ../../target/suite_of_cuda
    python3 generate.py --rust ../../target/debug/build/tilewright-defects-*/out/cuda_builder/kernels/ptx \\
        --cuda ../../target/suite_of_cuda

It packs them into suite.tar.xz beside this file. What is not given, of Rust or of CUDA C++, stays as it is there. With
--check it writes nothing, and fails if the archive has other files.
"""

import argparse
import io
import pathlib
import re
import sys
import tarfile

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCES = FOLDER.parent / "src"
CUDA = FOLDER.parent / "cuda"
ARCHIVE = FOLDER / "suite.tar.xz"
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


def launch(ptx, file, name, shape, kinds, comment, memory):
    blocks, threads = re.findall(r"\w+", shape)
    threads = {"THREADS": "128"}.get(threads, threads)
    cluster = re.search(r"\.reqnctapercluster (\d+)", ptx)
    lines = [f"# {comment}", f'ptx = "{file}.ptx"', f'entry = "{name}"', f"grid = {blocks}", f"block = {threads}"]
    lines += [f"cluster = {cluster[1]}"] if cluster else []
    lines += ["schedules = 32", "strict = true"]
    lines += [f"finding = [{', '.join(kinds)}]"] if kinds else []
    return "\n".join(lines) + "\n" + memory


def mistakes():
    """The group, buffers and names of each mistake, the launch's shape, what is found, and what the mistake is."""
    texts = dict(re.findall(r"(\w+) = \"([\w ]+)\"", KINDS.read_text().split("impl DefectKind")[0]))
    for table, memory in (("table.rs", ASYNCHRONOUS), ("public_table.rs", PUBLIC)):
        text = re.sub(r"///.*", "", (SOURCES / table).read_text())
        constants = shapes(text)
        group = "public" if memory is PUBLIC else "asynchronous"
        for _, name, twin, shape, kinds, _, comment, source in ROW.findall(text):
            shape = constants.get(shape, shape)
            kinds = [f'"{texts[kind]}"' for kind in kinds.split()]
            comment = " ".join(comment.split())
            comment = f"{comment} ({source})" if source else comment
            kinds += ELSEWHERE.get(name, [])
            yield group, memory, (name, kinds, comment), (twin, [], f"without the mistake of {name}"), shape


def from_rust(ptx_folder):
    for group, memory, *both, shape in mistakes():
        for kernel, kinds, comment in both if both[0][0] not in REMOVED else ():
            ptx = (ptx_folder / f"{kernel}.sm_90a.ptx").read_text()
            ptx = "\n".join(line for line in ptx.splitlines() if "__signature_of_" not in line) + "\n"
            yield f"{group}/{kernel}.ptx", ptx
            yield f"{group}/{kernel}.toml", launch(ptx, kernel, kernel, shape, kinds, comment, memory)


def from_cuda(ptx_folder):
    sources = {it.name: it.read_text() for it in sorted([*CUDA.glob("*.cu"), *CUDA.glob("*.cuh")])}
    for name, text in sources.items():
        yield f"cuda/{name}", text
    texts = {it.stem: it.read_text() for it in sorted(ptx_folder.glob("*.ptx"))}
    for file, ptx in texts.items():
        yield f"cuda/{file}.ptx", ptx
    file_of = {name: file for file in texts for name in re.findall(r"(?m)^DEFECT\((\w+)", sources[f"{file}.cu"])}
    for _, memory, *both, shape in mistakes():
        # Pointers alone, without lengths.
        memory = re.sub(r"(\"\w+\"), \d+", r"\1", memory)
        for kernel, kinds, comment in both:
            file = file_of[both[0][0]]
            yield f"cuda/{kernel}.toml", launch(texts[file], file, kernel, shape, kinds, comment, memory)


def packed(group):
    """What the archive has of these folders."""
    with tarfile.open(ARCHIVE) as archive:
        for entry in archive.getmembers():
            name = entry.name.removeprefix("suite/")
            if name.split("/")[0] in group:
                yield name, archive.extractfile(entry).read().decode()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rust", type=pathlib.Path)
    parser.add_argument("--cuda", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    files = [*(from_rust(given.rust) if given.rust else packed(["asynchronous", "public"]))]
    files += from_cuda(given.cuda) if given.cuda else packed(["cuda"])
    if given.check:
        kept = dict(packed(["asynchronous", "public", "cuda"]))
        made = dict(files)
        differing = [name for name in sorted(kept | made) if kept.get(name) != made.get(name)]
        sys.exit(f"{ARCHIVE} is stale: {', '.join(differing)}" if differing else None)
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        for name, text in files:
            data = text.encode()
            entry = tarfile.TarInfo(f"suite/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    print(f"{sum(name.endswith('.toml') for name, _ in files)} launches")


if __name__ == "__main__":
    main()
