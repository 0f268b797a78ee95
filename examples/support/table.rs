//! Tables of numbers in CSV files.

use crate::support::Outcome;
use csv::{ReaderBuilder, StringRecord, Trim};
use std::fs;
use std::path::Path;

/// The format of a file.
pub struct Format {
    /// Whether the first line has names; `None` to guess from its fields.
    pub header: Option<bool>,
    pub delimiter: u8,
    /// Whether decimals are separated by a comma instead of a point.
    pub decimal_comma: bool,
    /// The fields that mean a missing value.
    pub missing: Vec<String>,
}

/// A column of a table.
pub struct Column {
    pub name: String,
    pub numbers: Vec<f64>,
    /// The number of missing values.
    pub missing: usize,
}

/// Words for a missing value or for one that is not a number, in lower case.
const NO_VALUE: [&str; 14] = [
    "na", "n/a", "#n/a", "nan", "-nan", "inf", "-inf", "null", "none", "nil", "\\n", ".", "-", "?",
];

/// Integers in this range are taken for years.
const YEARS: std::ops::RangeInclusive<u32> = 1900..=2100;

/// The largest number of a field's characters in a message.
const SHOWN: usize = 40;

impl Format {
    /// Reads the columns of a file. Errors name the line, and the column if it is known. A byte order mark and empty
    /// lines are skipped, and spaces around fields are dropped.
    pub fn read(&self, path: &Path) -> Outcome<Vec<Column>> {
        let text = text(fs::read(path)?)?;
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(self.delimiter)
            .trim(Trim::All)
            .from_reader(text.as_bytes());
        let mut records = reader.records();
        let first = records.next().ok_or("there is no line")??;
        let is_header = self.is_header(&first).map_err(|reason| {
            let line = line_of(&first, &text);
            let first = shown(&first.iter().collect::<Vec<_>>().join(","));
            format!("line {line}: {reason}: {first}")
        })?;
        let mut columns: Vec<Column> = (1..)
            .zip(&first)
            .map(|(number, name)| Column::new(number, if is_header { name } else { "" }))
            .collect();
        let rows = (!is_header).then_some(Ok(first)).into_iter().chain(records);
        for row in rows {
            let row = row?;
            self.append(&row, &mut columns)
                .map_err(|reason| format!("line {}{reason}", line_of(&row, &text)))?;
        }
        if columns.iter().all(|it| it.numbers.len() + it.missing == 0) {
            return Err("there are no numbers below the header".into());
        }
        Ok(columns)
    }

    fn append(&self, row: &StringRecord, columns: &mut [Column]) -> Result<(), String> {
        if row.len() != columns.len() {
            let (found, expected) = (row.len(), columns.len());
            let fields = if found == 1 { "field" } else { "fields" };
            return Err(format!(": {found} {fields} instead of {expected}"));
        }
        for (field, column) in row.iter().zip(columns) {
            if self.missing.iter().any(|it| it == field) {
                column.missing += 1;
                continue;
            }
            let number = self.number(field);
            let number =
                number.map_err(|reason| format!(", column `{}`: {reason}", shown(&column.name)))?;
            column.numbers.push(number);
        }
        Ok(())
    }

    fn number(&self, field: &str) -> Result<f64, String> {
        let number: Option<f64> = match self.decimal_comma {
            true if field.contains('.') => None,
            true => field.replace(',', ".").parse().ok(),
            false => field.parse().ok(),
        };
        let shown = shown(field);
        match number {
            Some(number) if number.is_infinite() && has_digit(field) => {
                Err(format!("`{shown}` is too large for f64"))
            }
            Some(number) => Ok(number),
            None if field.is_empty() => {
                Err("the field is empty; pass --missing '' if that is a missing value".to_owned())
            }
            None => Err(format!("`{shown}` is no number; {}", self.advice(field))),
        }
    }

    /// Advice for a field that is not a number.
    fn advice(&self, field: &str) -> String {
        match other_delimiter(field) {
            Some(delimiter) if has_digit(field) => {
                format!("pass --delimiter '{delimiter}' if that is between the columns")
            }
            None if has_digit(field) && !self.decimal_comma && field.contains(',') => {
                "pass --decimal-comma if decimals begin with a comma".to_owned()
            }
            _ => format!(
                "pass --missing '{}' if that is a missing value",
                shown(field)
            ),
        }
    }

    /// Whether the first line of a file has names rather than numbers; the error says why it is unclear.
    fn is_header(&self, first: &StringRecord) -> Result<bool, String> {
        if first.get(0).is_some_and(|it| it.starts_with("sep=")) {
            return Err(
                "delete this line of Excel, and pass the delimiter with --delimiter".to_owned(),
            );
        }
        if let Some(is_header) = self.header {
            return Ok(is_header);
        }
        if let (1, Some(delimiter)) = (first.len(), other_delimiter(first.as_slice())) {
            return Err(format!(
                "pass --delimiter '{delimiter}' if that is between the columns, otherwise --header or --no-header"
            ));
        }
        let doubtful = |what| Err(format!("{what}: pass --header or --no-header"));
        let is_missing = |it: &str| self.missing.iter().any(|missing| missing == it);
        let is_word = |it: &str| NO_VALUE.contains(&it.to_lowercase().as_str());
        let is_number = |it: &str| has_digit(it) && self.number(it).is_ok();
        let is_name = |it: &str| {
            it.contains(char::is_alphabetic)
                && !it.starts_with(|start: char| start.is_ascii_digit() || "+-.".contains(start))
                && !is_missing(it)
                && !is_word(it)
        };
        let (any, all) = (
            |is: &dyn Fn(&str) -> bool| first.iter().any(is),
            |is: &dyn Fn(&str) -> bool| first.iter().all(is),
        );
        let are_names = any(&is_name) && all(&|it| is_name(it) || it.is_empty());
        let are_values = any(&is_number) && all(&|it| is_missing(it) || self.number(it).is_ok());
        let mut counted = first.iter().enumerate();
        let are_places = first.len() > 1 && counted.all(|(place, it)| it == place.to_string());
        let are_years = all(&|it| it.parse().is_ok_and(|it| YEARS.contains(&it)));
        match (are_names, are_values) {
            (true, _) => Ok(true),
            (_, true) if are_places || are_years => doubtful("these numbers can be names"),
            (_, true) => Ok(false),
            _ => doubtful("these fields can be names or values"),
        }
    }
}

impl Column {
    /// A column without a name is named by its number.
    fn new(number: usize, name: &str) -> Self {
        let name = match name {
            "" => number.to_string(),
            name => name.to_owned(),
        };
        Self {
            name,
            numbers: Vec::new(),
            missing: 0,
        }
    }
}

/// The text of a UTF-8 file.
fn text(bytes: Vec<u8>) -> Outcome<String> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err("the file is UTF-16; save it as CSV in UTF-8".into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let (read, _) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
        let line = 1 + read.iter().filter(|&&byte| byte == b'\n').count();
        format!("line {line}: this is not UTF-8; save the file as CSV in UTF-8").into()
    })
}

/// The number of the line where a record begins. `csv` counts the empty lines before a record as part of it, and
/// counts two-character line endings late.
fn line_of(record: &StringRecord, text: &str) -> usize {
    let start = record.position().map_or(0, |it| it.byte() as usize);
    let rest = &text[start..];
    let empty = rest.len() - rest.trim_start_matches(['\r', '\n']).len();
    let before = &text[..start + empty];
    1 + before
        .matches('\n')
        .count()
        .max(before.matches('\r').count())
}

/// A field for a message, on one line.
fn shown(field: &str) -> String {
    let mut characters = field
        .chars()
        .map(|it| if it.is_control() { '\u{fffd}' } else { it });
    let start: String = characters.by_ref().take(SHOWN).collect();
    let end = if characters.next().is_some() {
        ".."
    } else {
        ""
    };
    format!("{start}{end}")
}

/// A common delimiter in a field, in the form of the option `--delimiter`.
fn other_delimiter(field: &str) -> Option<&str> {
    let separators = field.match_indices([';', '\t', '|']).next();
    let is_digits = || field.split(' ').all(|it| it.parse::<f64>().is_ok());
    match separators {
        Some((_, "\t")) => Some("tab"),
        Some((_, delimiter)) => Some(delimiter),
        None => (field.contains(' ') && is_digits()).then_some(" "),
    }
}

fn has_digit(field: &str) -> bool {
    field.contains(|it: char| it.is_ascii_digit())
}
