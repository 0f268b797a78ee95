//! Ranges of elements, rows and columns.

use crate::error::{ErrorKind, Outcome};
use std::ops::{Bound, Range, RangeBounds};

/// The indices of `range` among `len` elements, rows or columns; `what` names them in errors.
///
/// The range that is returned does not end before it starts.
pub(crate) fn resolve(
    range: impl RangeBounds<usize>,
    len: usize,
    what: &'static str,
) -> Outcome<Range<usize>> {
    let start = match range.start_bound() {
        Bound::Included(first) => Some(*first),
        Bound::Excluded(before) => before.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.checked_add(1),
        Bound::Excluded(end) => Some(*end),
        Bound::Unbounded => Some(len),
    };
    match (start, end) {
        (Some(start), Some(end)) if start <= end && end <= len => Ok(start..end),
        // A bound that overflows is past every end.
        (start, end) => Err(ErrorKind::OutOfRange {
            what,
            start: start.unwrap_or(usize::MAX),
            end: end.unwrap_or(usize::MAX),
            len,
        }),
    }
}
