//! A launch as data: its configuration, its options, and its report.

mod body;
mod configuration;
mod lowest_defect;
mod output;
mod preemption;
mod report;

pub use body::Body;
pub use configuration::{Launch, MAX_THREADS_PER_BLOCK, Options};
pub use output::Output;
pub use preemption::Preemption;
pub use report::Report;

pub(crate) use lowest_defect::LowestDefect;
