//! Runs a kernel with a mistake, or its twin; lists them; writes their page.
//!
//! ```text
//! defects NAME [--twin] [--device sim|cuda|cuda:N] | --list | --page FILE [--measured FILE]...
//!     | --public-page FILE [--measured FILE]...
//! ```
//!
//! In the simulator it prints the report. On a GPU a kernel with a mistake may hang, so callers should set a time
//! limit.

#[path = "../../examples/support/mod.rs"]
mod support;

use lexopt::prelude::*;
use std::path::PathBuf;
use std::process::ExitCode;
use support::Outcome;
use support::output::{print_line, write_text};
use tilewright::DeviceChoice;
use tilewright_defects::page::{Measured, page, public_page};
use tilewright_defects::{Mistake, all};

const USAGE: &str = "\
usage: defects NAME [--twin] [--device sim|cuda|cuda:N]
       defects --list
       defects --page FILE [--measured FILE]...
       defects --public-page FILE [--measured FILE]...";

/// The results of `measure.sh` on an H200 and of `oclgrind.sh` with Oclgrind, for the pages.
const MEASURED: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/h200.csv"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/oclgrind.csv"),
];

/// The command line's options.
#[derive(Default)]
struct Arguments {
    name: Option<String>,
    is_twin: bool,
    device: Option<DeviceChoice>,
    page: Option<(PathBuf, Page)>,
    measured: Vec<PathBuf>,
}

/// A function that makes a page from measurements.
type Page = fn(&Measured) -> tilewright::Result<String>;

fn main() -> ExitCode {
    support::run(run)
}

fn run(mut parser: lexopt::Parser) -> Outcome {
    let mut arguments = Arguments::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Value(name) if arguments.name.is_none() => arguments.name = Some(name.string()?),
            Long("twin") => arguments.is_twin = true,
            Long("device") => arguments.device = Some(support::device_choice(&mut parser)?),
            Long("list") => return list(),
            Long("page") => arguments.page = Some((parser.value()?.into(), page)),
            Long("public-page") => arguments.page = Some((parser.value()?.into(), public_page)),
            Long("measured") => arguments.measured.push(parser.value()?.into()),
            Short('h') | Long("help") => return support::help(USAGE),
            other => return Err(other.unexpected().into()),
        }
    }
    match (&arguments.page, &arguments.name) {
        (Some((path, page)), None) => Ok(write_text(path, &page(&read(&arguments.measured)?)?)?),
        (None, Some(name)) => launch(name, &arguments),
        _ => Err(USAGE.into()),
    }
}

/// Reads these files, or the project's if there are none.
///
/// # Errors
/// If a file cannot be read, or a line is not a result.
fn read(files: &[PathBuf]) -> std::result::Result<Measured, String> {
    let all = MEASURED.map(PathBuf::from);
    let files = if files.is_empty() { &all[..] } else { files };
    files.iter().try_fold(Measured::default(), |read, file| {
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(read.with(Measured::parse(&text)?))
    })
}

fn list() -> Outcome {
    for mistake in all() {
        print_line(mistake.name)?;
    }
    Ok(())
}

fn launch(name: &str, arguments: &Arguments) -> Outcome {
    let mistake = Mistake::named(name)
        .ok_or_else(|| format!("there is no kernel `{name}`; --list has their names"))?;
    let device = support::open(arguments.device)?;
    mistake.launch(&device, arguments.is_twin)?;
    Ok(print_line("the launch has ended")?)
}
