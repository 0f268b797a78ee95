//! The programs, and the files that they are given.

use crate::common;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program of an example, which cargo builds next to the tests.
pub fn program(example: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let name = format!("{example}{}", std::env::consts::EXE_SUFFIX);
    let folders = test.ancestors().skip(1).take(2);
    let mut programs = folders.map(|folder| folder.join("examples").join(&name));
    programs
        .find(|program| program.exists())
        .unwrap_or_else(|| panic!("the example {example} is not built: cargo build --examples"))
}

/// The names of the devices at hand.
pub fn devices() -> Vec<&'static str> {
    let cuda = common::cuda_device().map(|_| "cuda");
    ["sim"].into_iter().chain(cuda).collect()
}

/// Runs an example in `folder`.
pub fn run(example: &str, folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program(example))
        .args(arguments)
        .env_remove("TILEWRIGHT_DEVICE")
        .current_dir(folder)
        .output()
        .unwrap()
}

/// What a run that must succeed prints.
#[track_caller]
pub fn succeed(example: &str, folder: &Path, arguments: &[&str]) -> String {
    let output = run(example, folder, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{example} {arguments:?}: {stderr}");
    assert_eq!(stderr, "");
    String::from_utf8(output.stdout).unwrap()
}

/// Fails unless the run ends with exit code 1 and one line that has all `parts`.
#[track_caller]
pub fn fail(example: &str, folder: &Path, arguments: &[&str], parts: &[&str]) {
    let output = run(example, folder, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        output.status.code(),
        Some(1),
        "{example} {arguments:?}: {stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.starts_with("error: "), "{stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{part} is missing in: {stderr}");
    }
    assert_eq!(output.stdout, b"");
}

/// The header of a `.npy` file as NumPy writes it.
pub struct Header<'a> {
    pub version: u8,
    pub descr: &'a str,
    pub fortran_order: bool,
    pub shape: &'a str,
    /// The header's length is a multiple of this: 64 since NumPy 1.14, 16 before; other programs
    /// have other ideas.
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
