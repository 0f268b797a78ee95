//! The parts of the pages that are not Rust code: defect reports are what the simulator prints, each
//! chapter is in the book and is tested, and no page is long.

use std::fs;
use std::path::{Path, PathBuf};

/// A program of `broken/`, as a module whose `run` returns what `main` returns.
macro_rules! program {
    ($name:ident) => {
        mod $name {
            include!(concat!("broken/", stringify!($name), ".rs"));

            pub fn run() -> tilewright::Result<()> {
                main()
            }
        }
    };
}

program!(reverse_blocks);

/// A program on a page, the edit that breaks it, and the page's report of the defect.
struct Defect {
    page: &'static str,
    /// The function that the page's program and the file in `broken/` have.
    name: &'static str,
    /// The text that the edit replaces, and its replacement; nothing where the page's program is the broken one.
    edit: Option<(&'static str, &'static str)>,
    run: fn() -> tilewright::Result<()>,
}

const DEFECTS: [Defect; 1] = [Defect {
    page: "README.md",
    name: "reverse_blocks",
    edit: Some(("thread::sync_threads();", "// thread::sync_threads();")),
    run: reverse_blocks::run,
}];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The program on `page` that has the function `name`, with the lines that the book hides.
fn program_on(page: &str, name: &str) -> String {
    let text = read(page);
    let function = format!("fn {name}(");
    let blocks = text.split("```rust\n").skip(1);
    let mut programs = blocks.filter_map(|rest| rest.split("```").next());
    let program = programs.find(|it| it.contains(&function));
    let program = program.unwrap_or_else(|| panic!("{page} has no program with `{name}`"));
    let lines = program.lines().map(|line| match line {
        "#" => "",
        line => line.strip_prefix("# ").unwrap_or(line),
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The report of a defect of the kernel `name` on `page`.
fn report_on(page: &str, name: &str) -> String {
    let text = read(page);
    let kernel = format!("kernel `{name}`");
    let blocks = text.split("```text\n").skip(1);
    let mut reports = blocks.filter_map(|rest| rest.split("\n```").next());
    let report = reports.find(|it| it.contains(&kernel));
    report.unwrap_or_else(|| panic!("{page} has no report of `{name}`")).to_owned()
}

#[test]
fn reports_are_those_of_the_simulator() {
    for defect in DEFECTS {
        let file = format!("docs/guide/tests/broken/{}.rs", defect.name);
        let program = program_on(defect.page, defect.name);
        let broken = match defect.edit {
            Some((right, wrong)) => program.replacen(right, wrong, 1),
            None => program,
        };
        assert_eq!(read(&file), broken, "{file} and {} differ", defect.page);

        let error = (defect.run)().expect_err("the program is broken");
        let report = error.to_string().replace(&file, "src/main.rs");
        assert_eq!(report_on(defect.page, defect.name), report, "{}", defect.page);
    }
}

/// The chapters: the pages, without the table of contents.
fn chapters() -> Vec<String> {
    let folder = fs::read_dir(root().join("docs/guide/pages")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let chapters: Vec<_> = names.filter(|name| name != "SUMMARY.md").collect();
    assert!(!chapters.is_empty());
    chapters
}

#[test]
fn every_chapter_is_in_the_book_and_is_tested() {
    let (summary, library) = (read("docs/guide/pages/SUMMARY.md"), read("docs/guide/lib.rs"));
    for chapter in chapters() {
        assert!(summary.contains(&format!("({chapter})")), "{chapter}");
        let included = format!("include_str!(\"pages/{chapter}\")");
        assert!(library.contains(&included), "{chapter}");
    }
}

/// Rust that is not compiled would go stale unseen.
#[test]
fn every_block_of_rust_is_compiled() {
    let pages = chapters().into_iter();
    let pages = pages.map(|name| format!("docs/guide/pages/{name}"));
    for page in pages.chain(["README.md".to_owned()]) {
        let text = read(&page);
        let fences = text.lines().filter_map(|line| line.trim().strip_prefix("```"));
        let openings = fences.step_by(2);
        for language in openings {
            let known = ["rust", "rust,no_run", "text", "toml", "console"];
            assert!(known.contains(&language), "{page}: `{language}`");
        }
    }
}

#[test]
fn pages_are_short() {
    let words = |path: &str| read(path).split_whitespace().count();
    assert!(words("README.md") <= 1200, "{}", words("README.md"));
    for chapter in chapters() {
        let words = words(&format!("docs/guide/pages/{chapter}"));
        assert!(words <= 1500, "{chapter} has {words} words");
    }
}
