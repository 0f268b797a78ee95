//! The report of a launch under all of its schedules.

use crate::element::Element;
use crate::error::CheckError;
use crate::launch::Launch;
use ptx::{SourcePlace, Sources};
use simt::{Counts, Defect, DefectKind, SourceLocation};
use std::fmt;

/// The elements of a buffer that a mismatch or a text shows.
const SHOWN: usize = 8;

/// The results of a launch under all of its schedules.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The kernel's name.
    pub kernel: String,
    /// The path of the PTX.
    pub file: String,
    /// The number of schedules.
    pub schedules: u64,
    /// The findings of the checks, each only once.
    pub findings: Vec<Finding>,
    /// The buffers at the end of the first schedule, by name.
    pub outputs: Vec<Output>,
    /// Buffers with other contents than expected.
    pub mismatches: Vec<Mismatch>,
    /// Buffers whose final contents depend on the schedule, although they should not.
    pub differing: Vec<Differing>,
    /// Lines that the kernel printed in the first schedule.
    pub printed: Vec<String>,
    /// The counters of the first schedule.
    pub counts: Option<Box<Counts>>,
}

/// A finding of the checks.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The finding, from the first schedule that found it.
    pub defect: Defect,
    /// The number of schedules that found it.
    pub schedules: u64,
    /// The place in the kernel's source, if the PTX has line information.
    pub source: Option<SourcePlace>,
    /// The text, with places in the source.
    pub text: String,
}

/// A buffer at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub element: Element,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// An element that is not as expected.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Mismatch {
    /// The buffer.
    pub buffer: String,
    /// The first such element.
    pub index: usize,
    /// The element.
    pub found: String,
    /// What was expected.
    pub expected: String,
    /// The number of such elements.
    pub count: usize,
    /// The schedule, unless it is the first one.
    pub seed: Option<u64>,
}

/// A buffer that depends on the schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Differing {
    /// The buffer.
    pub buffer: String,
    /// The first schedule with other contents than the first of all.
    pub seed: u64,
    /// The first element that differs.
    pub index: usize,
    /// Its values under the first schedule of all and under this one.
    pub values: [String; 2],
}

impl Output {
    /// The elements as text.
    pub fn elements(&self) -> impl Iterator<Item = String> {
        let elements = self.bytes.chunks_exact(self.element.bytes());
        elements.map(|bytes| self.element.show(bytes))
    }

    fn element_at(&self, index: usize) -> String {
        self.elements().nth(index).unwrap_or_default()
    }
}

impl Report {
    pub(crate) fn new(launch: &Launch) -> Self {
        Self {
            kernel: launch.entry.clone(),
            file: launch.file.clone(),
            schedules: launch.schedules,
            findings: Vec::new(),
            outputs: Vec::new(),
            mismatches: Vec::new(),
            differing: Vec::new(),
            printed: Vec::new(),
            counts: None,
        }
    }

    /// Whether nothing was found, and all buffers are as expected.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.mismatches.is_empty() && self.differing.is_empty()
    }

    /// Whether the checks found this, at least under one schedule.
    #[must_use]
    pub fn has(&self, kind: DefectKind) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|it| it.defect.kind == kind)
    }

    /// The elements of a buffer at the end of the first schedule, as text; none if there is no such buffer.
    #[must_use]
    pub fn output(&self, name: &str) -> Option<&Output> {
        self.outputs.iter().find(|it| it.name == name)
    }

    /// Notes buffers that end differently than under the first schedule.
    pub(crate) fn compare(&mut self, seed: u64, outputs: &[Output]) {
        for (first, other) in self.outputs.iter().zip(outputs) {
            let is_known = self.differing.iter().any(|it| it.buffer == first.name);
            let bytes = first.bytes.iter().zip(&other.bytes);
            let mut bytes = bytes.enumerate();
            let Some((offset, _)) = bytes.find(|(_, (first, other))| first != other) else {
                continue;
            };
            let index = offset / first.element.bytes();
            if !is_known {
                self.differing.push(Differing {
                    buffer: first.name.clone(),
                    seed,
                    index,
                    values: [first, other].map(|it| it.element_at(index)),
                });
            }
        }
    }

    /// Compares the outputs of a schedule with what the launch expects. A further schedule is compared where it may
    /// differ from the first: elsewhere, a difference is itself a finding.
    pub(crate) fn check_expected(&mut self, launch: &Launch, seed: u64, outputs: &[Output]) {
        let is_first = seed == launch.first_seed;
        for output in outputs {
            let is_known = self.mismatches.iter().any(|it| it.buffer == output.name);
            let buffer = launch.buffers.get(&output.name);
            let compared = buffer.filter(|it| !is_known && (is_first || it.may_differ));
            let Some(expected) = compared.and_then(|it| it.expected.as_ref()) else {
                continue;
            };
            let wrong = output
                .bytes
                .chunks_exact(output.element.bytes())
                .enumerate()
                .filter_map(|(index, bytes)| {
                    let wanted = match expected.values.as_slice() {
                        [one] => one,
                        values => values.get(index)?,
                    };
                    let is_equal = output.element.is_near(bytes, *wanted, expected.tolerance);
                    (!is_equal).then_some((index, bytes, *wanted))
                });
            let wrong: Vec<_> = wrong.collect();
            if let Some((index, bytes, wanted)) = wrong.first() {
                self.mismatches.push(Mismatch {
                    buffer: output.name.clone(),
                    index: *index,
                    found: output.element.show(bytes),
                    expected: output.element.show_number(*wanted),
                    count: wrong.len(),
                    seed: (!is_first).then_some(seed),
                });
            }
        }
    }

    /// Forgets differences that are allowed. After a finding, all outputs may depend on the schedule.
    pub(crate) fn allow_differences(&mut self, launch: &Launch) {
        let may_differ = |name: &str| launch.buffers.get(name).is_some_and(|it| it.may_differ);
        self.differing.retain(|it| !may_differ(&it.buffer));
        if !self.findings.is_empty() {
            self.differing.clear();
        }
    }
}

/// Findings of several schedules, each of them once.
pub(crate) struct Findings<'a> {
    sources: &'a Sources,
    file: &'a str,
    found: Vec<Finding>,
}

impl<'a> Findings<'a> {
    pub fn new(sources: &'a Sources, file: &'a str) -> Self {
        Self {
            sources,
            file,
            found: Vec::new(),
        }
    }

    pub fn add(&mut self, mut defect: Defect) {
        let further = std::mem::take(&mut defect.further);
        for defect in std::iter::once(defect).chain(further) {
            let known = self.found.iter_mut();
            let known = known.into_iter().find(|it| is_same(&it.defect, &defect));
            match known {
                Some(finding) => finding.schedules += 1,
                None => self.found.push(Finding {
                    schedules: 1,
                    source: self.source(defect.location.as_ref()),
                    text: self.with_sources(&defect.to_string()),
                    defect,
                }),
            }
        }
    }

    pub fn list(self) -> Vec<Finding> {
        self.found
    }

    fn source(&self, location: Option<&SourceLocation>) -> Option<SourcePlace> {
        let location = location.filter(|it| it.file == self.file)?;
        self.sources.at(location.line).cloned()
    }

    /// The text, with the place in the source after each place in the PTX.
    fn with_sources(&self, text: &str) -> String {
        let mut shown = String::new();
        let mut parts = text.split(self.file);
        shown.push_str(parts.next().unwrap_or_default());
        for part in parts {
            shown.push_str(self.file);
            let Some((line, column, rest)) = ptx_place(part) else {
                shown.push_str(part);
                continue;
            };
            shown.push_str(&format!(":{line}"));
            // A statement that is alone in its line has column 1.
            if column != 1 {
                shown.push_str(&format!(":{column}"));
            }
            if let Some(place) = self.sources.at(line) {
                shown.push_str(&format!(" ({place})"));
            }
            shown.push_str(rest);
        }
        shown
    }
}

/// The numbers of `:12:1...`, and what follows.
fn ptx_place(text: &str) -> Option<(u32, u32, &str)> {
    let number = |text: &str| {
        let digits = text.strip_prefix(':')?;
        let end = digits.find(|it: char| !it.is_ascii_digit());
        let end = end.unwrap_or(digits.len());
        Some((digits[..end].parse().ok()?, end + 1))
    };
    let (line, end) = number(text)?;
    let (column, length) = number(&text[end..])?;
    Some((line, column, &text[end + length..]))
}

/// Whether two schedules found the same mistake: of one kind at one pair of lines, in either order.
fn is_same(left: &Defect, right: &Defect) -> bool {
    let lines = |defect: &Defect| {
        let other = defect.related.first().and_then(|it| it.location.clone());
        [defect.location.clone(), other]
    };
    let (left_lines, [first, second]) = (lines(left), lines(right));
    left.kind == right.kind
        && (left_lines == [first.clone(), second.clone()] || left_lines == [second, first])
}

/// Fails if no finding has this name.
pub(crate) fn check_kind(name: &str) -> Result<(), CheckError> {
    let names: Vec<String> = DefectKind::ALL.iter().map(ToString::to_string).collect();
    match names.iter().any(|it| it == name) {
        true => Ok(()),
        false => Err(CheckError::Toml(format!(
            "there is no finding {name:?}; there are {}",
            names.join(", ")
        ))),
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "buffer `{}`: element {} is {}, not {}",
            self.buffer, self.index, self.found, self.expected
        )?;
        if let Some(seed) = self.seed {
            write!(formatter, ", with seed {seed}")?;
        }
        match self.count {
            1 => Ok(()),
            count => write!(formatter, "; {count} elements are wrong"),
        }
    }
}

impl fmt::Display for Differing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, other] = &self.values;
        write!(
            formatter,
            "buffer `{}`: element {} depends on the schedule: {first}, and {other} with seed {}",
            self.buffer, self.index, self.seed
        )
    }
}

impl fmt::Display for Output {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.bytes.len() / self.element.bytes();
        write!(
            formatter,
            "{} ({} x {length}):",
            self.name,
            self.element.name()
        )?;
        for element in self.elements().take(SHOWN) {
            write!(formatter, " {element}")?;
        }
        match length > SHOWN {
            true => formatter.write_str(" .."),
            false => Ok(()),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(formatter, "{finding}")?;
            let (found, all) = (finding.schedules, self.schedules);
            writeln!(formatter, "  under {found} of {all} schedules\n")?;
        }
        for mismatch in &self.mismatches {
            writeln!(formatter, "{mismatch}")?;
        }
        for differing in &self.differing {
            writeln!(formatter, "{differing}")?;
        }
        let found = self.findings.len() + self.mismatches.len() + self.differing.len();
        let plural = if found == 1 { "" } else { "s" };
        write!(
            formatter,
            "kernel `{}` of {}: {found} finding{plural}, {} schedules",
            self.kernel, self.file, self.schedules
        )
    }
}
