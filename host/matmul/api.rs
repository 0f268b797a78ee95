//! The public calls.

mod element;
mod exact;
mod gram;
mod group;
mod matvec;
mod plan;
mod preparation;
mod prepare;
mod product;
mod scaled;
mod shard;
mod textbook;

pub use element::{ChainElement, MatmulElement, MatmulInto};
pub use group::MatmulGroup;
pub use plan::MatmulPlan;
pub use product::Matmul;
