//! Runs a ladder, from the plain kernel to the fast one, and prints the effect of each step.
//!
//! ```text
//! cargo ladder sum|product|tensor|prefetch|memory|histogram
//!     [--device sim|cuda|cuda:N] [--only TEXT] [--html FILE] [--json FILE] [--markdown FILE]
//!     [--charts FOLDER]
//! ```
//!
//! Every step is checked against a reference before it is timed. On a CUDA device the table has
//! times. On every device it has the simulator's counters for a smaller input; the simulator's own
//! time says nothing about a GPU's.
//!
//! A ladder is a list of sections of cases (`case.rs`), in its own file. All ladders share the code
//! that measures, prints and draws them.

mod chart;
mod common;
mod html;
mod ladders;
mod measure;
mod page;
#[path = "../../benches/rivals/mod.rs"]
mod rivals;
#[path = "../../examples/support/mod.rs"]
mod support;
mod table;

use ladders::{LADDERS, find};
use lexopt::prelude::*;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use support::Outcome;
use support::output::{print, terminal_width, write_text};

/// The command line's options.
#[derive(Default)]
struct Arguments {
    ladder: Option<String>,
    device: Option<tilewright::DeviceChoice>,
    only: Option<String>,
    html: Option<PathBuf>,
    json: Option<PathBuf>,
    markdown: Option<PathBuf>,
    charts: Option<PathBuf>,
}

fn main() -> ExitCode {
    support::run(run)
}

fn run(mut parser: lexopt::Parser) -> Outcome {
    let mut arguments = Arguments::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Value(name) if arguments.ladder.is_none() => arguments.ladder = Some(name.string()?),
            Long("device") => arguments.device = Some(support::device_choice(&mut parser)?),
            Long("only") => arguments.only = Some(parser.value()?.string()?),
            Long("html") => arguments.html = Some(parser.value()?.into()),
            Long("json") => arguments.json = Some(parser.value()?.into()),
            Long("markdown") => arguments.markdown = Some(parser.value()?.into()),
            Long("charts") => arguments.charts = Some(parser.value()?.into()),
            Short('h') | Long("help") => return support::help(&usage()),
            other => return Err(other.unexpected().into()),
        }
    }
    let ladder = find(arguments.ladder.as_deref().ok_or_else(usage)?)?;
    let device = support::open(arguments.device)?;
    let page = measure::ladder(&device, ladder, arguments.only.as_deref())?;
    write(arguments.html.as_deref(), || html::page(&page))?;
    write(arguments.json.as_deref(), || page.to_json())?;
    write(arguments.markdown.as_deref(), || Ok(table::markdown(&page)))?;
    if let Some(folder) = &arguments.charts {
        write_charts(&page, folder)?;
    }
    Ok(print(table::terminal(&page, terminal_width()))?)
}

fn usage() -> String {
    let names = LADDERS.map(|ladder| ladder.name).join("|");
    format!(
        "usage: ladder {names} [--device sim|cuda|cuda:N] [--only TEXT] [--html FILE]\n\
         \x20             [--json FILE] [--markdown FILE] [--charts FOLDER]\n\
         --only TEXT runs the sections and steps whose name contains TEXT"
    )
}

fn write(path: Option<&Path>, text: impl FnOnce() -> Outcome<String>) -> Outcome {
    let Some(path) = path else {
        return Ok(());
    };
    write_text(path, &text()?)
}

/// Writes `LADDER-SECTION.svg` for each section.
fn write_charts(page: &page::Page, folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for section in &page.sections {
        let path = folder.join(format!("{}-{}.svg", page.ladder, section.name));
        write(Some(&path), || chart::draw(section))?;
    }
    Ok(())
}
