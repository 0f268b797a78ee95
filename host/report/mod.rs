//! The cost of launches on the simulator: counters line by line, and the bottleneck.
//!
//! This module has the data only; the crate `tilewright-report` displays it.

mod advice;
mod data;
mod estimate;
mod recorder;
mod roofline;
#[cfg(feature = "serde")]
mod serialize;

pub use advice::Advice;
pub(crate) use data::most_registers;
pub use data::{KernelReport, LaunchReport};
pub use estimate::{DevicePart, LineEstimate, SourceLine};
pub(crate) use recorder::LaunchRecorder;
pub use roofline::{Bottleneck, Roofline};
