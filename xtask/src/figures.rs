//! `cargo xtask figures`: the tables, charts and numbers of pages, written from the files in `benches/results/`.
//!
//! A page has a table between `<!-- figures:NAME:begin -->` and `<!-- figures:NAME:end -->`, and a number in its text
//! between `<!-- figure:QUERY -->` and `<!-- /figure -->`. A table's chart is in the folder `figures` beside the
//! page, the README's in `docs/figures`. The charts of the tensor-core ladder are drawn from its page.

mod charts;
mod inline;
mod ladder;
mod measured;
mod panel;
mod scene;
mod tables;

use crate::tracked::tracked;
use crate::workspace::{Result, workspace_root};
use charts::CHARTS;
use measured::Measured;
use regex::{Captures, Regex};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tables::BLOCKS;
use tilewright_output::write_text;

/// Pages that may have tables.
const PAGES: [&str; 2] = ["README.md", "docs/*.md"];

/// The folder of charts of pages at the root.
const CHARTS_OF_ROOT: &str = "docs/figures";

/// Runs the command with the rest of its arguments.
pub fn run(mut arguments: lexopt::Parser) -> Result {
    use lexopt::Arg::{Long, Value};
    let (mut checks, mut adds) = (false, false);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("check") => checks = true,
            Long("add") => adds = true,
            Value(path) if adds => measured::add(Path::new(&path), &measured::results())?,
            argument => return Err(argument.unexpected().into()),
        }
    }
    let root = workspace_root();
    let files = files(&root, &Measured::of_repository()?)?;
    let stale: Vec<(&PathBuf, &String)> = (files.iter())
        .filter(|(path, text)| !fs::read_to_string(path).is_ok_and(|there| there == **text))
        .collect();
    if checks {
        return match &stale[..] {
            [] => {
                println!("{} pages and charts have the measured figures", files.len());
                Ok(())
            }
            stale => {
                let paths = stale.iter().map(|(path, _)| path.display().to_string());
                let paths = Vec::from_iter(paths).join("\n       ");
                Err(format!("run `cargo xtask figures`: stale are\n       {paths}").into())
            }
        };
    }
    for (path, text) in stale {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        write_text(path, text)?;
    }
    Ok(())
}

/// The expected contents of all pages with figures, and of all charts.
fn files(root: &Path, measured: &Measured) -> Result<BTreeMap<PathBuf, String>> {
    let mut files = BTreeMap::new();
    for page in tracked(root, &PAGES)? {
        let path = root.join(&page);
        let old = fs::read_to_string(&path)?;
        let (text, charts) =
            filled(&old, Path::new(&page), measured).map_err(|error| format!("{page}: {error}"))?;
        for name in charts {
            let chart = CHARTS.iter().find(|it| it.name == name);
            let chart = chart.ok_or_else(|| format!("there is no chart {name}"))?;
            let drawing = root
                .join(chart_folder(Path::new(&page)))
                .join(format!("{name}.svg"));
            let scene = chart.draw(measured);
            if let Some(breach) = scene.breach() {
                return Err(format!("the chart {name}: {breach}").into());
            }
            files.insert(drawing, scene.to_svg());
        }
        if text.contains("<!-- figure") {
            files.insert(path, text);
        }
    }
    files.extend(ladder::drawings()?);
    Ok(files)
}

/// Relative to the root.
fn chart_folder(page: &Path) -> PathBuf {
    match page.parent() {
        Some(folder) if folder != Path::new("") => folder.join("figures"),
        _ => PathBuf::from(CHARTS_OF_ROOT),
    }
}

/// A page with current figures, and the names of its charts.
fn filled(text: &str, page: &Path, measured: &Measured) -> Result<(String, Vec<&'static str>)> {
    let (mut text, mut charts) = (text.to_owned(), Vec::new());
    let names = Regex::new("<!-- figures:([a-z]+):begin -->")?;
    let names: Vec<String> = (names.captures_iter(&text))
        .map(|it| it[1].to_owned())
        .collect();
    for name in names {
        let block = BLOCKS.iter().find(|it| it.name == name);
        let block = block.ok_or_else(|| format!("there is no table {name}"))?;
        let marks = ["begin", "end"].map(|it| format!("<!-- figures:{name}:{it} -->"));
        let (before, rest) = text.split_once(&marks[0]).ok_or("a mark is missing")?;
        let (_, after) = rest
            .split_once(&marks[1])
            .ok_or_else(|| format!("{} is missing", marks[1]))?;
        let picture = match block.chart {
            Some(tables::Chart::Above(name)) => {
                let chart = CHARTS.iter().find(|it| it.name == name);
                let title = chart.ok_or("there is no such chart")?.title;
                let folder = chart_folder(page);
                let from_page = folder.strip_prefix(page.parent().unwrap_or(page))?;
                charts.push(name);
                format!("![{title}]({}/{name}.svg)\n\n", from_page.display())
            }
            Some(tables::Chart::Elsewhere(name)) => {
                charts.push(name);
                String::new()
            }
            None => String::new(),
        };
        let table = (block.table)(measured);
        text = format!("{before}{}\n{picture}{table}{}{after}", marks[0], marks[1]);
    }
    Ok((with_numbers(&text, measured)?, charts))
}

/// The text with current numbers.
fn with_numbers(text: &str, measured: &Measured) -> Result<String> {
    let number = Regex::new("<!-- figure:(.*?) -->(.*?)<!-- /figure -->")?;
    let opened = text.matches("<!-- figure:").count();
    if number.find_iter(text).count() != opened {
        return Err("a `<!-- figure:` has no `<!-- /figure -->` on its line".into());
    }
    let mut failure = None;
    let text = number.replace_all(text, |found: &Captures<'_>| {
        let query = &found[1];
        match inline::answer(query, measured) {
            Ok(answer) => format!("<!-- figure:{query} -->{answer}<!-- /figure -->"),
            Err(error) => {
                failure.get_or_insert(error);
                String::new()
            }
        }
    });
    let text = text.into_owned();
    failure.map_or(Ok(text), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_filled_between_its_marks_alone() {
        let measured = Measured::of_repository().unwrap();
        let page = "before\n<!-- figures:summary:begin -->\nold\n<!-- figures:summary:end -->\nafter \
                    <!-- figure:ratio of sum f32 2^20 -->old<!-- /figure --> times\n";
        let (text, charts) = filled(page, Path::new("README.md"), &measured).unwrap();
        assert_eq!(charts, ["ratios"]);
        assert!(text.starts_with("before\n<!-- figures:summary:begin -->\n| work |"));
        assert!(text.contains("<!-- figures:summary:end -->\nafter <!-- figure:ratio of sum"));
        assert!(text.ends_with("<!-- /figure --> times\n") && !text.contains("old"));
        // Filling again changes nothing.
        let again = filled(&text, Path::new("README.md"), &measured).unwrap();
        assert_eq!(again.0, text);
    }

    #[test]
    fn a_mark_without_its_end_or_with_another_name_is_an_error() {
        let measured = Measured::of_repository().unwrap();
        for page in [
            "<!-- figures:summary:begin -->\n",
            "<!-- figures:nothing:begin --><!-- figures:nothing:end -->",
            "<!-- figure:ratio of sum f32 2^20 -->1.8\n",
            "<!-- figure:ratio of nothing -->1.8<!-- /figure -->",
        ] {
            assert!(
                filled(page, Path::new("README.md"), &measured).is_err(),
                "{page}"
            );
        }
    }

    #[test]
    fn charts_lie_beside_the_pages() {
        let folder = |page: &str| chart_folder(Path::new(page));
        assert_eq!(folder("README.md"), Path::new("docs/figures"));
        assert_eq!(folder("docs/products.md"), Path::new("docs/figures"));
        assert_eq!(
            folder("docs/guide/pages/a.md"),
            Path::new("docs/guide/pages/figures")
        );
        let measured = Measured::of_repository().unwrap();
        let page = "<!-- figures:products:begin -->\n<!-- figures:products:end -->";
        let path = |page: &str| format!("]({page}/products.svg)\n");
        for (at, expected) in [
            ("docs/guide/pages/products.md", "figures"),
            ("README.md", "docs/figures"),
        ] {
            let (text, _) = filled(page, Path::new(at), &measured).unwrap();
            assert!(text.contains(&path(expected)), "{text}");
        }
    }
}
