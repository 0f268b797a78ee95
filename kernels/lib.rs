//! The GPU kernels of tilewright.
#![no_std]
