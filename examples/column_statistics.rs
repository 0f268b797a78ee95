//! Count, mean, standard deviation, minimum and maximum of each column of a CSV file.
//!
//! ```text
//! cargo run --release --example column_statistics -- FILE.csv [OPTIONS]
//! ```
//!
//! The device reduces the columns in f64; each is a segment of one buffer. The standard deviation is that of the
//! whole population (divided by n).

mod support;
#[path = "support/table.rs"]
mod table;

use lexopt::prelude::*;
use std::path::PathBuf;
use std::process::ExitCode;
use support::output::print;
use support::{DEVICE, Outcome};
use table::{Column, Format};
use tilewright::{Device, ops};

const USAGE: &str = "usage: column_statistics FILE.csv [OPTIONS]";

const ABOUT: &str = "
Prints a line of CSV for each column: count, mean, deviation, min and max of its numbers, and how
many values are missing, which are left out of all of these. Spaces around fields and empty lines
are skipped. Fields may be quoted. The file is in UTF-8.

  --header         the first line has the columns' names
  --no-header      the first line has numbers, and the columns are called 1, 2 and so on; without
                   either option the first line has names if it has words and no numbers, and is
                   refused if it can be names or numbers: NA, years, 0 1 2 and so on
  --delimiter C    the character between fields, a comma without this option; tab is one, too
  --decimal-comma  decimals begin with a comma, as in 1,5
  --missing VALUE  a field that is exactly VALUE is missing ('' is an empty one); may be repeated.
                   Without it, all fields must be numbers; NaN and inf are";

fn main() -> ExitCode {
    support::run(column_statistics)
}

fn column_statistics(mut parser: lexopt::Parser) -> Outcome {
    let (mut path, mut choice) = (None, None);
    let mut format = Format {
        header: None,
        delimiter: b',',
        decimal_comma: false,
        missing: Vec::new(),
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Value(value) if path.is_none() => path = Some(PathBuf::from(value)),
            Long("header") => format.header = Some(true),
            Long("no-header") => format.header = Some(false),
            Long("delimiter") => format.delimiter = delimiter(&parser.value()?.to_string_lossy())?,
            Long("decimal-comma") => format.decimal_comma = true,
            Long("missing") => format
                .missing
                .push(parser.value()?.string()?.trim().to_owned()),
            Long("device") => choice = Some(support::device_choice(&mut parser)?),
            Short('h') | Long("help") => return support::help(&[USAGE, ABOUT, DEVICE].concat()),
            other => return Err(other.unexpected().into()),
        }
    }
    let path = path.ok_or_else(|| format!("no file is named; {USAGE}"))?;
    let columns = format
        .read(&path)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let mut values = statistics(&support::open(choice)?, &columns)?.into_iter();

    let mut output = csv::Writer::from_writer(Vec::new());
    output.write_record([
        "column",
        "count",
        "mean",
        "deviation",
        "min",
        "max",
        "missing",
    ])?;
    for column in &columns {
        let (count, missing) = (column.numbers.len(), column.missing);
        match count {
            0 => output.serialize((&column.name, count, "", "", "", "", missing))?,
            _ => output.serialize((&column.name, count, values.next(), missing))?,
        }
    }
    print(String::from_utf8(output.into_inner()?)?)?;
    Ok(())
}

fn delimiter(name: &str) -> Outcome<u8> {
    match name.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [character] if !b"\"\r\n".contains(character) => Ok(*character),
        _ => Err(format!(
            "`{name}` is no delimiter: --delimiter can be one ASCII character, or tab"
        )
        .into()),
    }
}

/// Mean, standard deviation, minimum and maximum of each column that has numbers.
fn statistics(device: &Device, columns: &[Column]) -> Outcome<Vec<[f64; 4]>> {
    let (mut numbers, mut offsets) = (Vec::new(), vec![0]);
    for column in columns.iter().filter(|it| !it.numbers.is_empty()) {
        numbers.extend_from_slice(&column.numbers);
        offsets.push(numbers.len());
    }
    let (numbers, segments) = (device.upload(&numbers)?, device.segments(&offsets)?);
    let means = device
        .reduce_segments(&numbers, &segments, ops::Mean)?
        .to_vec()?;
    let variances = device
        .reduce_segments(&numbers, &segments, ops::Variance)?
        .to_vec()?;
    let extremes = device
        .reduce_segments(&numbers, &segments, ops::MinMax)?
        .to_vec()?;
    let values = means.into_iter().zip(variances).zip(extremes);
    let in_order =
        |((mean, variance), [min, max]): ((f64, f64), [f64; 2])| [mean, variance.sqrt(), min, max];
    Ok(values.map(in_order).collect())
}
