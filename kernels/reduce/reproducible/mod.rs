//! Reproducible sums: the exact sum, rounded once. The bits depend only on the elements, not on their order or split.
//!
//! ```text
//! each thread:  adds its elements to a window of one to three bins of 32 bits, in registers
//! each warp:    where an element does not fit, adds the windows to the warp's digits, and moves them
//! each block:   adds the warps' digits, then its own to the launch's, atomically; takes a ticket
//! last block:   carries, and rounds
//! ```
//!
//! A finite float is an integer times the least subnormal. An exact sum is a long integer, in 32-bit digits held in
//! 64 bits (`format.rs`). Integer addition is associative, so the order of warps and blocks does not matter, nor does
//! the choice of windows.
//!
//! Windows (`window.rs`) make this fast. They keep the bins of Demmel and Nguyen (Parallel Reproducible Summation,
//! 2015), with one difference: instead of dropping bits below the last bin, a window returns them, and
//! `accumulate.rs` moves the window there. Bins are f64. Elements of 16 bits are first added in f32, sixteen at a time
//! and in two parts, exactly.
//!
//! `launch.rs` has the kernels, and `round.rs` the final rounding, which the host also uses.

mod accumulate;
mod element;
mod format;
mod launch;
mod round;
mod window;

pub use element::ReproducibleElement;
pub use format::{DIGIT_BITS, Format, SPECIALS};
pub use launch::*;
pub use round::{digit_parts, finish};
