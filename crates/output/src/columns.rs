//! Tables that fit a terminal.

use std::fmt::Write as _;

/// Between two columns.
const GAP: &str = "  ";

/// The lines' cells in columns of equal width, the first one and bars to the left. Columns that do
/// not fit into `width` follow below, each part with the first column.
#[must_use]
pub fn columns(lines: &[Vec<String>], width: usize) -> String {
    let count = lines.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(|column| width_of(lines, column)).collect();
    let mut text = String::new();
    for part in parts(&widths, width) {
        if !text.is_empty() {
            text.push('\n');
        }
        for line in lines {
            let cells: Vec<String> = part
                .iter()
                .filter_map(|&column| Some(aligned(line.get(column)?, column, widths[column])))
                .collect();
            let _ = writeln!(text, "{}", cells.join(GAP).trim_end());
        }
    }
    text
}

fn width_of(lines: &[Vec<String>], column: usize) -> usize {
    let cells = lines.iter().filter_map(|line| line.get(column));
    cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
}

/// The columns of each part, which begins with the first one.
fn parts(widths: &[usize], width: usize) -> Vec<Vec<usize>> {
    let Some(&first) = widths.first() else {
        return Vec::new();
    };
    let mut parts = vec![vec![0]];
    let mut used = first;
    for (column, of_column) in widths.iter().enumerate().skip(1) {
        let needed = GAP.len() + of_column;
        let is_full = used.saturating_add(needed) > width;
        match parts.last_mut() {
            Some(part) if !is_full || part.len() == 1 => {
                part.push(column);
                used += needed;
            }
            _ => {
                parts.push(vec![0, column]);
                used = first + needed;
            }
        }
    }
    parts
}

fn aligned(cell: &str, column: usize, width: usize) -> String {
    match column == 0 || cell.starts_with('\u{2588}') {
        true => format!("{cell:<width$}"),
        false => format!("{cell:>width$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Vec<Vec<String>> {
        let columns = 0..14;
        let head = columns.clone().map(|it| format!("column {it:02}"));
        let row = columns.map(|it| format!("{}", it * 1_000_003));
        vec![head.collect(), row.collect()]
    }

    #[test]
    fn tables_fit_terminals_of_80_and_of_200_columns() {
        let lines = table();
        for (width, parts) in [(80, 3), (200, 1), (usize::MAX, 1)] {
            let text = columns(&lines, width);
            assert!(
                text.lines().all(|line| line.chars().count() <= width),
                "{text}"
            );
            assert_eq!(text.matches("column 00").count(), parts, "{text}");
            for cell in lines.iter().flatten().skip(1) {
                assert!(
                    text.contains(cell.as_str()),
                    "{cell} is missing in:\n{text}"
                );
            }
        }
    }

    #[test]
    fn a_column_that_is_wider_than_the_terminal_stands_alone() {
        let lines = [["step", "a"], ["s", "a long cell"], ["t", "\u{2588}"]];
        let lines = lines.map(|line| line.map(str::to_owned).to_vec());
        assert_eq!(
            columns(&lines, 4),
            "step            a\ns     a long cell\nt     \u{2588}\n"
        );
    }
}
