//! What the chapters' documentation tests do not see: the output that pages show is what the programs print,
//! each chapter is in the book and is tested, and no page is long.
//!
//! With `TILEWRIGHT_BLESS` set, the output is written to the pages.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// A program of `programs/`, as a module.
macro_rules! program {
    ($name:ident) => {
        mod $name {
            include!(concat!("programs/", stringify!($name), ".rs"));

            pub fn run() -> tilewright::Result<()> {
                main()
            }
        }
    };
}

program!(add_up);
program!(copy_strided);
program!(reverse_blocks);

/// A program on a page, and what the page says that it prints.
struct Example {
    page: &'static str,
    /// The kernel of the program; the file in `programs/` has its name.
    kernel: &'static str,
    /// What the file has in place of some text on the page: the mistake that the reader is told to make.
    edit: Option<(&'static str, &'static str)>,
    /// Words that the printed block begins with, or has in its first line.
    printed: &'static str,
    run: fn() -> String,
}

fn error_of(result: tilewright::Result<()>) -> String {
    result.expect_err("the program is wrong").to_string()
}

const EXAMPLES: [Example; 3] = [
    Example {
        page: "README.md",
        kernel: "reverse_blocks",
        edit: Some(("thread::sync_threads();", "// thread::sync_threads();")),
        printed: "kernel `reverse_blocks`",
        run: || error_of(reverse_blocks::run()),
    },
    Example {
        page: "docs/guide/pages/finding_bugs.md",
        kernel: "add_up",
        edit: None,
        printed: "kernel `add_up`",
        run: || error_of(add_up::run()),
    },
    Example {
        page: "docs/guide/pages/measuring.md",
        kernel: "copy_strided",
        edit: None,
        printed: "copy_strided on ",
        run: || {
            copy_strided::run().expect("the program is right");
            copy_strided::costs().expect("the program is right")
        },
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The blocks of `text` that begin with `opening`, a fence with its language.
fn blocks<'t>(text: &'t str, opening: &'static str) -> impl Iterator<Item = &'t str> {
    let blocks = text.split(opening).skip(1);
    blocks.filter_map(|rest| Some(rest.split_once('\n')?.1.split_once("```")?.0))
}

/// The program on `page` that has the function `name`, with the lines that the book hides.
fn program_on(page: &str, name: &str) -> String {
    let text = read(page);
    let function = format!("fn {name}(");
    let program = blocks(&text, "```rust").find(|it| it.contains(&function));
    let program = program.unwrap_or_else(|| panic!("{page} has no program with `{name}`"));
    let lines = program.lines().map(|line| match line {
        "#" => "",
        line => line.strip_prefix("# ").unwrap_or(line),
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn programs_print_what_the_pages_say() {
    for example in EXAMPLES {
        let page = read(example.page);
        let file = format!("docs/guide/tests/programs/{}.rs", example.kernel);
        let program = program_on(example.page, example.kernel);
        let program = match example.edit {
            Some((right, wrong)) => program.replacen(right, wrong, 1),
            None => program,
        };
        assert_eq!(read(&file), program, "{file} and {} differ", example.page);

        let printed = (example.run)().replace(&file, "src/main.rs");
        let (printed, mut shown) = (printed.trim_end(), blocks(&page, "```text"));
        let shown = shown.find(|it| {
            it.lines()
                .next()
                .is_some_and(|it| it.contains(example.printed))
        });
        let shown = shown.expect("the page shows what is printed").trim_end();
        if env::var_os("TILEWRIGHT_BLESS").is_some() {
            fs::write(root().join(example.page), page.replacen(shown, printed, 1)).unwrap();
        } else {
            assert_eq!(shown, printed, "{}", example.page);
        }
    }
}

/// The chapters: the pages, without the table of contents.
fn chapters() -> Vec<String> {
    let folder = fs::read_dir(root().join("docs/guide/pages")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let chapters: Vec<_> = names
        .filter(|name| name.ends_with(".md") && name != "SUMMARY.md")
        .collect();
    assert!(!chapters.is_empty());
    chapters
}

#[test]
fn every_chapter_is_in_the_book_and_is_tested() {
    let (summary, library) = (
        read("docs/guide/pages/SUMMARY.md"),
        read("docs/guide/lib.rs"),
    );
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
        let fences = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("```"));
        let openings = fences.step_by(2);
        for language in openings {
            let known = [
                "rust",
                "rust,no_run",
                "rust,should_panic",
                "text",
                "toml",
                "console",
            ];
            assert!(known.contains(&language), "{page}: `{language}`");
        }
    }
}

/// `text` without the tables of figures, which are generated between markers.
fn written(text: &str) -> String {
    let mut parts = text.split("<!-- figures:");
    let before = parts.next().unwrap_or_default().to_owned();
    let rests = parts.map(|part| match part.split_once("-->") {
        Some((name, rest)) if name.contains(":end") => rest,
        _ => "",
    });
    before + &rests.collect::<String>()
}

#[test]
fn tables_of_figures_are_not_written() {
    let text = "a <!-- figures:x:begin -->b<!-- figures:x:end --> c";
    assert_eq!(written(text), "a  c");
}

#[test]
fn pages_are_short() {
    let words = |path: &str| written(&read(path)).split_whitespace().count();
    assert!(words("README.md") <= 1200, "{}", words("README.md"));
    for chapter in chapters() {
        let words = words(&format!("docs/guide/pages/{chapter}"));
        assert!(words <= 1500, "{chapter} has {words} words");
    }
}
