//! Lines and columns of the text.

/// A line of the text, from 1. All lines compare equal, because its place is not part of an item's value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line(pub u32);

impl PartialEq for Line {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Line {}

/// A column of a line of the text in bytes, from 1. All columns compare equal, as lines do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Column(pub u32);

impl PartialEq for Column {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Column {}
