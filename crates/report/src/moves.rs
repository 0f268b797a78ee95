//! Lines of a source that have moved.

use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::BTreeMap;

/// For each source of two reports, the present number of each line by its earlier number.
pub(crate) struct Moves {
    files: BTreeMap<String, BTreeMap<u64, u64>>,
}

impl Moves {
    /// Compares the sources of two reports in JSON: arrays of lines by path.
    pub(crate) fn between(before: &Value, after: &Value) -> Self {
        let mut files = BTreeMap::new();
        for (path, old) in before.as_object().into_iter().flatten() {
            if let (Some(old), Some(new)) = (text(old), after.get(path).and_then(text)) {
                files.insert(path.clone(), moved(&old, &new));
            }
        }
        Self { files }
    }

    /// The present number of a line, by its earlier number; `None` if it no longer exists. If a source is not known,
    /// the line has not moved.
    pub(crate) fn now(&self, file: &str, line: u64) -> Option<u64> {
        match self.files.get(file) {
            Some(lines) => lines.get(&line).copied(),
            None => Some(line),
        }
    }
}

fn text(lines: &Value) -> Option<Vec<&str>> {
    lines.as_array()?.iter().map(Value::as_str).collect()
}

/// Matches equal lines by a diff of the texts. Replaced lines are matched with their replacements, as far as there
/// are any.
fn moved(old: &[&str], new: &[&str]) -> BTreeMap<u64, u64> {
    let mut lines = BTreeMap::new();
    for op in capture_diff_slices(Algorithm::Patience, old, new) {
        let (before, after, len) = match op {
            DiffOp::Equal {
                old_index,
                new_index,
                len,
            } => (old_index, new_index, len),
            DiffOp::Replace {
                old_index,
                old_len,
                new_index,
                new_len,
            } if old_len == new_len => (old_index, new_index, old_len),
            _ => continue,
        };
        lines.extend((1..=len as u64).map(|it| (before as u64 + it, after as u64 + it)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::moved;

    #[test]
    fn lines_are_found_where_others_came_before_them() {
        let old = ["fn k() {", "load(x);", "store(y);", "}"];
        let new = [
            "// A kernel.",
            "fn k() {",
            "load_wide(x);",
            "store(y);",
            "}",
        ];
        let lines = moved(&old, &new);
        assert_eq!(lines[&1], 2);
        assert_eq!(lines[&2], 3, "a line that was changed is compared");
        assert_eq!(lines[&3], 4);
        assert!(
            !moved(&old, &new[3..]).contains_key(&2),
            "a line that is gone"
        );
    }
}
