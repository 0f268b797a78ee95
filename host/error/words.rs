//! Words that several messages share.

/// A count with its noun: `1 row`, `2 rows`.
pub(crate) fn counted(count: impl TryInto<u64>, one: &str, many: &str) -> String {
    match count.try_into() {
        Ok(1) => format!("1 {one}"),
        Ok(count) => format!("{count} {many}"),
        Err(_) => format!("more than 2^64 {many}"),
    }
}

/// A number of elements.
pub(crate) fn elements(count: usize) -> String {
    counted(count, "element", "elements")
}

/// A number of bytes.
pub(crate) fn bytes(count: impl TryInto<u64>) -> String {
    counted(count, "byte", "bytes")
}
