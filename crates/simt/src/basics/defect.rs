//! Reports of findings that end a launch early, for a person to act on.

use super::defect_kind::DefectKind;
use super::dim::Dim3;
use std::borrow::Cow;
use std::fmt;

/// A place in source code.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourceLocation {
    /// The path, as given to the compiler.
    pub file: Cow<'static, str>,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A fact that explains a defect: the other access, what is missing, or what another thread was doing.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Related {
    /// For example "thread (3, 0, 0) waits at block barrier 0".
    pub note: String,
    /// The source line of the note, if it has one.
    pub location: Option<SourceLocation>,
    /// For a thread that waits at the line: the call stack of the line, as in [`Defect::calls`].
    pub calls: Vec<Call>,
}

impl Related {
    /// A note about a line, or about none.
    pub(crate) fn new(note: String, location: Option<SourceLocation>) -> Self {
        Self {
            note,
            location,
            calls: Vec::new(),
        }
    }
}

impl fmt::Display for Related {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Some(location) => write!(formatter, "{}, {location}", self.note),
            None => formatter.write_str(&self.note),
        }
    }
}

/// A call that was under way when something was found.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Call {
    /// The path of the function that makes the call.
    pub function: String,
    /// The line of the call; none where the program has no debug information.
    pub location: Option<SourceLocation>,
}

impl fmt::Display for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`", self.function)?;
        match &self.location {
            Some(location) => write!(formatter, ", {location}"),
            None => Ok(()),
        }
    }
}

/// The report of a launch that broke a rule.
///
/// The first line of its `Display` is one sentence. The place, the thread and what other threads were doing
/// follow in lines of their own, and further findings of the launch come last.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Defect {
    /// The name of the kernel, as given in [`Launch::kernel`](crate::Launch::kernel).
    pub kernel: String,
    /// The rule that was broken.
    pub kind: DefectKind,
    /// The finding in one sentence, with the numbers.
    pub message: String,
    /// The line of kernel code; none for limits that are checked before any thread runs.
    pub location: Option<SourceLocation>,
    /// The block's index; none when no block had been started.
    pub block: Option<Dim3>,
    /// The index, in its block, of the thread that found the defect.
    pub thread: Option<Dim3>,
    /// The other access and what is missing, or what other threads of the block
    /// were doing.
    pub related: Vec<Related>,
    /// The call stack of the line within the kernel, innermost first. Functions that were inlined without debug
    /// information are missing.
    pub calls: Vec<Call>,
    /// How often the launch found it. Findings with the same kind and the same pair of lines count as one.
    pub times: u64,
    /// The seed of the schedule.
    pub seed: u64,
    /// The launch's other findings: it continues after those that it survives. Their own `further` is empty.
    pub further: Vec<Self>,
}

/// The start of a note that says what would have made the kernel right.
const MISSING: &str = "missing: ";

impl Defect {
    /// The change that would make the kernel right; none if the message names it.
    #[must_use]
    pub fn remedy(&self) -> Option<&str> {
        let notes = self.related.iter().map(|related| related.note.as_str());
        let said = std::iter::once(self.message.as_str()).chain(notes);
        let mut said = said.filter_map(|words| Some(words.split_once(MISSING)?.1));
        said.next().or_else(|| self.kind.remedy())
    }

    /// This finding and the further ones of the launch.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.further)
    }

    /// The finding without the seed and the further ones.
    fn write_alone(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "kernel `{}`: {}: {}",
            self.kernel, self.kind, self.message
        )?;
        if let Some(location) = &self.location {
            write!(formatter, "\n  at {location}")?;
        }
        for call in &self.calls {
            write!(formatter, "\n  called by {call}")?;
        }
        if let (Some(block), Some(thread)) = (self.block, self.thread) {
            write!(formatter, "\n  in thread {thread} of block {block}")?;
        }
        if self.times > 1 {
            write!(formatter, "\n  found {} times", self.times)?;
        }
        for related in &self.related {
            write!(formatter, "\n  - {related}")?;
            for call in &related.calls {
                write!(formatter, "\n    called by {call}")?;
            }
        }
        match self.kind.remedy() {
            Some(remedy) if !self.says_what_is_missing() => {
                write!(formatter, "\n  - {MISSING}{remedy}")
            }
            _ => Ok(()),
        }
    }

    fn says_what_is_missing(&self) -> bool {
        let mut notes = self.related.iter().map(|related| &related.note);
        self.message.contains(MISSING) || notes.any(|note| note.contains(MISSING))
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_alone(formatter)?;
        write!(formatter, "\n  simulated with seed {}", self.seed)?;
        match self.further.len() {
            0 => return Ok(()),
            1 => write!(formatter, "\n1 further finding of the launch:")?,
            count => write!(formatter, "\n{count} further findings of the launch:")?,
        }
        for finding in &self.further {
            formatter.write_str("\n")?;
            finding.write_alone(formatter)?;
        }
        Ok(())
    }
}

impl std::error::Error for Defect {}
