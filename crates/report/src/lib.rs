//! Shows the reports of [`tilewright`]'s simulator: [`table`] for a terminal, [`html`] with the
//! kernels' source and the costs beside it, [`json`] for programs.
//!
//! ```
//! use tilewright::Device;
//!
//! # fn main() -> tilewright::Result<()> {
//! let device = Device::simulator();
//! let x = device.upload(&[1.0_f32; 4096])?;
//! let (_, report) = device.with_report(|| device.reduce_sum(&x))?;
//! let table = tilewright_report::table(&report);
//! assert!(table.contains("bottleneck: latency and occupancy"));
//! # Ok(())
//! # }
//! ```

mod html;
mod source;
mod table;
mod text;

pub use html::html;
pub use table::table;

use tilewright::LaunchReport;

/// The report as JSON, in the layout that [`LaunchReport`] documents.
#[must_use]
pub fn json(report: &LaunchReport) -> String {
    serde_json::to_string(report).expect("a report has only text keys, and writes to memory")
}
