//! Older GPUs start a launch only when the previous one has ended.

use cuda_std::prelude::*;

/// # Safety
/// 1. None.
#[kernel(dependent_launch)]
pub unsafe fn nothing() {}

fn main() {}
