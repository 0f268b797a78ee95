//! A run as one HTML page that needs no other file.

use super::chart;
use super::page::{Page, Section};
use super::support::Outcome;
use super::table;
use std::fmt::Write as _;

const STYLE: &str = "\
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; display: block; overflow-x: auto }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #8884 }
th:first-child, td:first-child { text-align: left }
svg { max-width: 100%; height: auto; border-radius: .4rem }
p.about { color: #777 }
:root { color-scheme: light dark }
";

/// The page, with a chart and tables for each section.
pub fn page(page: &Page) -> Outcome<String> {
    let title = escaped(page.title);
    let device = page.device.as_deref().unwrap_or("counted by the simulator");
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
         <p class=\"about\">{}. {}.</p>\n",
        escaped(device),
        escaped(&page.method)
    );
    for section in &page.sections {
        text += &self::section(page, section)?;
    }
    text += "</body>\n</html>\n";
    Ok(text)
}

fn section(page: &Page, section: &Section) -> Outcome<String> {
    let mut text = format!(
        "<h2>{}</h2>\n{}\n",
        escaped(&section.title),
        chart::draw(section)?
    );
    text += &html_table(&table::steps(page, section));
    text += "<dl>\n";
    for row in section
        .best_rows()
        .into_iter()
        .filter(|row| !row.change.is_empty())
    {
        let (step, change) = (escaped(&row.step), escaped(row.change));
        let _ = writeln!(text, "<dt><b>{step}</b></dt><dd>{change}</dd>");
    }
    text += "</dl>\n";
    if let Some(matrix) = table::matrix(page, section) {
        let _ = writeln!(
            text,
            "<p>Microseconds by {}:</p>",
            escaped(section.parameter)
        );
        text += &html_table(&matrix);
    }
    Ok(text)
}

fn html_table(lines: &[Vec<String>]) -> String {
    let mut text = "<table>\n".to_owned();
    for (number, line) in lines.iter().enumerate() {
        let tag = if number == 0 { "th" } else { "td" };
        let cells: String = line
            .iter()
            .filter(|cell| !cell.starts_with('\u{2588}'))
            .map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell)))
            .collect();
        let _ = writeln!(text, "<tr>{cells}</tr>");
    }
    text + "</table>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
