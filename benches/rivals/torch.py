"""Reductions and operations on rows by torch, for a benchmark that talks to this program.

The argument is the number of the device. Each line of standard input is a request as JSON, and each line of standard
output the answer. "prepare" makes the input of a job, runs it once, writes the result as doubles to a file, and
answers with its number of elements; "time" answers with the seconds of one of many calls, by the device's events.
Where torch has several functions for a job, the fastest counts. Calls run as a graph, so that Python's own time is
not in them, unless a function cannot be captured. Operations on rows are also compiled, for the shape of the job.
"""

import ctypes
import gc
import json
import sys

import torch

# The time that a graph should take, and the most calls that it has.
GRAPH_SECONDS = 1e-3
MOST_CALLS = 100

def quantized(x):
    """e4m3 elements, each 128 of a row with a scale of their own."""
    blocks = x.float().reshape(x.shape[0], -1, 128)
    scales = blocks.abs().amax(dim=2, keepdim=True).clamp(min=2.0**-126 * 448) / 448
    return (blocks / scales).to(torch.float8_e4m3fn)


def each_and_compiled(function):
    """The function as it is, and compiled."""
    return [
        lambda x, y, offsets: function(x),
        lambda x, y, offsets: torch.compile(function, dynamic=False)(x),
    ]


WAYS = {
    "rows": [lambda x, y, offsets: torch.sum(x, dim=1)],
    "columns": [lambda x, y, offsets: torch.sum(x, dim=0)],
    "dot_rows": [
        lambda x, y, offsets: torch.linalg.vecdot(x, y, dim=1),
        lambda x, y, offsets: torch.bmm(x.unsqueeze(1), y.unsqueeze(2)),
    ],
    "dot_columns": [lambda x, y, offsets: torch.linalg.vecdot(x, y, dim=0)],
    "segments": [
        lambda x, y, offsets: torch.segment_reduce(x, "sum", offsets=offsets, unsafe=True)
    ],
    "min": [lambda x, y, offsets: torch.min(x)],
    "max": [lambda x, y, offsets: torch.max(x)],
    "min_max": [lambda x, y, offsets: torch.aminmax(x)],
    "argmin": [lambda x, y, offsets: torch.argmin(x)],
    "argmax": [lambda x, y, offsets: torch.argmax(x)],
    "norm_2": [lambda x, y, offsets: torch.linalg.vector_norm(x)],
    "variance": [lambda x, y, offsets: torch.var(x, correction=0)],
    "dot": [lambda x, y, offsets: torch.dot(x, y)],
    "top_k_rows": [lambda x, y, offsets: torch.topk(x, 8, dim=1).values],
    "scan_rows": [lambda x, y, offsets: torch.cumsum(x, dim=1)],
    "scan_columns": [lambda x, y, offsets: torch.cumsum(x, dim=0)],
    "softmax": each_and_compiled(lambda x: torch.softmax(x, dim=1)),
    "logsumexp": each_and_compiled(lambda x: torch.logsumexp(x, dim=1)),
    "quantize_rows": each_and_compiled(quantized),
    "log_softmax": each_and_compiled(lambda x: torch.log_softmax(x, dim=1)),
    "rms_norm": each_and_compiled(
        lambda x: torch.nn.functional.rms_norm(x, x.shape[1:], eps=1e-5)
    ),
    "layer_norm": each_and_compiled(
        lambda x: torch.nn.functional.layer_norm(x, x.shape[1:], eps=1e-5)
    ),
}

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


class Calls:
    """Calls of one function, as a graph where that can be captured."""

    def __init__(self, function, arguments):
        self.call = lambda: function(*arguments)
        self.graph, self.length = None, 1
        self.result = self.call()
        self.seconds(1)
        once = self.seconds(3)
        length = max(1, min(MOST_CALLS, int(GRAPH_SECONDS / once)))
        try:
            self.capture(length)
        except RuntimeError:
            torch.cuda.synchronize()
            self.graph, self.length = None, 1

    def capture(self, length):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(length):
                self.captured = self.call()
        graph.replay()
        torch.cuda.synchronize()
        self.graph, self.length = graph, length

    def seconds(self, calls):
        rounds = max(1, round(calls / self.length))
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(rounds):
            self.graph.replay() if self.graph else self.call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3 / (rounds * self.length)


def elements(request):
    """The period as often as it takes, and other values at some places."""
    period = torch.from_file(request["period"], size=request["period_elements"], dtype=torch.float32)
    period = period.to("cuda")
    count = request["elements"]
    x = period.repeat(-(-count // len(period)))[:count].contiguous()
    for place, value in request["others"]:
        x[place] = value
    return x.to(TYPES[request["element"]]).reshape(request["shape"])


def prepare(request):
    x = elements(request)
    y = x.flatten().flip(0).reshape(x.shape) if request["has_second"] else None
    offsets = None
    if request["offsets"]:
        offsets = torch.from_file(request["offsets"], size=request["segments"] + 1, dtype=torch.int64)
        offsets = offsets.to("cuda")
    candidates, failure = [], None
    # Otherwise torch stops to compile a function after some shapes.
    torch.compiler.reset()
    for way in WAYS[request["operation"]]:
        try:
            candidates.append(Calls(way, (x, y, offsets)))
        except (RuntimeError, AttributeError) as error:
            failure = error
    if not candidates:
        raise failure
    return min(candidates, key=lambda it: it.seconds(20))


def main():
    torch.cuda.set_device(int(sys.argv[1]))
    torch.backends.cuda.matmul.allow_tf32 = False
    print(json.dumps({"version": torch.__version__}), flush=True)
    calls = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "time" in request:
                answer = {"seconds": calls.seconds(request["time"])}
            else:
                calls = None
                gc.collect()
                torch.cuda.empty_cache()
                if "operation" in request:
                    calls = prepare(request)
                    result = calls.result
                    if not torch.is_tensor(result):
                        result = torch.stack(tuple(result))
                    result = result.flatten()[: request["compared"]].to(torch.float64).cpu()
                    # Without NumPy, which may not be there.
                    bytes_of = ctypes.string_at(result.data_ptr(), 8 * result.numel())
                    with open(request["result"], "wb") as file:
                        file.write(bytes_of)
                answer = {}
        except Exception as error:
            lines = str(error).splitlines() or [type(error).__name__]
            answer = {"error": lines[0]}
        print(json.dumps(answer), flush=True)


main()
