//! A run as one self-contained HTML page.

use super::chart;
use super::page::{Page, Section};
use super::table;
use crate::support::Outcome;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = "\
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; display: block; overflow-x: auto }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #8884 }
th:first-child, td:first-child { text-align: left }
td { white-space: nowrap }
svg { max-width: 100%; height: auto }
p.about { color: #777 }
:root { color-scheme: light dark }
";

/// The page, with a chart and tables for each section.
pub fn page(page: &Page) -> Outcome<String> {
    let sections = page
        .sections
        .iter()
        .map(|section| self::section(page, section));
    let sections: Vec<Markup> = sections.collect::<Outcome<_>>()?;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { (page.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (page.title) }
                p.about {
                    @match &page.device {
                        Some(device) => { (device) ": " (page.method) "." }
                        None => "Counted by the simulator; times need --device cuda."
                    }
                }
                @for section in sections { (section) }
            }
        }
    };
    Ok(page.into_string())
}

fn section(page: &Page, section: &Section) -> Outcome<Markup> {
    let chart = chart::draw(section)?;
    Ok(html! {
        h2 { (section.title) }
        @if page.is_timed() {
            p.about { "Counters: " (section.counted) "." }
        }
        (PreEscaped(chart))
        (html_table(&table::steps(page, section)))
        dl {
            @for row in section.best_rows().into_iter().filter(|row| !row.change.is_empty()) {
                dt { b { (row.step) } }
                dd { (row.change) }
            }
        }
        @if let Some(matrix) = table::matrix(page, section) {
            p { "Microseconds by " (section.parameter) ":" }
            (html_table(&matrix))
        }
    })
}

fn html_table(lines: &[Vec<String>]) -> Markup {
    let (head, body) = lines
        .split_first()
        .map_or((&[][..], lines), |(head, body)| (&head[..], body));
    html! {
        table {
            tr { @for cell in head { th { (cell) } } }
            @for line in body {
                tr { @for cell in line { td { (cell) } } }
            }
        }
    }
}
