//! Text in columns, with headings across them.

/// The gap between two columns.
const GAP: &str = "  ";

/// A line of a table.
pub(crate) enum Row {
    /// A heading across all columns.
    Heading(String),
    /// A cell for each column. The first is text, the others are numbers.
    Cells(Vec<String>),
}

/// Aligns rows in columns. Each is as wide as its widest cell; the first is left-aligned, the others right-aligned.
/// Columns whose cells below the first row are all empty are left out.
pub(crate) fn aligned(rows: &[Row]) -> String {
    let widths = widths(rows);
    let lines = rows.iter().map(|row| match row {
        Row::Heading(text) => text.clone(),
        Row::Cells(cells) => line(cells, &widths),
    });
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The width of each column; 0 if the column is left out.
fn widths(rows: &[Row]) -> Vec<usize> {
    let cells: Vec<&Vec<String>> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Heading(_) => None,
            Row::Cells(cells) => Some(cells),
        })
        .collect();
    let count = cells.first().map_or(0, |head| head.len());
    let width = |column: usize| {
        let is_used = cells.iter().skip(1).any(|row| !row[column].is_empty());
        let widths = cells.iter().map(|row| row[column].chars().count());
        if is_used {
            widths.max().unwrap_or(0)
        } else {
            0
        }
    };
    (0..count).map(width).collect()
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (column, (cell, &width)) in cells.iter().zip(widths).enumerate() {
        match (column, width) {
            (_, 0) => {}
            (0, _) => text += &format!("{cell:<width$}"),
            _ => text += &format!("{GAP}{cell:>width$}"),
        }
    }
    text
}

/// Whether each line has at most `columns` characters.
pub(crate) fn fits(text: &str, columns: usize) -> bool {
    text.lines().all(|line| line.chars().count() <= columns)
}

/// The words in indented lines of at most `columns` characters, unless a word is longer.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    const INDENT: &str = "  ";
    let mut lines = String::new();
    let mut line = INDENT.to_owned();
    for word in text.split(' ') {
        let length = line.chars().count() + 1 + word.chars().count();
        if length > columns && line != INDENT {
            lines += &line;
            lines.push('\n');
            line = format!("{INDENT}  ");
        }
        line = format!("{line} {word}");
    }
    lines + &line + "\n"
}

/// The last characters of a text that is too long, after an ellipsis.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    let length = text.chars().count();
    if length <= columns {
        return text.to_owned();
    }
    let rest = text.chars().skip(length + 1 - columns.max(1));
    ['…'].into_iter().chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(texts: &[&str]) -> Row {
        Row::Cells(texts.iter().map(|&text| text.to_owned()).collect())
    }

    #[test]
    fn numbers_are_aligned_and_unused_columns_left_out() {
        let rows = [
            cells(&["what", "before", "unused", "after"]),
            Row::Heading("a line across".to_owned()),
            cells(&["sectors", "1", "", "12,345"]),
        ];
        let text = aligned(&rows);
        assert_eq!(
            text,
            "what     before   after\na line across\nsectors       1  12,345\n"
        );
        assert!(fits(&text, 23) && !fits(&text, 22));
    }

    #[test]
    fn a_long_path_keeps_its_end() {
        assert_eq!(shortened("kernels/sum.rs:12", 10), "…sum.rs:12");
        assert_eq!(shortened("sum.rs:12", 10), "sum.rs:12");
    }
}
