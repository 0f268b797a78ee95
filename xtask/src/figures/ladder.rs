//! The charts of a ladder's page, drawn from the page's table: a chart for each size, with a bar for each step.
//! `cargo ladder tensor --charts ladder/pages` draws the same charts of its measurements.

use crate::workspace::{Result, workspace_root};
use std::fs;
use std::path::PathBuf;
use tilewright_output::chart::Bars;

/// The page, relative to the root, and the start of its table.
const PAGE: &str = "ladder/pages/tensor.md";
const HEAD: &str = "| step | predicted |";

/// The file of each chart of the page, and the chart.
pub fn drawings() -> Result<Vec<(PathBuf, String)>> {
    let page = workspace_root().join(PAGE);
    let text = fs::read_to_string(&page)?;
    let charts = charts(&text)?;
    let draw = |(size, bars): (String, Bars)| {
        let path = page.with_file_name(format!("tensor-{size}.svg"));
        Ok((path, bars.draw()?))
    };
    charts.into_iter().map(draw).collect()
}

/// A chart for each size that has a column. Steps without a measurement have no bar.
fn charts(page: &str) -> Result<Vec<(String, Bars)>> {
    let mut lines = page.lines().skip_while(|line| !line.starts_with(HEAD));
    let head = lines.next().ok_or("the page has no table of steps")?;
    // The line below the names aligns the columns.
    let rows: Vec<Vec<&str>> = lines
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .map(cells)
        .collect();
    let column = |(column, size): (usize, &str)| {
        let bar = |row: &Vec<&str>| Some((row[0].to_owned(), row.get(column)?.parse().ok()?));
        let bars = Bars {
            title: format!("C = A B in bf16 with f32 accumulators, {size} x {size}"),
            unit: "TFLOP/s".to_owned(),
            bars: rows.iter().filter_map(bar).collect(),
        };
        (size.to_owned(), bars)
    };
    Ok(cells(head)
        .into_iter()
        .enumerate()
        .skip(2)
        .map(column)
        .collect())
}

/// The cells of a line of a table.
fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_was_measured_has_a_bar() {
        let page = "text\n| step | predicted | 16 | 32 |\n|---|---|---:|---:|\n\
                    | one | slow | 1.5 | - |\n| two | | 2 | 3 |\n\nmore | text\n";
        let charts = charts(page).unwrap();
        let bars = |index: usize| charts[index].1.bars.clone();
        assert_eq!(charts[1].0, "32");
        assert_eq!(bars(0), [("one".to_owned(), 1.5), ("two".to_owned(), 2.0)]);
        assert_eq!(bars(1), [("two".to_owned(), 3.0)]);
    }
}
