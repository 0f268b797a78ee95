//! Matrix products. Each item uses those below it:
//!
//! - `requests/`: the public calls. `chain.rs` has the products with a fixed kernel, `product.rs` those by the
//!   fastest kernel, with or without an epilogue; `matvec.rs`, `gram.rs` and `group.rs` have special shapes, and
//!   `shard.rs` parts for several devices.
//! - `plan.rs`: the selected kernel, for the caller. `dispatch.rs`: from the types to a launch.
//! - `launch/`: a file for each method, under its name in the table.
//! - `types.rs`, `element.rs`: the types that can be multiplied, and their entries in the table.
//! - `matrices.rs`: operands and result, checked against each other; `layout.rs`: their layout in memory.
//!   `prepared.rs`, `halves.rs`: split f32 operands.
//! - `select/`: the pure function from a problem (`problem.rs`) to a kernel (`kernel.rs`) of the table
//!   (`table.rs`), which `kernels.rs` makes of the catalogue of `tilewright_kernels`.
//! - `entry.rs`, `launchers.rs`: how a kernel is launched. `epilogue.rs`: the epilogue.

mod arithmetic;
mod dispatch;
mod element;
mod element_type;
mod entry;
mod epilogue;
mod halves;
mod kernel;
mod kernels;
mod launch;
mod launchers;
mod layout;
mod matrices;
mod plan;
mod prepared;
mod problem;
mod requests;
mod select;
mod table;
mod types;

pub(crate) use epilogue::{Epilogue, LineVectors, OF_COLUMNS, OF_ROWS};
pub(crate) use matrices::{INNER_RULE, check_result};
pub(crate) use types::sealed::Computes;

pub use arithmetic::Arithmetic;
pub use element::GemmElement;
pub use epilogue::Activation;
pub use kernel::TileConfig;
pub use plan::MatmulPlan;
pub use prepared::PreparedMatrix;
pub use requests::{Matmul, MatmulGroup};
pub use select::SelectionReason;
pub use types::{Accumulate, Accumulator, MatmulElement, MatmulInto};
