//! The note that `#[kernel]` leaves for the builder beside a PTX entry, where it depends on the
//! layout of a type.

use crate::const_text::{self, Text};
use crate::signature::Layout;

/// A part of an [`Annotation`].
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// Text as it is.
    Text(&'static str),
    /// `<size>:<alignment>`, behind the letter of a parameter that is passed by value.
    Layout(Layout),
}

/// The text that the builder reads from the section `.tilewright.kernel`.
#[derive(Clone, Copy, Debug)]
pub struct Annotation(pub &'static [Part]);

impl Annotation {
    const_text::measured_then_written!();

    const fn write<const LEN: usize>(&self, text: &mut Text<LEN>) {
        let mut index = 0;
        while index < self.0.len() {
            match self.0[index] {
                Part::Text(part) => text.push_str(part),
                Part::Layout(layout) => {
                    text.push_number(layout.size);
                    text.push(b':');
                    text.push_number(layout.align);
                }
            }
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_by_value_is_its_size_and_alignment() {
        const NOTE: Annotation = Annotation(&[
            Part::Text("copy|params=r,v,g"),
            Part::Layout(Layout::of::<[u64; 16]>()),
            Part::Text(",v"),
        ]);
        const TEXT: [u8; NOTE.text_len()] = NOTE.text();
        assert_eq!(&TEXT, b"copy|params=r,v,g128:8,v");
    }
}
