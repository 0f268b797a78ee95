//! Findings that are known, and are not reported.

use super::defect::SourceLocation;
use super::defect_kind::DefectKind;
use super::finding::Finding;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Findings of one kernel that are known, for a reason, and are not reported.
///
/// Findings that the launch survives can be suppressed: races, stale reads, reads of what was not
/// written, and uses of asynchronous copies in flight. What ends a launch, such as an access out of
/// bounds or a deadlock, cannot.
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
    /// That of all clones.
    use_made: Arc<Use>,
}

/// What launches have made of a suppression.
#[derive(Debug, Default)]
struct Use {
    matches: AtomicU64,
    has_seen_its_kernel: AtomicBool,
}

impl Suppression {
    /// All findings of this kernel, for this reason.
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

    /// Of those, the findings of this kind.
    #[must_use]
    pub fn of_kind(mut self, kind: DefectKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Of those, the findings in which one of the two accesses is at this line, counted from 1, of a
    /// file whose path ends with `file`: `sample.rs` is no end of `resample.rs`.
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

    /// How many findings it has suppressed, of all launches with it or with one of its clones.
    #[must_use]
    pub fn matches(&self) -> u64 {
        self.use_made.matches.load(Ordering::Relaxed)
    }

    /// Whether a launch of its kernel has had it.
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

    /// Notes that so many more findings were suppressed.
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

/// Whether `path` is `end`, or ends with it behind a separator.
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
