//! NumPy files: checked, read as a whole, viewed in place, written.

#![allow(dead_code, reason = "each program uses a part of it")]

mod header;

use crate::progress;
use crate::support::{Outcome, output};
use bytemuck::cast_slice_mut;
use ndarray::{Array2, ArrayViewD, CowArray, Ix2, IxDyn};
use ndarray_npy::{ReadNpyExt, ReadableElement, ViewElement, ViewNpyError, ViewNpyExt};
use ndarray_npy::{WritableElement, WriteNpyExt};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Bytes that are read between two updates of the progress.
const CHUNK: usize = 4 << 20;

/// The contents of a `.npy` file.
pub struct NpyFile {
    path: PathBuf,
    /// The file in 8-byte words, so that the numbers in it are aligned.
    words: Vec<u64>,
    bytes: usize,
    /// The type of its numbers, in the byte order of the words; none where they are none.
    numbers: Option<String>,
}

impl NpyFile {
    /// Reads a file into memory, after a check that its header and its length fit together.
    pub fn read(path: &Path) -> Outcome<Self> {
        let name = path.display();
        let unreadable = |error: io::Error| format!("{name} cannot be read: {error}");
        let mut file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        header::check(&file, length)
            .map_err(unreadable)?
            .map_err(|reason| format!("{name} {reason}"))?;
        file.rewind().map_err(unreadable)?;
        let (mut words, bytes) = read_words(file, length).map_err(unreadable)?;
        let numbers = header::normalise(&mut cast_slice_mut(&mut words)[..bytes]);
        Ok(Self {
            path: path.to_owned(),
            words,
            bytes,
            numbers,
        })
    }

    /// The type of the elements in NumPy's notation, such as `<f4`. The elements of a big-endian file
    /// are little-endian by now.
    pub fn element_type(&self) -> Outcome<String> {
        if let Some(numbers) = &self.numbers {
            return Ok(numbers.clone());
        }
        // `ndarray-npy` names the type of a file in its refusal of another one.
        match ArrayViewD::<bool>::view_npy(self.contents()) {
            Ok(_) | Err(ViewNpyError::InvalidData(_)) => Ok("|b1".to_owned()),
            Err(ViewNpyError::WrongDescriptor(found)) => Ok(found.to_string().replace('\'', "")),
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// The array in the file, whose elements are of type `T`, without a copy where possible. Those of
    /// type f16 are read as `u16` of the same bits.
    pub fn array<T>(&self) -> Outcome<CowArray<'_, T, IxDyn>>
    where
        T: ViewElement + ReadableElement,
    {
        match ArrayViewD::view_npy(self.contents()) {
            Ok(view) => Ok(view.into()),
            // Some programs write headers of any length. The array's length has been checked.
            Err(ViewNpyError::MisalignedData) => {
                Ok(ndarray::ArrayD::read_npy(self.contents())?.into())
            }
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// [`array`](Self::array) with two dimensions.
    pub fn matrix<T>(&self) -> Outcome<CowArray<'_, T, Ix2>>
    where
        T: ViewElement + ReadableElement,
    {
        let array = self.array()?;
        let dimensions = array.ndim();
        array.into_dimensionality().map_err(|_| {
            let path = self.path.display();
            format!("{path} has {dimensions} dimensions; a matrix has 2").into()
        })
    }

    /// The failure of a file whose elements are of the type `found`.
    pub fn wrong_type(&self, found: &str, allowed: &str) -> tilewright_output::Failure {
        let path = self.path.display();
        format!("{path} has elements of type {found}; they must be {allowed}").into()
    }

    fn contents(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    fn failure(&self, error: &ViewNpyError) -> tilewright_output::Failure {
        let reason = match error {
            ViewNpyError::Io(_) | ViewNpyError::ParseHeader(_) => header::damaged(),
            ViewNpyError::MissingBytes(bytes) => header::truncated(bytes),
            ViewNpyError::ExtraBytes(bytes) => header::too_long(bytes),
            other => format!("cannot be used: {other}"),
        };
        format!("{} {reason}", self.path.display()).into()
    }
}

/// The bytes of a file in words, and their number.
fn read_words(file: File, length: u64) -> io::Result<(Vec<u64>, usize)> {
    let bytes = usize::try_from(length).map_err(io::Error::other)?;
    let mut words = Vec::new();
    words.try_reserve_exact(bytes.div_ceil(size_of::<u64>()))?;
    words.resize(bytes.div_ceil(size_of::<u64>()), 0);
    let mut reader = progress::bytes("reading", length).wrap_read(file);
    for chunk in cast_slice_mut(&mut words)[..bytes].chunks_mut(CHUNK) {
        reader.read_exact(chunk)?;
    }
    Ok((words, bytes))
}

/// Writes a matrix to a file, in C order. If that fails, an earlier file of that name stays.
pub fn write<T: WritableElement>(path: &Path, matrix: &Array2<T>) -> Outcome {
    let length = (matrix.len() * size_of::<T>()) as u64;
    output::replace(path, |file| {
        let mut writer = BufWriter::new(progress::bytes("writing", length).wrap_write(file));
        matrix.write_npy(&mut writer)?;
        Ok(writer.flush()?)
    })
}
