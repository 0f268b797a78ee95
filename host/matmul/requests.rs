//! The public calls.

mod chain;
mod gram;
mod group;
mod matvec;
mod product;
mod shard;

pub use group::MatmulGroup;
pub use product::Matmul;
