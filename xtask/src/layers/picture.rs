//! The pictures of layers in a page, and their comparison with crates.

use super::sources::Sources;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};
use std::collections::HashMap;

/// The layers of a crate, from top to bottom.
#[derive(Debug, PartialEq, Eq)]
pub struct Picture {
    /// The folder of its sources.
    pub folder: String,
    /// The modules of each layer, as declared in the crate's root.
    pub layers: Vec<Vec<String>>,
}

/// The code blocks whose info string is `layers FOLDER`. A line is a layer: names and, after at least three blanks, a
/// remark.
pub fn pictures(page: &str) -> Vec<Picture> {
    let mut pictures = Vec::new();
    let mut events = Parser::new(page);
    while let Some(event) = events.next() {
        let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) = event else {
            continue;
        };
        let (Some(folder), Some(Event::Text(text))) = (info.strip_prefix("layers "), events.next())
        else {
            continue;
        };
        pictures.push(Picture {
            folder: folder.trim().to_owned(),
            layers: text.lines().map(names).collect(),
        });
    }
    pictures
}

fn names(line: &str) -> Vec<String> {
    let names = line.split("   ").next().unwrap_or_default();
    let names = names.split_whitespace();
    names
        .map(|it| it.trim_end_matches('/').to_owned())
        .collect()
}

/// Uses of a layer above or beside, and names missing in the picture or in the crate.
pub fn breaches(picture: &Picture, sources: &Sources) -> Vec<String> {
    let Picture { folder, layers } = picture;
    let mut heights = HashMap::new();
    for (depth, layer) in layers.iter().enumerate() {
        heights.extend(layer.iter().map(|name| (name.as_str(), depth)));
    }
    let modules = sources.top_modules();
    let mut found = Vec::new();
    for name in modules
        .iter()
        .filter(|it| !heights.contains_key(it.as_str()))
    {
        found.push(format!("{folder}: the picture has no module {name}"));
    }
    for name in layers.iter().flatten().filter(|it| !modules.contains(*it)) {
        found.push(format!("{folder}: {name} of the picture is no module"));
    }
    for it in &sources.uses {
        let [Some(from), Some(to)] = [&it.module, &it.of].map(|it| it.first()) else {
            continue;
        };
        let (Some(own), Some(other)) = (heights.get(from.as_str()), heights.get(to.as_str()))
        else {
            continue;
        };
        if from != to && other <= own {
            let where_is = if other == own { "beside" } else { "above" };
            let (file, line, path) = (&it.file, it.line, &it.path);
            found.push(format!("{file}:{line}: {path} is of a layer {where_is}"));
        }
    }
    found
}
