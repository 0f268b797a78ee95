#!/usr/bin/env python3
"""Runs compute-sanitizer's tools on launch files, and counts what they find.

    tar -xf suite.tar.xz
    python3 measure.py suite ../../crates/check/examples/races > sanitizer.csv

It needs a GPU of compute capability 9.0, NVIDIA's driver and the CUDA toolkit. A launch with `finding` is a mistake, one
without is a twin. Each runs in a process of its own with each tool and with none. It prints a line of CSV for each,
LAUNCH,IS A MISTAKE,TOOL,OUTCOME,WHAT WAS SAID, and a table to the standard error.

Outcomes: `found`, a report of the tool; `nothing`; `fails`, an error of the driver alone; `hangs`, not ended after
LIMIT seconds; `not run`, if BUDGET seconds had gone. JOBS processes run at a time; TOOLS are those to run.
"""

import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parent
LAUNCHER = os.environ.get("LAUNCHER", FOLDER.parent.parent / "crates/check/examples/launch.py")
SANITIZER = os.environ.get("SANITIZER", "compute-sanitizer")
LIMIT = float(os.environ.get("LIMIT", 12))
BUDGET = float(os.environ.get("BUDGET", 1e9))
JOBS = int(os.environ.get("JOBS", os.cpu_count()))
TOOLS = os.environ.get("TOOLS", "none memcheck racecheck synccheck initcheck").split()
OUTCOMES = ["found", "nothing", "fails", "hangs", "not run"]

# Lines of a tool that begin like a report: what the driver returned, how the program ended, and sums.
NO_REPORT = re.compile(
    r"COMPUTE-SANITIZER|Program hit|Target application|Saved host|Internal Sanitizer"
    r"|Error: (process|Target|No attachable)|[A-Z]+ SUMMARY"
)
REPORT = re.compile(r"^========= ([A-Z].*)", re.M)


def run(command):
    """The exit code, or none after the time limit, and the output."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=LIMIT)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        code = None
    return code, output.decode(errors="replace")


def measure(launch, tool, began):
    """The outcome of a launch with a tool, and what was said."""
    if time.time() - began > BUDGET:
        return "not run", ""
    command = [sys.executable, str(LAUNCHER), str(launch)]
    if tool != "none":
        command = [SANITIZER, "--tool", tool, *command]
    code, output = run(command)
    reports = [it for it in REPORT.findall(output) if not NO_REPORT.match(it)]
    if reports:
        return "found", reports[0]
    if code is None:
        return "hangs", ""
    # launch.py ends with 1 for another result, and Python for an exception.
    if code in (0, 1) and "Traceback" not in output and "Internal Sanitizer" not in output:
        return "nothing", ""
    return "fails", (output.strip().splitlines() or [f"exit code {code}"])[-1]


def launches(folders):
    files = sorted(file for folder in folders for file in pathlib.Path(folder).rglob("*.toml"))
    return [(file, re.search("^finding *=", file.read_text(), re.M) is not None) for file in files]


def table(rows):
    """Lines with the number of mistakes and of twins for each tool and outcome, and what any tool found."""
    yield "| tool | mistakes: " + " | ".join(OUTCOMES) + " | twins: " + " | ".join(OUTCOMES) + " |"
    for tool in TOOLS:
        counts = [
            sum(it[1] == is_mistake and it[2] == tool and it[3] == outcome for it in rows)
            for is_mistake in (True, False)
            for outcome in OUTCOMES
        ]
        yield f"| {tool} | " + " | ".join(map(str, counts)) + " |"
    found = {it[0] for it in rows if it[1] and it[3] == "found"}
    false = {it[0] for it in rows if not it[1] and it[3] == "found"}
    mistakes, twins = ({it[0] for it in rows if it[1] == kind} for kind in (True, False))
    yield f"any tool: {len(found)} of {len(mistakes)} mistakes; a report in {len(false)} of {len(twins)} twins"


def main():
    began = time.time()
    tasks = [(*launch, tool) for launch in launches(sys.argv[1:]) for tool in TOOLS]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        outcomes = list(pool.map(lambda it: measure(it[0], it[2], began), tasks))
    rows = [(file.stem, is_mistake, tool, *it) for (file, is_mistake, tool), it in zip(tasks, outcomes)]
    print("launch,mistake,tool,outcome,said")
    for name, is_mistake, tool, outcome, said in rows:
        print(f"{name},{'yes' if is_mistake else 'no'},{tool},{outcome},{said.replace(',', ';')}")
    print("\n".join(table(rows)), f"\n{time.time() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
