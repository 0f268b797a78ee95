//! Global memory: words that several host threads access, the allocations, static arrays.

mod allocation;
mod registry;
mod reserve;
mod statics;
mod undo;
mod words;

pub use allocation::Contents;
pub use registry::{
    allocation_name, first_unwritten, forget_allocation, is_allocated, mark_copied, mark_freed,
    mark_written, name_allocation, register_allocation,
};
pub use reserve::OutOfMemory;
pub use statics::StaticMemory;
pub use words::{load_relaxed, store_relaxed};

pub(crate) use allocation::{Allocation, words_of_bits};
#[cfg(target_os = "linux")]
pub(crate) use registry::lock as lock_registry;
pub(crate) use registry::{Allocations, describe, is_inside_one, is_replaced, snapshot, start_of};
#[cfg(target_os = "linux")]
pub(crate) use reserve::lock as lock_reserve;
pub(crate) use reserve::{hold as hold_reserve, release as release_reserve, try_collect};
pub(crate) use undo::Undo;
pub(crate) use words::{copy_from_global, copy_to_global};
