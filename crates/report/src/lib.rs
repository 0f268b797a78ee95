#![doc = include_str!("../README.md")]

mod advice;
mod baseline;
mod columns;
mod html;
mod moves;
mod source;
mod table;
mod text;

pub use baseline::comparison;
pub use html::html;
pub use table::{table, table_within};

use tilewright::LaunchReport;

/// The report as JSON, in the layout that [`LaunchReport`] documents.
///
/// `sources` also has the lines of each counted source that can be read, by path. [`comparison`] accepts this JSON as
/// a baseline.
#[must_use]
pub fn json(report: &LaunchReport) -> String {
    let mut json =
        serde_json::to_value(report).expect("a report has only text keys, and writes to memory");
    let lines = report.launches.iter().flat_map(|it| &it.counts.lines);
    let mut sources = serde_json::Map::new();
    for line in lines {
        let path = line.location.file.to_string();
        if !sources.contains_key(&path)
            && let Some(lines) = source::lines_of(&path)
        {
            sources.insert(path, lines.into());
        }
    }
    json["sources"] = sources.into();
    json.to_string()
}
