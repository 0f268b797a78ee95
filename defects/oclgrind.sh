#!/bin/bash
# Runs each kernel of `defects/opencl/launches.csv`, and each twin, in Oclgrind, in a process of its own, and prints
# a line for each: KERNEL,oclgrind,OUTCOME,WHAT WAS SAID. What cannot be written in OpenCL C has what it lacks.
#
#     defects/oclgrind.sh > defects/oclgrind.csv
#
# With names of kernels it runs these alone.
#
# A process that has not ended after LIMIT seconds hangs. BUILD are options of the compiler. Without optimisation
# each access is where the text has it; with an empty BUILD, Oclgrind's default, the compiler moves two reads past
# the end behind a comparison.
set -u
cd "$(dirname "$0")/opencl" || exit
OCLGRIND=${OCLGRIND:-oclgrind-kernel} LIMIT=${LIMIT:-15} BUILD=${BUILD--cl-opt-disable}
command -v "$OCLGRIND" > /dev/null || { echo "there is no $OCLGRIND" >&2; exit 1; }
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT

# A launch as oclgrind-kernel reads it: FILE KERNEL BLOCKS THREADS. The buffers are those of `launch_public` in
# `src/lib.rs`, of ELEMENTS words: ones, zeros, what nothing has written, and local memory.
launch() {
    local bytes=1024
    echo "$1 $2"
    echo "$(($3 * $4)) 1 1"
    echo "$4 1 1"
    echo "<size=$bytes uint fill=1>"
    echo "<size=$bytes uint fill=0>"
    echo "<size=$bytes uint noinit>"
    echo "<size=$bytes>"
}

# One run: KERNEL FILE BLOCKS THREADS STANDARD [-DTWIN].
measure() {
    local name=$1 file=$2 standard=$5 twin=${6:-} log=$SCRATCH/log outcome said status
    launch "$file" "$name" "$3" "$4" > "$SCRATCH/launch.sim"
    timeout --kill-after=5 "$LIMIT" "$OCLGRIND" --num-threads 1 --data-races --uniform-writes --uninitialized \
        --build-options "-I . -cl-std=$standard $BUILD $twin" "$SCRATCH/launch.sim" > "$log" 2>&1 < /dev/null
    status=$?
    # A report is a sentence above the name of the kernel.
    said=$(grep -m1 -B1 $'^\tKernel: ' "$log" | head -n 1)
    if [ -n "$said" ]; then
        outcome=found
    elif [ $status -eq 124 ] || [ $status -eq 137 ]; then
        outcome=hangs
    elif [ $status -ne 0 ] || grep -qvE '^([0-9]+ warnings? generated\.)?$' "$log"; then
        # What Oclgrind could not do stands below the place in its own text where that is.
        outcome=fails said=$(grep -m1 -A1 -E 'FATAL ERROR|Build failure' "$log" | tail -n 1)
        said=${said:-"exit status $status: $(tail -n 1 "$log")"}
    else
        outcome=nothing
    fi
    echo "$name${twin:+_twin},oclgrind,$outcome,$said"
}

echo "kernel,tool,outcome,said"
tail -n +2 launches.csv | while IFS=, read -r name file blocks threads standard lacks; do
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    if [ "$file" = - ]; then
        echo "$name,oclgrind,unwritable,$lacks"
        echo "${name}_twin,oclgrind,unwritable,$lacks"
    else
        measure "$name" "$file" "$blocks" "$threads" "$standard"
        measure "$name" "$file" "$blocks" "$threads" "$standard" -DTWIN
    fi
done | sort
