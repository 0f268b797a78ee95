//! `cargo xtask words`: finds words in comments, messages and pages that the project avoids.

use crate::tracked::tracked;
use crate::workspace::{Result, workspace_root};
use regex::Regex;
use std::fs;
use std::ops::Range;

/// A wording that the project avoids.
struct Rule {
    /// What matches it, in either case, within a paragraph.
    pattern: &'static str,
    /// Words in which the pattern is right.
    exception: Option<&'static str>,
    /// What to write instead.
    remedy: &'static str,
}

const RULES: [Rule; 12] = [
    Rule {
        pattern: r"\bseeds? 00[0-9]\b|seed_00[0-9]",
        exception: None,
        remedy: "name the technique, and a public source by its title",
    },
    Rule {
        pattern: r"\b(?:nobody|somebody)\b",
        exception: None,
        remedy: "name the thread, the work or the caller",
    },
    Rule {
        pattern: r"\basked for\b",
        exception: None,
        remedy: "submitted, requested, allocated",
    },
    Rule {
        pattern: r"\b(?:has|have|had) not (?:the|an?|any|one|enough|as many)\b|\b(?:has|have|had) not [`\[]",
        exception: None,
        remedy: "does not have",
    },
    Rule {
        pattern: r"\bwho(?:m|ever)?\b",
        exception: Some("people who"),
        remedy: "make the thread, the work or the caller the subject",
    },
    Rule {
        pattern: r"\bshall\b",
        exception: None,
        remedy: "is to, must, can",
    },
    Rule {
        pattern: r"\bto be had\b|\bis dear\b",
        exception: None,
        remedy: "available, allocated; costs, is expensive",
    },
    Rule {
        pattern: r"\bas (?:it|they) lies?\b",
        exception: Some("as far as"),
        remedy: "in place",
    },
    Rule {
        pattern: r"\bbehind the (?:end|last)\b",
        exception: None,
        remedy: "past the end, after the last",
    },
    Rule {
        pattern: r"\bends behind\b",
        exception: None,
        remedy: "ends past, ends after",
    },
    Rule {
        pattern: r"\b(?:elements?|bytes?) behind (?:the one|this one|those) ?(?:before)?",
        exception: None,
        remedy: "elements after, bytes after",
    },
    Rule {
        pattern: r"\bmust not mind\b",
        exception: None,
        remedy: "say what holds: may run again, has the same effect",
    },
];

/// Tracked text that is generated, measured or of others; and this file, which quotes the words.
const SKIPPED: [&str; 6] = [
    "ptx/",
    "ladder/ptx/",
    "benches/results/",
    "Cargo.lock",
    "LICENSE-",
    "xtask/src/words.rs",
];

/// A place where a rule is broken.
#[derive(Debug, PartialEq, Eq)]
struct Breach {
    /// The line in which the words begin, counted from 1.
    line: usize,
    words: String,
    remedy: &'static str,
}

pub fn run(mut arguments: lexopt::Parser) -> Result {
    if let Some(argument) = arguments.next()? {
        return Err(argument.unexpected().into());
    }
    let root = workspace_root();
    let rules = compiled()?;
    let mut count = 0;
    let files = tracked(&root, &[])?;
    for file in files.iter().filter(|it| is_checked(it)) {
        // A file that is no text has no words.
        let Ok(text) = fs::read_to_string(root.join(file)) else {
            continue;
        };
        for breach in breaches(&rules, &text) {
            println!(
                "{file}:{}: \"{}\": {}",
                breach.line, breach.words, breach.remedy
            );
            count += 1;
        }
    }
    match count {
        0 => Ok(()),
        _ => Err(format!("{count} wordings that the project avoids").into()),
    }
}

fn is_checked(file: &str) -> bool {
    let is_licence = file.contains("/LICENSE-");
    !SKIPPED.iter().any(|skipped| file.starts_with(skipped))
        && !is_licence
        && !file.ends_with(".ptx")
}

/// The rules, each with its pattern compiled.
fn compiled() -> Result<Vec<(&'static Rule, Regex)>> {
    RULES
        .iter()
        // ASCII's word boundaries, which are found without looking back.
        .map(|rule| Ok((rule, Regex::new(&format!("(?i-u){}", rule.pattern))?)))
        .collect()
}

/// The breaches in `text`, rule by rule.
fn breaches(rules: &[(&'static Rule, Regex)], text: &str) -> Vec<Breach> {
    let (text, starts) = paragraphs(text);
    let mut breaches = Vec::new();
    for (rule, pattern) in rules {
        let found = pattern.find_iter(&text);
        let wrong = found.filter(|found| !is_right(rule, &text, &found.range()));
        breaches.extend(wrong.map(|found| Breach {
            line: starts.partition_point(|start| *start <= found.start()),
            words: found.as_str().to_owned(),
            remedy: rule.remedy,
        }));
    }
    breaches
}

/// The lines of `text`, without the marks of comments, each paragraph in one, because a phrase may break over a
/// line; and where in it each line starts.
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

/// Whether the words at `found` are among those that the rule excepts.
fn is_right(rule: &Rule, text: &str, found: &Range<usize>) -> bool {
    rule.exception.is_some_and(|words| {
        text.match_indices(words)
            .any(|(start, _)| start < found.end && found.start < start + words.len())
    })
}

#[cfg(test)]
mod tests {
    use super::{Breach, RULES, breaches, compiled, is_checked};

    #[test]
    fn every_rule_finds_its_breach() {
        let broken = [
            "//! Coalesced (Seed 000, figure 6.2).",
            "// SAFETY: (2) Nobody writes.",
            "/// The operation that was asked for.",
            "/// if `result` has not one element",
            "/// Who has it has the device.",
            "the one that shall use it",
            "{requested} bytes are not to be had",
            "An operand is read as it lies.",
            "Reads behind the end.",
            "A segment ends behind `x`.",
            "Each row starts 8 elements behind the one before.",
            "`body` must not mind running again.",
        ];
        for (rule, line) in RULES.iter().zip(broken) {
            let text = format!("fine\n{line}\n");
            let found = breaches(&compiled().unwrap(), &text);
            assert!(
                found
                    .iter()
                    .any(|breach| breach.line == 2 && breach.remedy == rule.remedy),
                "{line}: {found:?}"
            );
        }
    }

    #[test]
    fn a_phrase_that_breaks_over_a_line_is_found() {
        let broken = [
            "/// The memory that was asked\n/// for.\n",
            "    // It reads behind\n    // the end.\n",
            "A page says that it lies behind the\nend.\n",
            "\"it was asked \\\n    for\"\n",
        ];
        for text in broken {
            let found = breaches(&compiled().unwrap(), text);
            assert!(
                matches!(&found[..], [Breach { line: 1, .. }]),
                "{text}: {found:?}"
            );
        }
        let right = "The work that was asked\n\nfor (item in items)\n";
        assert_eq!(breaches(&compiled().unwrap(), right), []);
    }

    #[test]
    fn right_words_pass() {
        let text = "\
            The seed of the schedule; 001 is a number.\n\
            Lanes that have not exited, and bytes which have not been written.\n\
            A map for people who change the code.\n\
            the source, as far as it lies within the matrix\n\
            fn nobody_passes_before_all_have_arrived()\n\
            They are shallow, whole and asked; blocks end behind the barrier.\n";
        assert_eq!(breaches(&compiled().unwrap(), text), []);
    }

    #[test]
    fn generated_and_foreign_text_is_skipped() {
        assert!(is_checked("README.md") && is_checked("kernels/ptx/lib.rs"));
        for file in [
            "ptx/sm_80/a.ptx",
            "Cargo.lock",
            "LICENSE-MIT",
            "kernels/LICENSE-MIT",
            "tests/common/axpy.ptx",
        ] {
            assert!(!is_checked(file), "{file}");
        }
    }
}
