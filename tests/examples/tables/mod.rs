//! CSV files as people's tools write them: their statistics, or the one line that refuses them.

mod contents;
mod written;

use crate::common::programs::{fail, succeed};
use contents::CONTENTS;
use std::path::Path;
use tempfile::TempDir;
use written::WRITTEN;

/// The lines below the header of the program's table, or parts of its error.
type Expected = Result<&'static [&'static str], &'static [&'static str]>;

/// The table of most files: two columns of 1, 3 and 2, 6.
const NAMED: Expected = Ok(&["height,2,2.0,1.0,1.0,3.0,0", "width,2,4.0,2.0,2.0,6.0,0"]);
const NUMBERED: Expected = Ok(&["1,2,2.0,1.0,1.0,3.0,0", "2,2,4.0,2.0,2.0,6.0,0"]);
const HALF_MISSING: Expected = Ok(&["height,2,2.0,1.0,1.0,3.0,0", "width,1,2.0,0.0,2.0,2.0,1"]);
const ONE_TO_FIVE: Expected = Ok(&["1,3,3.0,1.632993161855452,1.0,5.0,0"]);
const DOUBTFUL: Expected = Err(&["line 1", "pass --header or --no-header"]);

fn check(folder: &Path, file: &str, options: &str, expected: Expected) {
    let options: Vec<&str> = options.split(' ').filter(|it| !it.is_empty()).collect();
    let arguments = [&[file, "--device", "sim"], &options[..]].concat();
    match expected {
        Ok(lines) => {
            let output = succeed("column_statistics", folder, &arguments);
            let expected = [&["column,count,mean,deviation,min,max,missing"], lines].concat();
            assert_eq!(
                output.lines().collect::<Vec<_>>(),
                expected,
                "{file} {options:?}"
            );
        }
        Err(parts) => fail(
            "column_statistics",
            folder,
            &arguments,
            &[&[file], parts].concat(),
        ),
    }
}

#[test]
fn files_of_other_tools_are_read_or_refused_in_one_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/examples/files");
    for (file, options, expected) in WRITTEN {
        check(&folder, file, options, *expected);
    }
    let folder = TempDir::new().unwrap();
    for (what, contents, options, expected) in CONTENTS {
        let file = format!("{what}.csv");
        std::fs::write(folder.path().join(&file), contents).unwrap();
        check(folder.path(), &file, options, *expected);
    }
}

#[test]
fn a_delimiter_is_one_character() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("table.csv"), "1\n").unwrap();
    for delimiter in [";;", "", "\"", "\u{b7}"] {
        let arguments = ["table.csv", "--delimiter", delimiter];
        let parts = [delimiter, "one ASCII character, or tab"];
        fail("column_statistics", folder.path(), &arguments, &parts);
    }
}
