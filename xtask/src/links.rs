//! `cargo xtask links`: whether the pages' links within the repository lead somewhere.

use crate::tracked::tracked;
use crate::workspace::{Result, workspace_root};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// What a page links to, and where links can lead in it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Page {
    targets: Vec<String>,
    anchors: HashSet<String>,
}

pub fn run(mut arguments: lexopt::Parser) -> Result {
    if let Some(argument) = arguments.next()? {
        return Err(argument.unexpected().into());
    }
    let root = workspace_root();
    let pages = pages(&root)?;
    let (mut links, mut broken) = (0, Vec::new());
    for (path, page) in &pages {
        for target in page.targets.iter().filter(|it| is_local(it)) {
            links += 1;
            if let Some(why) = breach(&root, &pages, path, target) {
                broken.push(format!("{}: {target}: {why}", path.display()));
            }
        }
    }
    if links == 0 {
        return Err("no page has a link".into());
    }
    if broken.is_empty() {
        println!("{links} links of {} pages lead somewhere", pages.len());
        return Ok(());
    }
    Err(broken.join("\n       ").into())
}

/// The tracked pages, by their paths from `root`. Parts of generated pages, which lie among sources, are none.
fn pages(root: &Path) -> Result<BTreeMap<PathBuf, Page>> {
    let is_part = |path: &Path| path.components().any(|it| it.as_os_str() == "src");
    let files = tracked(root, &["*.md"])?;
    let paths = files.iter().map(PathBuf::from).filter(|it| !is_part(it));
    paths
        .map(|path| {
            let page = read(&fs::read_to_string(root.join(&path))?);
            Ok((path, page))
        })
        .collect()
}

fn read(text: &str) -> Page {
    let mut page = Page::default();
    let mut repetitions = HashMap::<String, usize>::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.targets.push(dest_url.into_string());
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let anchor = anchor(&heading.take().unwrap_or_default());
                let earlier = repetitions.entry(anchor.clone()).or_default();
                page.anchors.insert(match *earlier {
                    0 => anchor,
                    number => format!("{anchor}-{number}"),
                });
                *earlier += 1;
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            _ => {}
        }
    }
    page
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let characters = heading.chars().filter_map(|it| match it {
        ' ' => Some('-'),
        '-' | '_' => Some(it),
        _ => it.is_alphanumeric().then_some(it),
    });
    characters.flat_map(char::to_lowercase).collect()
}

fn is_local(target: &str) -> bool {
    !target.contains("://") && !target.starts_with("mailto:")
}

/// Why `target`, on the page at `path`, leads nowhere.
fn breach(
    root: &Path,
    pages: &BTreeMap<PathBuf, Page>,
    path: &Path,
    target: &str,
) -> Option<&'static str> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let at = match file {
        "" => path.to_owned(),
        file => resolved(path.parent().unwrap_or(Path::new("")), Path::new(file)),
    };
    if !root.join(&at).exists() {
        return Some("there is no such file");
    }
    match pages.get(&at) {
        Some(page) if !anchor.is_empty() && !page.anchors.contains(anchor) => {
            Some("the page has no such heading")
        }
        _ => None,
    }
}

/// `file` from `folder`, without `.` and `..`.
fn resolved(folder: &Path, file: &Path) -> PathBuf {
    let mut path = folder.to_owned();
    for component in file.components() {
        match component {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# A page: `code` & more
See [one](other.md#two-words), ![a chart](../chart.svg).

```text
[no link](nowhere.md)
```

## Twice
## Twice
";

    #[test]
    fn links_and_headings_are_found_outside_of_code() {
        let page = read(TEXT);
        assert_eq!(page.targets, ["other.md#two-words", "../chart.svg"]);
        let anchors = ["a-page-code--more", "twice", "twice-1"];
        assert_eq!(page.anchors, anchors.map(str::to_owned).into());
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let root = workspace_root();
        let page = Path::new("docs/page.md");
        let other = read("# Two words\n");
        let pages = BTreeMap::from([("README.md".into(), other)]);
        let breach = |target| breach(&root, &pages, page, target);
        assert_eq!(breach("../README.md"), None);
        assert_eq!(breach("../README.md#two-words"), None);
        assert_eq!(breach("architecture.md#not-looked-at"), None);
        let missing = Some("there is no such file");
        assert_eq!(breach("README.md"), missing);
        let heading = Some("the page has no such heading");
        assert_eq!(breach("../README.md#three-words"), heading);
    }
}
