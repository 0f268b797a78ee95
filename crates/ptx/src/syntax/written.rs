//! How lists are written.

use std::fmt;

/// Writes items with `, ` between them.
pub(super) fn list<T: fmt::Display>(
    formatter: &mut fmt::Formatter<'_>,
    items: &[T],
) -> fmt::Result {
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            formatter.write_str(", ")?;
        }
        write!(formatter, "{item}")?;
    }
    Ok(())
}
