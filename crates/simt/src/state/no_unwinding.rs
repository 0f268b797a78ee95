//! Replaces `unwinding` on systems whose exception tables it does not read.

/// Assumed, because the tables of exceptions are not read here.
pub(crate) fn would_be_caught() -> bool {
    true
}
