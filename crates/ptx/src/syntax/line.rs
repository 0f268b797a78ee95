//! Lines of the text.

/// A line of the text, from 1. All lines are equal: where something stands is not a part of what it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line(pub u32);

impl PartialEq for Line {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Line {}
