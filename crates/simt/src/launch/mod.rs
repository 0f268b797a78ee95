//! A launch as data: what is launched and how it is simulated, and what it has done.

mod configuration;
mod report;

pub use configuration::{Launch, MAX_THREADS_PER_BLOCK, Options};
pub use report::Report;
