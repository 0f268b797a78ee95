#![doc = include_str!("../README.md")]

mod advice;
mod columns;
mod html;
mod source;
mod table;
mod text;

pub use html::html;
pub use table::{table, table_within};

use tilewright::LaunchReport;

/// The report as JSON, in the layout that [`LaunchReport`] documents.
#[must_use]
pub fn json(report: &LaunchReport) -> String {
    serde_json::to_string(report).expect("a report has only text keys, and writes to memory")
}
