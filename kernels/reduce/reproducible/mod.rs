//! Sums whose bits depend on the elements alone, not on their order or on how they are divided: the
//! exact sum, rounded once.
//!
//! ```text
//! each thread:  adds its elements to a window of one to three bins of 32 bits, in registers
//! each warp:    where an element does not fit, adds the windows to the warp's digits, and moves them
//! each block:   adds the warps' digits, then its own to the launch's, atomically; takes a ticket
//! last block:   carries, and rounds
//! ```
//!
//! A finite float is an integer times the least subnormal. An exact sum is a long integer, in digits
//! of 32 bits that have 64 bits of room (`format.rs`). Integers have no order of addition, so neither
//! the blocks' nor the warps' matters, and no choice of the windows does.
//!
//! A window (`window.rs`) is what makes this fast: of bins that Demmel and Nguyen (Parallel
//! Reproducible Summation, 2015) keep, with one difference. Where they drop what lies below the last
//! bin, a window says so, and `accumulate.rs` moves it there.
//!
//! `launch.rs` has the kernels, and `round.rs` the last step, which the host shares.

mod accumulate;
mod format;
mod launch;
mod round;
mod window;

pub use format::{DIGIT_BITS, Format, ReproducibleElement, SPECIALS};
pub use launch::*;
pub use round::{digit_parts, finish};
