#!/bin/bash
# Runs each kernel of `defects`, and each twin, without a tool and with each tool of compute-sanitizer, in a
# process of its own, and prints a line for each: KERNEL,TOOL,OUTCOME,WHAT WAS SAID.
#
#     defects/measure.sh PROGRAM > defects/h200.csv
#
# With names of kernels behind the program it runs these alone.
#
# JOBS processes run at a time; one that has not ended after LIMIT seconds hangs.
set -u
export PROGRAM=${1:?"usage: defects/measure.sh PROGRAM [KERNEL...]"}
shift
export SANITIZER=${SANITIZER:-compute-sanitizer} LIMIT=${LIMIT:-15}
JOBS=${JOBS:-12}
export NO_REPORT='COMPUTE-SANITIZER|Program hit|Target application|Saved host|Internal Sanitizer'
NO_REPORT+='|Error: (process|Target|No attachable)|[A-Z]+ SUMMARY'

# One run: KERNEL [--twin] TOOL.
measure() {
    local name=$1 twin=$2 tool=$3 log outcome said status run=()
    log=$(mktemp)
    [ "$tool" = none ] || run=("$SANITIZER" --tool "$tool")
    [ "$twin" = "-" ] && twin=
    timeout --signal=INT --kill-after=5 "$LIMIT" "${run[@]}" "$PROGRAM" "$name" $twin --device cuda \
        > "$log" 2>&1 < /dev/null
    status=$?
    # The tool's first report. What the driver returned, how the program ended and sums are none.
    said=$(grep -E '^========= [A-Z]' "$log" | grep -m1 -vE "^========= ($NO_REPORT)")
    if [ -n "$said" ]; then
        outcome=found
    elif [ $status -eq 124 ] || [ $status -eq 137 ]; then
        outcome=hangs said=
    elif grep -q '^error: ' "$log"; then
        outcome=fails said=$(grep -m1 '^error: ' "$log")
    elif grep -q '^the launch has ended' "$log"; then
        outcome=nothing said=
    else
        outcome=fails said="exit status $status: $(tail -n 1 "$log")"
    fi
    echo "$name${twin:+_twin},$tool,$outcome,${said#========= }"
    rm -f "$log"
}
export -f measure

echo "kernel,tool,outcome,said"
if [ $# -gt 0 ]; then printf '%s\n' "$@"; else "$PROGRAM" --list; fi | while read -r name; do
    for tool in none memcheck racecheck synccheck initcheck; do
        echo "$name - $tool"
        echo "$name --twin $tool"
    done
done | xargs -P "$JOBS" -L 1 bash -c 'measure "$@"' measure | sort
