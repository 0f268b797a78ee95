//! The inner cargo, which compiles `core` and the kernel crate to bitcode.

mod artifact;
mod command;
mod compilation;
mod core_library;
mod json;
mod messages;

pub(crate) use artifact::LocalPackage;
pub(crate) use command::workspace_root;
pub(crate) use compilation::{Compilation, CompiledCrates};
pub(crate) use core_library::CoreLibrary;
