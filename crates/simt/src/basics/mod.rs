//! Plain data that every layer speaks of.

mod access;
mod defect;
mod dim;
mod finding;
mod position;
mod random;

pub use access::{AccessKind, Space};
pub use defect::{Defect, DefectKind, Related, SourceLocation};
pub use dim::Dim3;
pub use position::Position;

pub(crate) use access::Access;
pub(crate) use finding::Finding;
pub(crate) use random::{Permutation, SplitMix64};
