//! Sums and matrix products on the GPU.
