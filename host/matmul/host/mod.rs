//! Products of host matrices of any size, through a bounded part of the device's memory.
//!
//! ```text
//! host, copy stream:      uploads panels of A and B        panel 2              panel 3
//! device:                 multiplies them                  product 1            product 2
//! host, download stream:  writes the outputs                         outputs 0            outputs 1
//! ```
//!
//! `panels.rs` divides the product into blocks of C that fit the memory. A block needs a panel of A's rows and one of
//! B's columns (`operand.rs`), and is written to host memory (`result.rs`). `block.rs` finds the elements of a panel in
//! the whole matrix, `source.rs` reads and writes them. If K is whole, each output is computed as in the product of the
//! whole matrices, as a rank of a group does.

mod block;
mod matrix;
mod multiplier;
mod operand;
mod panels;
mod result;
mod source;

pub use matrix::HostMatrix;
pub use multiplier::HostMultiplier;
