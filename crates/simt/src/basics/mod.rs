//! Plain data that every layer uses.

mod access;
mod call_site;
mod calls;
mod defect;
mod defect_kind;
mod dim;
mod finding;
mod hasher;
mod lock;
mod memory_order;
mod named;
mod position;
mod random;
mod source_lines;
mod suppression;
mod view_name;

pub use access::{AccessKind, Space};
pub use defect::{Call, Defect, Related, SourceLocation};
pub use defect_kind::DefectKind;
pub use dim::Dim3;
pub use memory_order::{MemoryOrder, MemoryScope};
pub use position::Position;
pub use source_lines::{SourceLine, SourceLines};
pub use suppression::Suppression;
pub use view_name::ViewName;

pub(crate) use access::{Access, element_at};
pub(crate) use call_site::CallSite;
pub(crate) use calls::CallStack;
pub(crate) use finding::Finding;
pub(crate) use hasher::{NumberHasher, NumberMap};
pub(crate) use lock::lock;
pub(crate) use memory_order::{AtomicOrder, FenceOrder};
pub(crate) use named::named;
pub(crate) use random::{Permutation, SplitMix64, spread};
#[cfg(target_os = "linux")]
pub(crate) use source_lines::lock_source_lines;
pub(crate) use view_name::parameter_at;
