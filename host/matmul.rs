//! Matrix products. The path of a product is a straight line: check, plan, stage, execute.
//!
//! - `api/`: the public calls.
//! - `host/`: products of host matrices of any size, panel by panel.
//! - `run.rs`: the line itself, for each pair of types.
//! - `operands.rs`, `block_scales.rs`, `epilogue.rs`: operands, result and epilogue, checked against each other.
//! - `plan.rs`, `plan/`: every decision, as a pure function of a problem and the facts about a device.
//! - `staging.rs`, `staging/`: operands copied, transposed or split.
//! - `execute.rs`, `execute/`: a file for each way to launch.
//! - `table.rs`: the kernels (`kernel.rs`); `kernels.rs` builds them from the catalogue of `tilewright_kernels`.
//! - `entry.rs`, `launchers.rs`: how a kernel is launched. `types.rs`: the element types of the catalogue.

mod api;
mod arithmetic;
mod block_scales;
mod entry;
mod epilogue;
mod execute;
mod host;
mod kernel;
mod kernels;
mod launchers;
mod operands;
mod plan;
mod run;
mod staging;
mod table;
mod types;

pub(crate) use epilogue::{Epilogue, LineVectors, OF_COLUMNS, OF_ROWS};
pub(crate) use execute::Computes;
pub(crate) use operands::{Operands, check_inner, check_result};
pub(crate) use staging::{LinesToRead, NO_MAP, StagedOperand};

pub use api::{ChainElement, Matmul, MatmulElement, MatmulGroup, MatmulInto, MatmulPlan};
pub use arithmetic::Arithmetic;
pub use epilogue::Activation;
pub use host::{HostMatrix, HostMultiplier};
pub use kernel::TileSize;
pub use plan::{SelectionReason, Staging};
pub use staging::PreparedMatrix;
