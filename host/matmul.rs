//! Products of matrices, each part resting on those after it:
//!
//! - `requests/`: what callers ask for. `chain.rs` has the textbook's products, `product.rs` the fastest and those
//!   with choices, `matvec.rs`, `gram.rs` and `group.rs` special shapes, `shard.rs` parts for several devices.
//! - `plan.rs`: what was selected, for the caller. `dispatch.rs`: from the types to a launch.
//! - `launch/`: a file for each way to multiply, by its name in the table.
//! - `types.rs`, `element.rs`: the types that are multiplied, and their entries of the table.
//! - `matrices.rs`: operands and result, compared; `layout.rs`: how they lie. `prepared.rs`, `halves.rs`: operands of f32 taken apart.
//! - `select/`: the pure function from a problem (`problem.rs`) to a line (`kernel.rs`) of the table (`kernels.rs`).
//! - `entry.rs`, `launchers.rs`: how a kernel is launched. `epilogue.rs`: what becomes of its sums.

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
