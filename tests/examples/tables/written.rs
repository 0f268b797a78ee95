//! Files that other tools wrote.

use super::{DOUBTFUL, Expected, HALF_MISSING, NAMED, NUMBERED};

/// Files that pandas, DuckDB and NumPy wrote, in the folder `files`.
pub const WRITTEN: &[(&str, &str, Expected)] = &[
    ("pandas.csv", "", NAMED),
    ("pandas.csv", "--header", NAMED),
    (
        "pandas.csv",
        "--no-header",
        Err(&["line 1, column `1`", "`height` is no number"]),
    ),
    (
        "pandas-index.csv",
        "",
        Ok(&[
            "1,2,0.5,0.5,0.0,1.0,0",
            "height,2,2.0,1.0,1.0,3.0,0",
            "width,2,4.0,2.0,2.0,6.0,0",
        ]),
    ),
    ("pandas-quoted.csv", "", NAMED),
    ("pandas-tab.csv", "--delimiter tab", NAMED),
    (
        "pandas-tab.csv",
        "",
        Err(&["line 1", "pass --delimiter 'tab'"]),
    ),
    ("pandas-excel.csv", "--delimiter ; --decimal-comma", NAMED),
    (
        "pandas-excel.csv",
        "--delimiter ;",
        Err(&["line 2, column `height`", "`1,0`", "pass --decimal-comma"]),
    ),
    (
        "pandas-excel.csv",
        "",
        Err(&["line 1", "pass --delimiter ';'"]),
    ),
    ("pandas-no-header.csv", "", NUMBERED),
    (
        "pandas-utf-16.csv",
        "",
        Err(&["UTF-16", "save it as CSV in UTF-8"]),
    ),
    ("pandas-numbered.csv", "", DOUBTFUL),
    (
        "pandas-numbered.csv",
        "--header",
        Ok(&["0,2,2.0,0.5,1.5,2.5,0", "1,2,3.0,1.0,2.0,4.0,0"]),
    ),
    ("pandas-years.csv", "", DOUBTFUL),
    (
        "pandas-years.csv",
        "--header",
        Ok(&["2019,2,2.0,1.0,1.0,3.0,0", "2020,2,4.0,2.0,2.0,6.0,0"]),
    ),
    (
        "pandas-missing.csv",
        "--missing=",
        Ok(&["a,2,2.0,1.0,1.0,3.0,1", "b,0,,,,,3"]),
    ),
    (
        "pandas-missing.csv",
        "",
        Err(&["line 2, column `b`", "empty", "--missing ''"]),
    ),
    (
        "pandas-missing-one-column.csv",
        "--missing=",
        Ok(&["a,2,2.0,1.0,1.0,3.0,1"]),
    ),
    (
        "pandas-missing-one-column.csv",
        "",
        Err(&["line 3, column `a`", "empty"]),
    ),
    (
        "pandas-na.csv",
        "--missing NA",
        Ok(&["a,1,1.0,0.0,1.0,1.0,1"]),
    ),
    (
        "pandas-na.csv",
        "",
        Err(&["line 3, column `a`", "`NA` is no number", "--missing 'NA'"]),
    ),
    (
        "pandas-names.csv",
        "",
        Ok(&[
            "\"a, \"\"b\"\"\",2,2.0,1.0,1.0,3.0,0",
            "\"c",
            "d\",2,4.0,2.0,2.0,6.0,0",
        ]),
    ),
    (
        "pandas-bool.csv",
        "",
        Err(&["line 2, column `a`", "`True` is no number"]),
    ),
    (
        "pandas-text.csv",
        "",
        Err(&["line 2, column `name`", "`Ann` is no number"]),
    ),
    ("duckdb.csv", "--missing=", HALF_MISSING),
    ("duckdb.csv", "", Err(&["line 3, column `width`", "empty"])),
    (
        "duckdb-bar.csv",
        "--delimiter | --missing NULL",
        HALF_MISSING,
    ),
    (
        "duckdb-bar.csv",
        "--missing NULL",
        Err(&["line 1", "pass --delimiter '|'"]),
    ),
    (
        "duckdb-no-header.csv",
        "--missing=",
        Ok(&["1,2,2.0,1.0,1.0,3.0,0", "2,1,2.0,0.0,2.0,2.0,1"]),
    ),
    ("savetxt.csv", "", NUMBERED),
    (
        "savetxt-header.csv",
        "",
        Ok(&["# height,2,2.0,1.0,1.0,3.0,0", "width,2,4.0,2.0,2.0,6.0,0"]),
    ),
    (
        "savetxt-spaces.csv",
        "",
        Err(&["line 1", "pass --delimiter ' '"]),
    ),
];
