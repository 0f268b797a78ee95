//! Plain data that every layer speaks of.

mod access;
mod calls;
mod defect;
mod dim;
mod finding;
mod position;
mod random;
mod suppression;
mod view_name;

pub use access::{AccessKind, Space};
pub use defect::{Call, Defect, DefectKind, Related, SourceLocation};
pub use dim::Dim3;
pub use position::Position;
pub use suppression::Suppression;
pub use view_name::ViewName;

pub(crate) use access::{Access, element_at};
pub(crate) use finding::Finding;
pub(crate) use random::{Permutation, SplitMix64, spread};
pub(crate) use view_name::parameter_at;
