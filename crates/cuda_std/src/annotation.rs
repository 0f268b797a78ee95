//! The note for the builder beside a PTX entry, for kernels whose note depends on a type's layout
//! or on a constant.

use crate::const_text::{self, Text};
use crate::signature::Layout;

/// A part of an [`Annotation`].
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// Literal text.
    Text(&'static str),
    /// A number, in decimal.
    Number(usize),
    /// `<size>:<alignment>`, after the letter of a parameter passed by value.
    Layout(Layout),
}

/// Checks a launch bound that the source gives as a constant: 1 to `most`.
///
/// # Panics If `value` is out of range: in a constant, a compile error.
#[must_use]
pub const fn launch_bound(value: u32, most: u32) -> u32 {
    assert!(
        1 <= value && value <= most,
        "`max_threads` is 1 to 1024, `max_registers` 1 to 255, and `min_blocks` at least 1"
    );
    value
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
                Part::Number(number) => text.push_number(number),
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
    fn a_parameter_by_value_is_its_size_and_alignment_and_a_bound_its_number() {
        const NOTE: Annotation = Annotation(&[
            Part::Text("copy|maxntid="),
            Part::Number(384),
            Part::Text("|params=r,v,g"),
            Part::Layout(Layout::of::<[u64; 16]>()),
            Part::Text(",v"),
        ]);
        const TEXT: [u8; NOTE.text_len()] = NOTE.text();
        assert_eq!(&TEXT, b"copy|maxntid=384|params=r,v,g128:8,v");
    }
}
