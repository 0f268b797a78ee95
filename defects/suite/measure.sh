#!/bin/sh
# Runs compute-sanitizer's tools on each launch of the suite, and prints a line of CSV for each:
# kernel, tool, outcome. It needs a GPU of compute capability 9.0 and the CUDA toolkit.
#
#     tar -xf suite.tar.xz && ./measure.sh suite > sanitizer.csv
launcher="$(dirname "$0")/../../crates/check/examples/launch.py"
echo kernel,tool,outcome
for file in "$1"/*/*.toml; do
    for tool in none memcheck racecheck synccheck initcheck; do
        case $tool in
        none) command= ;;
        *) command="compute-sanitizer --tool $tool --error-exitcode 9" ;;
        esac
        timeout -s KILL 15 $command python3 "$launcher" "$file" >/dev/null 2>&1
        case $? in
        0 | 1) outcome=nothing ;;
        9) outcome=found ;;
        137) outcome=hangs ;;
        *) outcome=fails ;;
        esac
        echo "$(basename "$file" .toml),$tool,$outcome"
    done
done
