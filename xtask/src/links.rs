//! `cargo xtask links`: checks pages' links within the repository, both relative and by its address.

use crate::tracked::tracked;
use crate::workspace::{Result, workspace_root};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The repository's web address, up to a file's path: for a page, and for a folder. Pages that are read outside the
/// repository use it.
const ADDRESSES: [&str; 2] = [
    "https://github.com/tilewright/tilewright/blob/main/",
    "https://github.com/tilewright/tilewright/tree/main/",
];

/// The book's pages. Nothing else is published with them.
const BOOK: &str = "docs/guide/pages";

/// The notebook, whose sections may move.
const NOTEBOOK: &str = "docs/notebook";

/// A page's links and anchors.
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

/// The tracked pages, by their paths from `root`. Fragments of generated pages, among the sources, are excluded.
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

/// GitHub's anchor of a heading.
fn anchor(heading: &str) -> String {
    let characters = heading.chars().filter_map(|it| match it {
        ' ' => Some('-'),
        '-' | '_' => Some(it),
        _ => it.is_alphanumeric().then_some(it),
    });
    characters.flat_map(char::to_lowercase).collect()
}

/// The path from the root, if the target has the repository's address.
fn by_address(target: &str) -> Option<&str> {
    ADDRESSES.iter().find_map(|it| target.strip_prefix(it))
}

fn is_local(target: &str) -> bool {
    let is_remote = target.contains("://") || target.starts_with("mailto:");
    !is_remote || by_address(target).is_some()
}

/// The reason why `target`, on the page at `path`, is broken.
fn breach(
    root: &Path,
    pages: &BTreeMap<PathBuf, Page>,
    path: &Path,
    target: &str,
) -> Option<&'static str> {
    let (folder, target) = match by_address(target) {
        Some(target) => (Path::new(""), target),
        None => (path.parent().unwrap_or(Path::new("")), target),
    };
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let at = match file {
        "" => path.to_owned(),
        file => resolved(folder, Path::new(file)),
    };
    if !root.join(&at).exists() {
        return Some("there is no such file");
    }
    if path.starts_with(BOOK) && folder.starts_with(BOOK) && !at.starts_with(BOOK) {
        return Some("the book does not have this file: link by the repository's address");
    }
    if !anchor.is_empty() && at.starts_with(NOTEBOOK) && !path.starts_with(NOTEBOOK) {
        return Some("a notebook's sections may move: link to the page");
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
        let breach = |target: &str| breach(&root, &pages, page, target);
        assert_eq!(breach("../README.md"), None);
        assert_eq!(breach("../README.md#two-words"), None);
        assert_eq!(breach("architecture.md#not-looked-at"), None);
        let missing = Some("there is no such file");
        assert_eq!(breach("README.md"), missing);
        let heading = Some("the page has no such heading");
        assert_eq!(breach("../README.md#three-words"), heading);

        let address = "https://github.com/tilewright/tilewright/blob/main";
        assert_eq!(breach(&format!("{address}/README.md#two-words")), None);
        assert_eq!(breach(&format!("{address}/README.md#three-words")), heading);
        assert_eq!(breach(&format!("{address}/docs/README.md")), missing);
        assert!(is_local(&format!("{address}/README.md")));
        assert!(!is_local("https://github.com/rust-lang/mdBook"));
    }

    #[test]
    fn books_and_notebooks_have_rules_of_their_own() {
        let root = workspace_root();
        let breach =
            |page: &str, target: &str| breach(&root, &BTreeMap::new(), Path::new(page), target);
        let chapter = "docs/guide/pages/products.md";
        assert_eq!(breach(chapter, "reductions.md"), None);
        assert!(breach(chapter, "../../products.md").is_some());
        let address = "https://github.com/tilewright/tilewright/blob/main/docs/products.md";
        assert_eq!(breach(chapter, address), None);

        assert_eq!(breach("README.md", "docs/notebook/products.md"), None);
        assert!(breach("README.md", "docs/notebook/products.md#f64").is_some());
        assert_eq!(breach("docs/notebook/README.md", "products.md#f64"), None);
    }
}
