//! Device-side standard library for Rust GPU kernels: threads, warps, blocks, shared memory, pipelines.
