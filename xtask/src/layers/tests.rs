use super::*;
use std::collections::BTreeMap;

/// A crate in the folder `it` with these module texts.
fn sources(modules: &[(&str, &str)]) -> Sources {
    let texts = modules.iter().map(|(path, text)| {
        let names = path.split("::").filter(|it| !it.is_empty());
        let module: Vec<String> = names.map(str::to_owned).collect();
        (module, (format!("it/{path}.rs"), (*text).to_owned()))
    });
    Sources::of(texts.collect::<BTreeMap<_, _>>()).unwrap()
}

fn edges(modules: &[(&str, &str)]) -> Vec<(String, String)> {
    let uses = sources(modules).uses.into_iter();
    uses.map(|it| (it.module.join("::"), it.of.join("::")))
        .collect()
}

fn edge(from: &str, to: &str) -> (String, String) {
    (from.to_owned(), to.to_owned())
}

#[test]
fn a_circle_is_found_with_the_lines_that_make_it() {
    let found = sources(&[
        ("", "mod a; mod b; mod c;"),
        ("a", "use crate::b::B;"),
        ("b", "pub struct B;\n\nfn f() { super::c::g(); }"),
        ("c", "use super::{a, d};"),
    ]);
    let circles = circles(&found.uses);
    assert_eq!(circles.len(), 1);
    for line in ["it/a.rs:1: b::B", "it/b.rs:3: c::g", "it/c.rs:1: a"] {
        assert!(circles[0].contains(line), "{circles:?}");
    }
}

#[test]
fn what_a_parent_exports_of_its_children_is_theirs() {
    let found = edges(&[
        ("", "mod a; mod b;"),
        ("a", "mod inner; pub use inner::Thing as Other;"),
        ("a::inner", "pub struct Thing;"),
        ("b", "use crate::a::Other;"),
    ]);
    assert_eq!(found, [edge("b", "a::inner")]);
}

#[test]
fn what_a_parent_exports_and_names_in_its_own_code_it_uses() {
    let child = ("a::inner", "use super::Own; pub struct Thing;");
    let export = "mod inner; pub use inner::Thing as Other; pub struct Own;";
    let exports_alone = [("a", export), child];
    assert_eq!(edges(&exports_alone), [edge("a::inner", "a")]);
    for code in [
        "impl Other { fn f() {} }",
        "fn f(it: &Other) {}",
        "fn f() { Other::new(); }",
        "fn f() { assert!(x == Other); }",
    ] {
        let text = format!("{export}\n{code}");
        let found = sources(&[("a", &text), child]);
        let circles = circles(&found.uses);
        assert_eq!(circles.len(), 1, "{code}");
        assert!(circles[0].contains("it/a.rs:2: a::inner::Thing"));
    }
    let of_a_field = format!("{export}\nfn f() {{ g!(it.Other) }}");
    let members_alone = [("a", of_a_field.as_str()), child];
    assert_eq!(edges(&members_alone), [edge("a::inner", "a")]);
}

#[test]
fn modules_for_tests_do_not_count() {
    let found = edges(&[
        ("", "mod a; mod b;"),
        (
            "a",
            "#[cfg(test)] mod tests; #[cfg(test)] mod here { use crate::b::B; }",
        ),
        ("a::tests", "use crate::b::B;"),
        ("b", "use crate::a::A;"),
    ]);
    assert_eq!(found, [edge("b", "a")]);
}

#[test]
fn paths_in_macros_and_in_modules_within_a_file_count() {
    let found = edges(&[
        ("", "mod a; mod b; mod c;"),
        (
            "a",
            "macro_rules! m { () => { $crate::b::f(vec![crate::c::C]) } }",
        ),
        (
            "b",
            "mod within { use super::super::c::C; use super::own; } fn own() {}",
        ),
        ("c", "use std::fmt; fn f() { a::b(); }"),
    ]);
    assert_eq!(found, [edge("a", "b"), edge("a", "c"), edge("b", "c")]);
}

#[test]
fn programs_that_share_modules_have_no_root() {
    let found = edges(&[
        (
            "sum",
            "mod common; use common::sums::S; use crate::common::Case; use crate::absent::A;",
        ),
        ("common", "pub mod sums;"),
        ("common::sums", "use super::Case; use crate::CONSTANT;"),
    ]);
    assert_eq!(
        found,
        [edge("common::sums", "common"), edge("sum", "common")]
    );
}

#[test]
fn modules_of_other_folders_are_none_of_the_crate() {
    let found = edges(&[
        (
            "",
            "#[path = \"../common/mod.rs\"] mod common; mod sets; use sets::Set;",
        ),
        (
            "sets",
            "use crate::common::Result; use super::common::Case;",
        ),
    ]);
    assert_eq!(found, [edge("", "sets")]);
}

#[test]
fn programs_and_their_folders_are_crates() {
    let crates = crates(&workspace_root()).unwrap();
    for folder in [
        "host",
        "ladder/program",
        "benches",
        "benches/products",
        "examples",
        "defects/program",
    ] {
        assert!(crates.contains(folder), "{folder} is not among {crates:?}");
    }
    assert!(!crates.iter().any(|it| it.contains("tests/")), "{crates:?}");
}

#[test]
fn a_file_of_more_than_400_lines_is_too_long() {
    let root = tempfile::tempdir().unwrap();
    for (file, lines) in [("short.rs", 400), ("long.rs", 401)] {
        std::fs::write(root.path().join(file), "\n".repeat(lines)).unwrap();
    }
    let files = ["short.rs", "long.rs", "deleted.rs"].map(str::to_owned);
    let found = too_long(root.path(), &files).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("long.rs has 401 lines, of 400 at most"));
}

fn of_page(page: &str, modules: &[(&str, &str)]) -> Vec<String> {
    let pictures = pictures(page);
    assert_eq!(pictures.len(), 1);
    breaches(&pictures[0], &sources(modules))
}

#[test]
fn a_picture_that_holds_has_no_breach() {
    let page = "```layers it\nabove/  other      remarks, in words\nbelow\n```";
    let modules = [
        ("", "mod above; mod other; mod below;"),
        ("above", "mod inner;"),
        ("above::inner", "use crate::below::B; use super::A;"),
        ("other", ""),
        ("below", ""),
    ];
    assert_eq!(of_page(page, &modules), [""; 0]);
}

#[test]
fn uses_of_layers_above_and_beside_and_missing_names_are_breaches() {
    let page = "```layers it\nabove\nmiddle  beside\nbelow  nowhere\n```";
    let modules = [
        ("above", ""),
        ("middle", "use crate::beside::B;"),
        ("beside", ""),
        ("below", "\nuse crate::above::A;"),
        ("unknown", ""),
    ];
    assert_eq!(
        of_page(page, &modules),
        [
            "it: the picture has no module unknown",
            "it: nowhere of the picture is no module",
            "it/below.rs:2: above::A is of a layer above",
            "it/middle.rs:1: beside::B is of a layer beside",
        ]
    );
}
