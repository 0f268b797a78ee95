//! Count, mean, standard deviation, least and greatest number of each column of a CSV file.
//!
//! ```text
//! cargo run --release --example column_statistics -- FILE.csv [--device sim|cuda|cuda:N]
//! ```
//!
//! The columns are reduced on the device, in f64. The deviation is that of the numbers as the whole
//! population (divided by n). The first line may be a header; every other field is a number.

mod support;

use lexopt::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use support::output::print_line;
use support::{DEVICE, Outcome};
use tilewright::ops;

const USAGE: &str = "usage: column_statistics FILE.csv [--device sim|cuda|cuda:N]";

const ABOUT: &str =
    "\nPrints a line of CSV for each column. The first line of FILE.csv may be a header.\n";

fn main() -> ExitCode {
    support::run(column_statistics)
}

fn column_statistics(mut parser: lexopt::Parser) -> Outcome {
    let (mut path, mut choice) = (None, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Value(value) if path.is_none() => path = Some(PathBuf::from(value)),
            Long("device") => choice = Some(support::device_choice(&mut parser)?),
            Short('h') | Long("help") => return support::help(&[USAGE, ABOUT, DEVICE].concat()),
            other => return Err(other.unexpected().into()),
        }
    }
    let path = path.ok_or_else(|| format!("no file is named; {USAGE}"))?;
    let (names, numbers) = read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let device = support::open(choice)?;
    let columns = names.len();
    let matrix = device.matrix((numbers.len() / columns, columns), &numbers)?;

    let means = device.reduce_columns(&matrix, ops::Mean)?.to_vec()?;
    let variances = device.reduce_columns(&matrix, ops::Variance)?.to_vec()?;
    let extremes = device.reduce_columns(&matrix, ops::MinMax)?.to_vec()?;

    print_line("column,count,mean,deviation,min,max")?;
    for (column, name) in names.iter().enumerate() {
        let (mean, deviation) = (means[column], variances[column].sqrt());
        let [min, max] = extremes[column];
        let count = matrix.rows();
        print_line(format_args!(
            "{name},{count},{mean},{deviation},{min},{max}"
        ))?;
    }
    Ok(())
}

/// The names of a CSV file's columns, the header's or `1`, `2` and so on, and its numbers, row after row.
fn read(path: &Path) -> Outcome<(Vec<String>, Vec<f64>)> {
    let text = fs::read_to_string(path)?;
    let lines = (1..).zip(text.lines().map(str::trim));
    let mut lines = lines.filter(|(_, line)| !line.is_empty()).peekable();
    let (_, first) = *lines.peek().ok_or("there is no line")?;
    let mut names: Vec<String> = first.split(',').map(|it| it.trim().to_owned()).collect();
    if names.iter().all(|name| name.parse::<f64>().is_err()) {
        lines.next();
    } else {
        names = (1..=names.len()).map(|it| it.to_string()).collect();
    }
    let (mut numbers, expected) = (Vec::new(), names.len());
    for (line, text) in lines {
        let before = numbers.len();
        for field in text.split(',').map(str::trim) {
            let number: Result<f64, _> = field.parse();
            numbers.push(number.map_err(|_| format!("line {line}: `{field}` is no number"))?);
        }
        let found = numbers.len() - before;
        if found != expected {
            return Err(format!("line {line}: {found} fields, and {expected} columns").into());
        }
    }
    if numbers.is_empty() {
        return Err("there are no numbers".into());
    }
    Ok((names, numbers))
}
