//! What NVIDIA's assembler says of the checked-in PTX: the registers of each kernel, by GPU.
//!
//! A driver has an assembler, too, and may give a thread another number of registers than the
//! version of `ptxas` that is asked here.

mod assembler;
mod cost;
mod modules;
mod table;
mod targets;

pub use assembler::{Assembler, output};
pub use cost::{Cost, costs};
pub use modules::{FOLDERS, Module, fingerprint, module_of, modules, modules_for, unpacked};
pub use table::{RegisterTable, TableError};
pub use targets::ARCHITECTURES;

/// The result of a question; the error is one line.
pub type Result<T, E = String> = std::result::Result<T, E>;
