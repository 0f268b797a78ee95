"""Products with the columns of B divided over the ranks, by torch and NCCL: all-gather, then a product.

Started once for each rank, with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in the environment. The arguments
are the type, the rows of the square matrices, and the seconds to warm up, sample and the number of samples. Rank 0
prints the seconds of a call.
"""

import os
import sys
import time

import torch
import torch.distributed as dist


def main():
    element, size, warm_up, sample, samples = sys.argv[1:]
    size, warm_up, sample, samples = int(size), float(warm_up), float(sample), int(samples)
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(rank)
    device = torch.device("cuda", rank)
    dist.init_process_group("nccl", device_id=device)
    element = {"f32": torch.float32, "bf16": torch.bfloat16}[element]
    torch.manual_seed(rank)
    uniform = lambda *shape: (torch.rand(*shape, device=device) * 2 - 1).to(element)
    # Rows of A; columns of B, one after the other, so that the gathered ones are a matrix.
    a = uniform(size // ranks, size)
    b = uniform(size // ranks, size)
    gathered = torch.empty(size, size, device=device, dtype=element)
    c = torch.empty(size // ranks, size, device=device, dtype=element)

    def call():
        dist.all_gather_into_tensor(gathered, b)
        torch.matmul(a, gathered.t(), out=c)

    def seconds(calls):
        dist.barrier()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        passed = torch.tensor([time.perf_counter() - start], device=device)
        dist.all_reduce(passed, op=dist.ReduceOp.MAX)
        return passed.item()

    seconds(1)
    once = seconds(1)
    seconds(max(1, int(warm_up / once)))
    calls = max(1, int(sample / once + 1))
    times = sorted(seconds(calls) / calls for _ in range(samples))
    if rank == 0:
        print(times[len(times) // 2])
    dist.destroy_process_group()


main()
