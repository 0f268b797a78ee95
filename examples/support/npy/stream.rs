//! Files of numbers that are read in parts, in any order: they may be larger than memory.

use super::element::ElementType;
use super::header::{Header, unreadable};
use crate::progress;
use crate::support::Outcome;
use bytemuck::{Pod, cast_slice_mut};
use indicatif::ProgressBar;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The number of bytes read between two updates of the progress.
const PIECE: usize = 4 << 20;

/// The numbers of a file, in the order in which they lie there.
pub struct NumberFile {
    path: PathBuf,
    file: File,
    element: ElementType,
    big_endian: bool,
    /// The offset of the first number.
    start: u64,
    len: usize,
    progress: ProgressBar,
}

impl NumberFile {
    /// Opens a `.npy` file, and checks that its header matches its length.
    pub fn open(path: &Path) -> Outcome<Self> {
        let opened = || {
            let (mut file, length) = file_and_length(path)?;
            let header = Header::read(&mut file, length)?;
            let start = length - header.bytes as u64;
            let (element, len) = (header.element, header.bytes / header.element.bytes());
            Ok(Self::new(
                path,
                file,
                (element, header.big_endian),
                start,
                len,
            ))
        };
        opened().map_err(|reason: String| format!("{} {reason}", path.display()).into())
    }

    /// Opens a file of little-endian numbers without a header.
    pub fn open_raw(path: &Path, element: ElementType) -> Outcome<Self> {
        let opened = || {
            let (file, length) = file_and_length(path)?;
            let len = usize::try_from(length).map_err(|_| "is too long".to_owned())?;
            match len % element.bytes() {
                0 => Ok(Self::new(
                    path,
                    file,
                    (element, false),
                    0,
                    len / element.bytes(),
                )),
                over => Err(format!(
                    "ends {over} bytes after a number of type {}",
                    element.name()
                )),
            }
        };
        opened().map_err(|reason: String| format!("{} {reason}", path.display()).into())
    }

    fn new(
        path: &Path,
        file: File,
        (element, big_endian): (ElementType, bool),
        start: u64,
        len: usize,
    ) -> Self {
        Self {
            path: path.to_owned(),
            file,
            element,
            big_endian,
            start,
            len,
            progress: progress::bytes("adding", (len * element.bytes()) as u64),
        }
    }

    pub fn element_type(&self) -> ElementType {
        self.element
    }

    /// The number of numbers.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Reads the numbers from index `start` on, of the file's type (u8 for bool).
    pub fn read<T: Pod>(&mut self, start: usize, numbers: &mut [T]) -> Outcome {
        let bytes: &mut [u8] = cast_slice_mut(numbers);
        self.read_bytes((start * size_of::<T>()) as u64, bytes)
            .map_err(|error| format!("{} {}", self.path.display(), unreadable(error)))?;
        if self.big_endian {
            bytes
                .chunks_exact_mut(size_of::<T>())
                .for_each(<[u8]>::reverse);
        }
        Ok(())
    }

    /// Reads the numbers from index `start` on, and converts each.
    pub fn read_as<N: Pod, T>(
        &mut self,
        mut start: usize,
        numbers: &mut [T],
        convert: impl Fn(N) -> T,
    ) -> Outcome {
        let mut originals = vec![N::zeroed(); numbers.len().min(PIECE / size_of::<N>())];
        for part in numbers.chunks_mut(originals.len().max(1)) {
            let originals = &mut originals[..part.len()];
            self.read(start, originals)?;
            start += part.len();
            for (number, original) in part.iter_mut().zip(originals) {
                *number = convert(*original);
            }
        }
        Ok(())
    }

    fn read_bytes(&mut self, start: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.start + start))?;
        for piece in bytes.chunks_mut(PIECE) {
            self.file.read_exact(piece)?;
            self.progress.inc(piece.len() as u64);
        }
        Ok(())
    }
}

fn file_and_length(path: &Path) -> Result<(File, u64), String> {
    let file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    Ok((file, length))
}
