#!/usr/bin/env python3
"""Runs compute-sanitizer's tools on launch files, and counts what they find.

    tar -xf suite.tar.xz
    python3 measure.py suite ../../crates/check/examples/races > sanitizer.csv

It needs a GPU of compute capability 9.0, NVIDIA's driver and the CUDA toolkit. A launch with `finding` is a mistake, one
without is a twin. Each runs with each tool and with none: twins eight to a process, and again each in a process of its
own if anything is said; mistakes each in its own. A kernel that hangs slows all others on the GPU, so those that may
hang run last, and twins that hang run again, alone.

It prints a line of CSV for each launch and tool as soon as it is measured, LAUNCH,IS A MISTAKE,TOOL,OUTCOME,WHAT WAS
SAID, of which a later one replaces an earlier one, and at the end a table to the standard error. Outcomes: `found`, a report of the tool; `nothing`; `fails`, an error of the driver alone; `hangs`, not
ended HANG seconds after its launch or LIMIT seconds after the start of its process; `not run`, if BUDGET seconds had
gone. JOBS processes run at a time; TOOLS are those to run.

    EARLIER=sanitizer.csv python3 measure.py FOLDER... > all.csv

goes on where an earlier call has ended: it runs what that file lacks, with twins that hung and launches that hung with
some tools alone, and prints both. BUDGET=0 prints the table of a file.
"""

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

FOLDER = pathlib.Path(__file__).resolve().parent
LAUNCHER = os.environ.get("LAUNCHER", FOLDER.parent.parent / "crates/check/examples/launch.py")
SANITIZER = os.environ.get("SANITIZER", "compute-sanitizer")
HANG = os.environ.get("HANG", "4")
LIMIT = float(os.environ.get("LIMIT", 25))
BUDGET = float(os.environ.get("BUDGET", 1e9))
JOBS = int(os.environ.get("JOBS", os.cpu_count()))
TOOLS = os.environ.get("TOOLS", "none memcheck racecheck synccheck initcheck").split()
EARLIER = os.environ.get("EARLIER")
OUTCOMES = ["found", "nothing", "fails", "hangs", "not run"]
NOT_RUN = "not run", ""
HEAD = "launch,mistake,tool,outcome,said"
# Twins of a process.
TOGETHER = 8
# The driver does not read the version of the PTX.
UNREAD = "cuModuleLoadData: error 222"

# Lines of a tool that begin like a report: what the driver returned, how the program ended, what the launcher reads of
# a buffer that the kernel has written in part, and sums.
NO_REPORT = re.compile(
    r"COMPUTE-SANITIZER|Program hit|Target application|Saved host|Internal Sanitizer|Host API memory access"
    r"|Error: (process|Target|No attachable)|[A-Z]+ SUMMARY"
)
REPORT = re.compile(r"^========= ([A-Z].*)", re.M)
PRINTS = threading.Lock()
MAY_HANG = re.compile("deadlock|divergent block barrier|misused mbarrier")


@dataclasses.dataclass(frozen=True)
class Task:
    """A launch to run with a tool."""

    file: pathlib.Path
    # What `tilewright-check` finds in it; a twin has none.
    findings: str
    tool: str

    @property
    def is_mistake(self):
        return self.findings != ""

    @property
    def key(self):
        return self.file.stem, self.tool


def tasks(folders):
    files = sorted(file for folder in folders for file in pathlib.Path(folder).rglob("*.toml"))
    for file in files:
        finding = re.search("^finding *=(.*)", file.read_text(), re.M)
        for tool in TOOLS:
            yield Task(file, finding[1] if finding else "", tool)


def run(command):
    """The exit code, or none after the time limit, and the output."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, "HANG": HANG},
    )
    try:
        output, _ = process.communicate(timeout=LIMIT)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        code = None
    return code, output.decode(errors="replace")


def measure(files, tool, end):
    """The outcome of launches of a process with a tool, and what was said."""
    if time.time() > end:
        return NOT_RUN
    command = [sys.executable, str(LAUNCHER), *map(str, files)]
    if tool != "none":
        command = [SANITIZER, "--tool", tool, *command]
    code, output = run(command)
    reports = [it for it in REPORT.findall(output) if not NO_REPORT.match(it)]
    if reports:
        return "found", reports[0]
    if code is None or re.search("^hangs$", output, re.M):
        return "hangs", ""
    # launch.py ends with 1 for another result, and Python for an exception.
    if code in (0, 1) and "Traceback" not in output and "Internal Sanitizer" not in output:
        return "nothing", ""
    errors = re.findall(r"^cu\w+: error \d+", output, re.M)
    return "fails", (errors or output.strip().splitlines() or [f"exit code {code}"])[-1]


def earlier():
    """The outcomes of an earlier call: of a launch and a tool what it was, and what was said."""
    if not EARLIER:
        return {}
    rows = [line.split(",", 4) for line in pathlib.Path(EARLIER).read_text().splitlines()[1:]]
    found = {(name, tool): (outcome, said) for name, _, tool, outcome, said in rows if outcome != NOT_RUN[0]}
    for key, (outcome, said) in found.items():
        if outcome == "found" and NO_REPORT.match(said):
            found[key] = "nothing", ""
    return found


def is_left(task, outcomes):
    outcome, said = outcomes.get(task.key, NOT_RUN)
    of_tools = [outcomes.get((task.file.stem, tool), NOT_RUN) for tool in TOOLS]
    hangs = [it[0] == "hangs" for it in of_tools]
    is_unread = outcome == "fails" and any(UNREAD in it[1] for it in of_tools)
    is_odd = outcome == "hangs" and not (task.is_mistake and all(hangs))
    return outcome == "not run" or is_unread or is_odd


def groups(twins):
    """Twins of one tool, some at a time."""
    for tool in TOOLS:
        of_tool = [it for it in twins if it.tool == tool]
        yield from (of_tool[start : start + TOGETHER] for start in range(0, len(of_tool), TOGETHER))


def show(task, outcome, said):
    name, tool = task.key
    line = f"{name},{'yes' if task.is_mistake else 'no'},{tool},{outcome},{said.replace(',', ';')}"
    with PRINTS:
        print(line, flush=True)


def measure_all(left, outcomes, end):
    """Sets and prints the outcomes of tasks."""
    hung = {key[0] for key, it in outcomes.items() if it[0] == "hangs"}

    def note(task, outcome):
        if outcome[0] != "not run":
            outcomes[task.key] = outcome
            show(task, *outcome)

    def one(task):
        note(task, measure([task.file], task.tool, end))

    def together(group):
        """The twins that have to run again."""
        outcome = measure([it.file for it in group], group[0].tool, end)
        if outcome[0] not in ("nothing", "not run"):
            return group
        for task in group:
            note(task, outcome)
        return []

    twins = [it for it in left if not it.is_mistake]
    mistakes = [it for it in left if it.is_mistake]
    last = [it for it in mistakes if it.file.stem in hung or MAY_HANG.search(it.findings)]
    first = [it for it in mistakes if it not in last]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        said = [it for group in pool.map(together, list(groups(twins))) for it in group]
        list(pool.map(one, said + first))
        list(pool.map(one, last))
    for task in twins:
        # Twins end: another kernel has kept the GPU from this one.
        if outcomes.get(task.key, NOT_RUN)[0] == "hangs" and time.time() < end:
            one(task)


def table(rows):
    """Lines with the number of mistakes and of twins for each tool and outcome, and what any tool found."""
    yield "| tool | mistakes: " + " | ".join(OUTCOMES) + " | twins: " + " | ".join(OUTCOMES) + " |"
    for tool in TOOLS:
        of_tool = [(is_mistake, outcome) for _, it, is_mistake, outcome in rows if it == tool]
        counts = [of_tool.count((kind, outcome)) for kind in (True, False) for outcome in OUTCOMES]
        yield f"| {tool} | " + " | ".join(map(str, counts)) + " |"
    every, found = (
        {kind: {it[0] for it in rows if it[2] == kind and it[3] in outcomes} for kind in (True, False)}
        for outcomes in (OUTCOMES, ["found"])
    )
    yield (
        f"any tool: {len(found[True])} of {len(every[True])} mistakes; "
        f"a report in {len(found[False])} of {len(every[False])} twins"
    )


def main():
    began = time.time()
    everything = list(tasks(sys.argv[1:]))
    outcomes = earlier()
    left = [it for it in everything if is_left(it, outcomes)]
    print(HEAD)
    for task in everything:
        if task.key in outcomes:
            show(task, *outcomes[task.key])
    if BUDGET > 0:
        measure_all(left, outcomes, began + BUDGET)
    rows = [(*it.key, it.is_mistake, outcomes.get(it.key, NOT_RUN)[0]) for it in everything]
    print("\n".join(table(rows)), f"\n{len(left)} runs were left; {time.time() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
