//! NumPy files: read as a whole, viewed in place, written.

use super::{Outcome, progress};
use bytemuck::cast_slice_mut;
use ndarray::{Array2, ArrayViewD, CowArray, Ix2, IxDyn};
use ndarray_npy::{ReadNpyExt, ReadableElement, ViewElement, ViewNpyError, ViewNpyExt};
use ndarray_npy::{WritableElement, WriteNpyExt};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Bytes that are read before the progress is shown again.
const CHUNK: usize = 4 << 20;

/// What every file of the format begins with.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The contents of a `.npy` file.
pub struct NpyFile {
    path: PathBuf,
    /// The file in 8-byte words, so that the numbers in it are aligned.
    words: Vec<u64>,
    bytes: usize,
}

impl NpyFile {
    /// Reads a file into memory.
    pub fn read(path: &Path) -> Outcome<Self> {
        let (words, bytes) = read_words(path)
            .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            words,
            bytes,
        })
    }

    /// The type of the elements in NumPy's notation, such as `<f4`.
    pub fn element_type(&self) -> Outcome<String> {
        // Asking for a type is how `ndarray-npy` tells the type: any will do.
        match ArrayViewD::<bool>::view_npy(self.contents()) {
            Ok(_) | Err(ViewNpyError::InvalidData(_)) => Ok("|b1".to_owned()),
            Err(ViewNpyError::WrongDescriptor(found)) => Ok(found.to_string().replace('\'', "")),
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// The array in the file, whose elements are of type `T`, without a copy where possible.
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
    pub fn wrong_type(&self, found: &str, allowed: &str) -> super::Failure {
        let path = self.path.display();
        format!("{path} has elements of type {found}; they must be {allowed}").into()
    }

    fn contents(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    fn failure(&self, error: &ViewNpyError) -> super::Failure {
        let reason = match error {
            _ if !self.contents().starts_with(MAGIC) => "is not a NumPy file (.npy)".to_owned(),
            ViewNpyError::Io(_) | ViewNpyError::ParseHeader(_) => "has a damaged header".to_owned(),
            ViewNpyError::MissingBytes(bytes) => {
                format!("is truncated: its last {bytes} bytes are missing")
            }
            ViewNpyError::ExtraBytes(bytes) => {
                format!("goes on for {bytes} bytes after its array's end")
            }
            other => format!("cannot be used: {other}"),
        };
        format!("{} {reason}", self.path.display()).into()
    }
}

/// The bytes of a file in words, and their number.
fn read_words(path: &Path) -> io::Result<(Vec<u64>, usize)> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
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

/// Writes a matrix to a file, in C order.
pub fn write<T: WritableElement>(path: &Path, matrix: &Array2<T>) -> Outcome {
    let length = (matrix.len() * size_of::<T>()) as u64;
    let written = File::create(path)
        .map_err(ndarray_npy::WriteNpyError::from)
        .and_then(|file| {
            let mut writer = BufWriter::new(progress::bytes("writing", length).wrap_write(file));
            matrix.write_npy(&mut writer)?;
            Ok(writer.flush()?)
        });
    written.map_err(|error| format!("{} cannot be written: {error}", path.display()).into())
}
