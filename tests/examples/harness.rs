//! The devices at hand, and the files that the programs are given.

use crate::common;
use std::path::Path;

/// The names of the devices at hand.
pub fn devices() -> Vec<&'static str> {
    let cuda = common::cuda_device().map(|_| "cuda");
    ["sim"].into_iter().chain(cuda).collect()
}

/// The header of a `.npy` file as NumPy writes it.
pub struct Header<'a> {
    pub version: u8,
    pub descr: &'a str,
    pub fortran_order: bool,
    pub shape: &'a str,
    /// The header's length is a multiple of this: 64 since NumPy 1.14, 16 before, and other numbers
    /// in other programs.
    pub alignment: usize,
}

impl<'a> Header<'a> {
    pub fn new(descr: &'a str, shape: &'a str) -> Self {
        Self {
            version: 1,
            descr,
            fortran_order: false,
            shape,
            alignment: 64,
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let Self {
            version,
            descr,
            shape,
            alignment,
            ..
        } = self;
        let order = if self.fortran_order { "True" } else { "False" };
        let mut text =
            format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
        let before_text = if *version == 1 { 10 } else { 12 };
        let unpadded = before_text + text.len() + 1;
        text.extend(std::iter::repeat_n(
            ' ',
            unpadded.next_multiple_of(*alignment) - unpadded,
        ));
        text.push('\n');
        let length = (text.len() as u32).to_le_bytes();
        let length = if *version == 1 {
            &length[..2]
        } else {
            &length[..]
        };
        [
            b"\x93NUMPY".as_slice(),
            &[*version, 0],
            length,
            text.as_bytes(),
        ]
        .concat()
    }

    pub fn write<const N: usize>(
        &self,
        folder: &Path,
        name: &str,
        elements: impl IntoIterator<Item = [u8; N]>,
    ) {
        let mut bytes = self.bytes();
        bytes.extend(elements.into_iter().flatten());
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}
