#!/usr/bin/env bash
# Runs the programs of this folder; made by `cargo xtask bundle`.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() {
    cat <<'TEXT'
Usage: ./run.sh COMMAND [ARGUMENTS]

Commands:
  test [FILTER]      the tests (with the name FILTER), a line for each program
  sanitize [FILTER]  the tests of sums and products under the tools of compute-sanitizer: memcheck,
                     racecheck, initcheck and synccheck
  compare [OPTIONS]  copies, reductions and scans, and those of CUB and torch, as a table and as JSON;
                     see compare --help
  products [OPTIONS] matmul, cuBLAS and cuBLASLt, each warmed up by itself, as a table and as JSON;
                     see products --help
  calls [OPTIONS]    what calls cost the host, and the time to a process's first answers, as tables
                     and as JSON; see calls --help
  streams [OPTIONS]  streams, graphs, copies and host data, as tables; see streams --help
  groups [OPTIONS]   sums and products on all devices and on the first of them, and torch with NCCL, as a
                     table and as JSON; see groups --help
  ladder [NAME...]   the ladders, one after the other, as tables, charts and pages
  bench [OPTIONS]    the benchmarks under criterion, with criterion's options
  all                test, sanitize and compare

Variables:
  OUT                where logs and results go [default: out/ beside this script]
  TIMEOUT            seconds for one program [default: 300; for sanitize and bench 540]
  TILEWRIGHT_DEVICE  the device: sim, cuda, cuda:N [default: cuda]
  TILEWRIGHT_RIVALS  a folder with the compiled rivals [default: rivals/ beside this script, if it is there; without
                     one, nvcc compiles them]
  TILEWRIGHT_CCCL    a folder with the headers of CCCL 3.1 or later, for CUB's segments of one size and
                     reproducible sums [default: those of nvcc]
TEXT
}

# Programs find their own kind of path relative to the script, whatever the caller's folder is.
out=${OUT:-$here/out}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
if [ -s "$here/commit" ]; then
    TILEWRIGHT_COMMIT=$(cat "$here/commit")
    export TILEWRIGHT_COMMIT
fi

if [ -d "$here/rivals" ]; then
    export TILEWRIGHT_RIVALS=${TILEWRIGHT_RIVALS:-$here/rivals}
fi

# On a GPU machine: without a driver that is an error, not a run on the simulator.
export TILEWRIGHT_DEVICE=${TILEWRIGHT_DEVICE:-cuda}

# Tests of one package run in its folder, as cargo does it.
enter_package() {
    export CARGO_MANIFEST_DIR="$here/packages/${1%%.*}"
    cd "$CARGO_MANIFEST_DIR" || exit 1
}

# run_logged SECONDS LOG COMMAND...: prints nothing, and the program's status is the result.
run_logged() {
    local seconds=$1 log=$2
    shift 2
    timeout --kill-after=10 "$seconds" "$@" >"$log" 2>&1
}

# report NAME STATUS SECONDS LOG: one line, and the end of the log after a failure.
report() {
    local name=$1 status=$2 seconds=$3 log=$4 detail
    if [ "$status" -eq 0 ]; then
        detail=$(sed -n 's/^test result: ok\. //p; s/^=* *\([A-Z]* SUMMARY\)/\1/p' "$log" | paste -sd ' ')
        echo "PASSED  $name (${seconds} s) $detail"
        grep -h '^skipped' "$log" | sort | uniq -c | sed 's/^ */          /'
        passed=$((passed + 1))
        return
    fi
    case $status in
        124 | 137) detail="ran out of time" ;;
        *) detail="status $status" ;;
    esac
    echo "FAILED  $name (${seconds} s): $detail; the end of $log:"
    tail -n 40 "$log" | sed 's/^/        | /'
    failed=$((failed + 1))
}

summary() {
    echo "$1: $passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}

run_tests() {
    local program name start
    passed=0 failed=0 skipped=0
    mkdir -p "$out/test"
    for program in "$here"/tests/*; do
        name=$(basename "$program") start=$SECONDS
        (enter_package "$name" && run_logged "${TIMEOUT:-300}" "$out/test/$name.log" "$program" "$@")
        report "$name" $? $((SECONDS - start)) "$out/test/$name.log"
    done
    while read -r line; do
        echo "SKIPPED $line"
        skipped=$((skipped + 1))
    done <"$here/left-out"
    summary test
}

find_sanitizer() {
    command -v compute-sanitizer && return
    local candidate
    for candidate in /usr/local/cuda/bin/compute-sanitizer \
        /usr/local/cuda/compute-sanitizer/compute-sanitizer; do
        [ -x "$candidate" ] && echo "$candidate" && return
    done
    return 1
}

run_sanitizer() {
    local sanitizer tool program name log start
    if ! sanitizer=$(find_sanitizer); then
        echo "skipped: no compute-sanitizer"
        return 0
    fi
    passed=0 failed=0 skipped=0
    mkdir -p "$out/sanitize"
    for tool in memcheck racecheck initcheck synccheck; do
        for program in "$here"/tests/tilewright.{reduce,matmul}*; do
            [ -x "$program" ] || continue
            name=$(basename "$program") log="$out/sanitize/$tool.$name.log" start=$SECONDS
            (enter_package "$name" && run_logged "${TIMEOUT:-540}" "$log" \
                "$sanitizer" --tool "$tool" --error-exitcode 1 "$program" "$@")
            report "$tool $name" $? $((SECONDS - start)) "$log"
        done
    done
    summary sanitize
}

run_compare() {
    (cd "$out" && "$here/benches/compare" --out compare.json "$@")
}

run_products() {
    (cd "$out" && "$here/benches/products" --out products.json "$@")
}

run_groups() {
    (cd "$out" && "$here/benches/groups" --out groups.json "$@")
}

run_streams() {
    "$here/benches/streams" "$@"
}

run_calls() {
    (cd "$out" && "$here/benches/calls" --out calls.json "$@") || return 1
    time_quickstart
}

# Whole runs of the program quickstart: three with an empty cache of the driver's, and then three with
# the last one's.
time_quickstart() {
    local cache kind start
    cache=$(mktemp -d) || return 1
    echo "quickstart, from start to end:"
    for kind in empty empty empty full full full; do
        [ $kind = full ] || rm -rf "${cache:?}"/*
        start=${EPOCHREALTIME/./}
        CUDA_CACHE_PATH=$cache "$here/programs/quickstart" >"$out/quickstart.txt" || return 1
        echo "  $kind cache: $(((${EPOCHREALTIME/./} - start) / 1000)) ms"
    done
    rm -r "$cache"
}

# run_ladders NAME...: all of them where none is named.
run_ladders() {
    local name start
    [ $# -gt 0 ] || set -- sum product prefetch memory histogram
    mkdir -p "$out/ladder"
    passed=0 failed=0
    for name in "$@"; do
        start=$SECONDS
        (cd "$out/ladder" && timeout --kill-after=10 "${TIMEOUT:-300}" "$here/programs/ladder" \
            "$name" --json "$name.json" --markdown "$name.md" --html "$name.html" --charts charts \
            >"$name.txt" 2>"$name.log")
        report "ladder $name" $? $((SECONDS - start)) "$out/ladder/$name.log"
        cat "$out/ladder/$name.txt"
    done
    [ "$failed" -eq 0 ]
}

run_benches() {
    local bench status=0
    for bench in sum matmul; do
        # In its own folder: criterion keeps its results below it.
        (cd "$out" && CRITERION_HOME="$out/criterion" \
            timeout --kill-after=10 "${TIMEOUT:-540}" "$here/benches/$bench" --bench "$@") || status=1
    done
    return $status
}

run_all() {
    local status=0
    run_tests || status=1
    run_sanitizer || status=1
    run_compare || status=1
    return $status
}

command=${1:-help}
[ $# -gt 0 ] && shift
case $command in
    test) run_tests "$@" ;;
    sanitize) run_sanitizer "$@" ;;
    compare) run_compare "$@" ;;
    products) run_products "$@" ;;
    streams) run_streams "$@" ;;
    groups) run_groups "$@" ;;
    calls) run_calls "$@" ;;
    ladder) run_ladders "$@" ;;
    bench) run_benches "$@" ;;
    all) run_all ;;
    help | -h | --help) usage ;;
    *)
        usage >&2
        exit 2
        ;;
esac
