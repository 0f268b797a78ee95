//! Known findings, which are not reported.

use super::defect::SourceLocation;
use super::defect_kind::DefectKind;
use super::finding::Finding;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Suppresses known findings of one kernel, with a reason.
///
/// Findings that the launch survives can be suppressed: races, stale reads, reads of unwritten memory, and
/// uses of asynchronous copies in flight. Findings that end a launch, such as an access out of bounds or a
/// deadlock, cannot.
///
/// ```
/// use simt::{DefectKind, Suppression};
///
/// let estimate = Suppression::new("sample", "the count is an estimate")
///     .of_kind(DefectKind::DataRace)
///     .at("kernels/sample.rs", 31);
/// assert_eq!(estimate.matches(), 0);
/// assert_eq!(
///     estimate.to_string(),
///     "kernel `sample`, data race, kernels/sample.rs:31: the count is an estimate"
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Suppression {
    kernel: String,
    reason: String,
    kind: Option<DefectKind>,
    place: Option<(String, u32)>,
    /// Shared by all clones.
    use_made: Arc<Use>,
}

/// How launches have used a suppression.
#[derive(Debug, Default)]
struct Use {
    matches: AtomicU64,
    has_seen_its_kernel: AtomicBool,
}

impl Suppression {
    /// Suppresses all findings of this kernel.
    #[must_use]
    pub fn new(kernel: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            kernel: kernel.into(),
            reason: reason.into(),
            kind: None,
            place: None,
            use_made: Arc::default(),
        }
    }

    /// Restricts it to findings of this kind.
    #[must_use]
    pub fn of_kind(mut self, kind: DefectKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Restricts it to findings with one of the two accesses at this line of a file whose path ends with `file`.
    ///
    /// Lines count from 1. Paths are compared by whole components: `resample.rs` does not end with `sample.rs`.
    #[must_use]
    pub fn at(mut self, file: impl Into<String>, line: u32) -> Self {
        self.place = Some((file.into(), line));
        self
    }

    /// The name of the kernel.
    #[must_use]
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// How many findings it has suppressed, clones included.
    #[must_use]
    pub fn matches(&self) -> u64 {
        self.use_made.matches.load(Ordering::Relaxed)
    }

    /// Whether a launch of its kernel has used it.
    #[must_use]
    pub fn has_seen_its_kernel(&self) -> bool {
        self.use_made.has_seen_its_kernel.load(Ordering::Relaxed)
    }

    /// Notes that `kernel` is launched.
    pub(crate) fn note_launch(&self, kernel: &str) {
        if self.kernel == kernel {
            let seen = &self.use_made.has_seen_its_kernel;
            seen.store(true, Ordering::Relaxed);
        }
    }

    /// Notes that `count` more findings were suppressed.
    pub(crate) fn note_matches(&self, count: u64) {
        self.use_made.matches.fetch_add(count, Ordering::Relaxed);
    }

    /// Whether the finding in this kernel is among those that it suppresses.
    pub(crate) fn covers(&self, kernel: &str, finding: &Finding) -> bool {
        let is_place = |location: &SourceLocation| {
            self.place.as_ref().is_none_or(|(file, line)| {
                location.line == *line && ends_with_path(&location.file, file)
            })
        };
        let others = finding.related.iter().map(|it| it.location.as_ref());
        let mut locations = others.chain([finding.location.as_ref()]).flatten();
        self.kernel == kernel
            && self.kind.is_none_or(|kind| kind == finding.kind)
            && locations.any(is_place)
    }
}

/// Whether `path` is `end`, or ends with it after a separator.
fn ends_with_path(path: &str, end: &str) -> bool {
    match path.strip_suffix(end) {
        Some(before) => before.is_empty() || before.ends_with(['/', '\\']),
        None => false,
    }
}

impl fmt::Display for Suppression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "kernel `{}`", self.kernel)?;
        if let Some(kind) = self.kind {
            write!(formatter, ", {kind}")?;
        }
        if let Some((file, line)) = &self.place {
            write!(formatter, ", {file}:{line}")?;
        }
        write!(formatter, ": {}", self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_whole_parts_of_its_path() {
        for path in ["sample.rs", "kernels/sample.rs", "C:\\kernels\\sample.rs"] {
            assert!(ends_with_path(path, "sample.rs"), "{path}");
        }
        assert!(ends_with_path("a/kernels/sample.rs", "kernels/sample.rs"));
        for path in ["resample.rs", "kernels/resample.rs", "sample.rs.old", ""] {
            assert!(!ends_with_path(path, "sample.rs"), "{path}");
        }
    }
}
