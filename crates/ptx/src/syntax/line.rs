//! Lines of the text.

/// A line of the text, from 1. All lines compare equal, because its place is not part of an item's value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line(pub u32);

impl PartialEq for Line {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Line {}
