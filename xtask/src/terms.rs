//! `cargo xtask terms`: finds terms in pages, comments and strings that differ from the field's.

use crate::tracked::tracked;
use crate::workspace::{Result, workspace_root};
use regex::Regex;
use std::fs;

/// A term that the project does not use.
struct Term {
    /// A pattern that matches it as whole words, in either case.
    old: &'static str,
    /// The field's term.
    field: &'static str,
    /// Why, if not obvious.
    why: &'static str,
}

const fn term(old: &'static str, field: &'static str, why: &'static str) -> Term {
    Term { old, field, why }
}

const TERMS: [Term; 13] = [
    term(
        r"(?:tak(?:es?|ing)|took) (?:[^ .:;]+ ){0,4}apart|taken apart",
        "split, unpack, decode",
        "",
    ),
    term(
        r"wide (?:line|row|column)s?|(?:line|row|column)s? (?:is|are) wide",
        "row or column outside the split's range",
        "what is too far apart is its exponents",
    ),
    term(r"few lines", "skinny, few rows or columns", ""),
    term(
        r"lines? of (?:(?-i:A|B|C)|an operand|the operand|operands|a matrix|matrices)",
        "row or column",
        "a line is one of source text, or of a cache",
    ),
    term(
        r"rooms|(?:a|its|that|the|warp's) room",
        "staging buffer, space",
        "there is room for something; a piece of memory is a buffer",
    ),
    term(r"strands?", "accumulator, interleaved accumulator", ""),
    term(
        r"way to C|way of (?:one |a |each )?warp(?:group)?s?",
        "output, writer",
        "a way is a method",
    ),
    term(r"ordinary units", "CUDA cores", ""),
    term(
        r"(?:blocks?|kernels?|methods?|products?|tiles?|multipl\w+|and|or|\w+,) by warps",
        "warp-level, `mma.sync`",
        "as opposed to warpgroup-level, `wgmma`",
    ),
    term(
        r"own ind(?:ex|ices)",
        "unique index",
        "no other thread of the launch has it",
    ),
    term(r"one's own", "custom, user-defined", ""),
    term(r"the same of", "the same for, likewise", ""),
    term(r"what always holds", "invariants", ""),
];

/// This file, which quotes the terms.
const SKIPPED: &str = "xtask/src/terms.rs";

/// A use of an old term.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    /// The line of the first word, counted from 1.
    line: usize,
    words: String,
    remedy: String,
}

pub fn run(mut arguments: lexopt::Parser) -> Result {
    if let Some(argument) = arguments.next()? {
        return Err(argument.unexpected().into());
    }
    let root = workspace_root();
    let patterns = Patterns::new()?;
    let mut count = 0;
    for file in tracked(&root, &["*.md", "*.rs"])? {
        if file == SKIPPED {
            continue;
        }
        let text = fs::read_to_string(root.join(&file))?;
        for finding in patterns.findings(&file, &text) {
            println!(
                "{file}:{}: \"{}\": {}",
                finding.line, finding.words, finding.remedy
            );
            count += 1;
        }
    }
    match count {
        0 => Ok(()),
        _ => Err(format!("{count} terms for which the field has another").into()),
    }
}

struct Patterns {
    terms: Vec<(&'static Term, Regex)>,
    /// The parts of Rust source that are kept or skipped as a whole.
    tokens: Regex,
    /// Code within a sentence.
    code: Regex,
}

impl Patterns {
    fn new() -> Result<Self> {
        // ASCII word boundaries, which need no look-behind.
        let pattern = |old: &str| Regex::new(&format!(r"(?-u:\b)(?i:{old})(?-u:\b)"));
        Ok(Self {
            terms: TERMS
                .iter()
                .map(|term| Ok((term, pattern(term.old)?)))
                .collect::<Result<_>>()?,
            // Characters come before strings, since a character may be a quotation mark.
            tokens: Regex::new(
                r####"(?s)(?<words>//[^\n]*|/\*.*?\*/|r###".*?"###|r##".*?"##|r#".*?"#|"(?:\\.|[^"\\])*")|'(?:\\.[^']*|[^'\\])'"####,
            )?,
            code: Regex::new("`[^`\n]+`")?,
        })
    }

    /// The old terms in a file, term by term.
    fn findings(&self, file: &str, text: &str) -> Vec<Finding> {
        let text = match file.ends_with(".rs") {
            true => self.comments_and_strings(text),
            false => text.to_owned(),
        };
        let text = self.code.replace_all(&text, "``");
        let (text, starts) = paragraphs(&text);
        let mut findings = Vec::new();
        for (term, pattern) in &self.terms {
            findings.extend(pattern.find_iter(&text).map(|found| Finding {
                line: starts.partition_point(|start| *start <= found.start()),
                words: found.as_str().to_owned(),
                remedy: term.remedy(),
            }));
        }
        findings
    }

    /// The comments and strings of Rust source, on their lines.
    fn comments_and_strings(&self, source: &str) -> String {
        let mut kept = String::new();
        let mut end = 0;
        let code = |from: usize, to: usize| source[from..to].chars().filter(|it| *it == '\n');
        for token in self.tokens.captures_iter(source) {
            let whole = token.get_match();
            kept.extend(code(end, whole.start()));
            if let Some(words) = token.name("words") {
                kept.push_str(words.as_str());
            }
            end = whole.end();
        }
        kept.extend(code(end, source.len()));
        kept
    }
}

impl Term {
    fn remedy(&self) -> String {
        match self.why {
            "" => self.field.to_owned(),
            why => format!("{} ({why})", self.field),
        }
    }
}

/// The text without comment markers, with each paragraph on one line, because a term may span lines; and the offset
/// of each original line.
fn paragraphs(text: &str) -> (String, Vec<usize>) {
    let mut joined = String::with_capacity(text.len());
    let mut starts = Vec::new();
    for line in text.lines() {
        starts.push(joined.len());
        let words = line.trim_start().trim_start_matches(['/', '!', '#', '>']);
        let words = words.trim_end_matches('\\').trim();
        joined.push_str(words);
        joined.push(if words.is_empty() { '\n' } else { ' ' });
    }
    (joined, starts)
}

#[cfg(test)]
mod tests {
    use super::{Finding, Patterns, TERMS};

    /// The lines of old terms in a file.
    fn lines_in(file: &str, text: &str) -> Vec<usize> {
        let findings = Patterns::new().unwrap().findings(file, text);
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn every_term_is_found_in_a_comment_and_in_a_page() {
        let planted = [
            "Takes each element of A apart",
            "A wide row, or a product",
            "Products of few lines",
            "each line of B",
            "the warp's room",
            "Strands of a part",
            "A warpgroup's way to C",
            "left to the ordinary units",
            "f32, by warps",
            "this thread's own index",
            "kernels of one's own",
            "The same of B",
            "What always holds",
        ];
        let patterns = Patterns::new().unwrap();
        for (term, words) in TERMS.iter().zip(planted) {
            for (file, text) in [
                ("a.rs", format!("fn fine() {{}}\n    /// {words}.\n")),
                ("a.rs", format!("let it =\n    \"{words}\";\n")),
                ("a.md", format!("Fine,\n{words}.\n")),
            ] {
                let found = patterns.findings(file, &text);
                assert!(
                    matches!(&found[..], [Finding { line: 2, remedy, .. }] if *remedy == term.remedy()),
                    "{words}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn code_is_not_prose() {
        let source = "\
            let mut strands = [0; STRANDS]; // fine\n\
            let quotation = '\"'; strands.push(rooms);\n\
            fn f<'a>(room: &'a str) {} // `strands` and [`STRANDS`]\n\
            let raw = r#\"a \"fine\" one\"#; let strand = \"\\\"\"; strands();\n\
            // strands\n";
        assert_eq!(lines_in("a.rs", source), [5]);
        assert!(lines_in("a.md", "The constant `STRANDS` is 32.\n").is_empty());
    }

    #[test]
    fn a_term_that_breaks_over_a_line_is_found() {
        for (file, text) in [
            ("a.rs", "/// Operands that are taken\n/// apart.\n"),
            (
                "a.rs",
                "    // They are left to the ordinary\n    // units.\n",
            ),
            ("a.rs", "\"of the same of \\\n    B\""),
            ("a.md", "Products that are left to the ordinary\nunits.\n"),
        ] {
            assert_eq!(lines_in(file, text), [1], "{text}");
        }
        assert!(lines_in("a.md", "It is taken\n\napart\n").is_empty());
    }

    #[test]
    fn right_words_pass() {
        let text = "\
            Rows lie 32 elements apart; findings are told apart.\n\
            A multiprocessor has room for two blocks, which leaves no room for a third.\n\
            17 of 48 warps, limited by warps.\n\
            Each thread's own elements, and the same for B.\n\
            A stranded roommate, an ordinary unit-stride load, and a line of source.\n";
        assert!(lines_in("a.md", text).is_empty());
    }
}
