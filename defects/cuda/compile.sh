#!/bin/sh
# Compiles the kernels with nvcc, which needs no GPU, to PTX in the folder FOLDER:
#
#     python3 -m venv VENV && VENV/bin/pip install nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-cuda-cccl
#     PATH=$(echo VENV/lib/python3*/site-packages/nvidia/cu13/bin):$PATH defects/cuda/compile.sh FOLDER
set -e
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")"
include=$(dirname "$(command -v nvcc)")/../include/cccl
for source in *.cu; do
    architecture=$(sed -n 's|^// For \(sm_[0-9a-z]*\)\.$|\1|p' "$source")
    ptx=$folder/${source%.cu}.ptx
    nvcc -ptx -std=c++17 -arch="${architecture:-sm_75}" -lineinfo -I"$include" "$source" -o "$ptx"
    # Older drivers read it, too, if it has the version that its instructions need. What lines are inlined into takes
    # half of the text.
    sed -i 's|^\(.*\.file.*"\).*/|\1|; s|^\.version .*|.version 8.3|; s|\(\.loc.*\), function_name.*|\1|
        /\.section.*\.debug_str/,/^[[:space:]]*}/d; /^[[:space:]]*\(\/\/.*\)*$/{/^\/\//!d}' "$ptx"
done
