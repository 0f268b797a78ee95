//! Bulk copies between global and shared memory by an asynchronous engine (PTX ISA, sections
//! "cp.async.bulk" and "cp.async.bulk.tensor").

mod engine;
mod groups;
mod pieces;
mod swizzle;
mod tensor_map;

pub use swizzle::Swizzle;
pub use tensor_map::{TensorMap, TensorMapFields};

pub(crate) use engine::{Engine, Job, Load, Store};
pub(crate) use groups::{BulkGroups, IssuedStore};
pub(crate) use pieces::Piece;
