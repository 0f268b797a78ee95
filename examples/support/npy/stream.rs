//! Files of numbers that are read in parts, in any order: they may be larger than memory.

use super::element::ElementType;
use super::header::{Header, file_and_length, unreadable};
use crate::progress;
use crate::support::Outcome;
use bytemuck::{Pod, cast_slice_mut};
use half::{bf16, f16};
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
    /// The shape of the array, and whether it is in Fortran order.
    shape: (Vec<usize>, bool),
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
            Ok(Self {
                path: path.to_owned(),
                file,
                element: header.element,
                big_endian: header.big_endian,
                shape: (header.shape, header.fortran_order),
                start,
                len: header.bytes / header.element.bytes(),
                progress: ProgressBar::hidden(),
            })
        };
        opened().map_err(|reason: String| format!("{} {reason}", path.display()).into())
    }

    /// Opens a file of little-endian numbers without a header.
    pub fn open_raw(path: &Path, element: ElementType) -> Outcome<Self> {
        let opened = || {
            let (file, length) = file_and_length(path)?;
            let len = usize::try_from(length).map_err(|_| "is too long".to_owned())?;
            match len % element.bytes() {
                0 => Ok(Self {
                    path: path.to_owned(),
                    file,
                    element,
                    big_endian: false,
                    shape: (vec![len / element.bytes()], false),
                    start: 0,
                    len: len / element.bytes(),
                    progress: ProgressBar::hidden(),
                }),
                over => Err(format!(
                    "ends {over} bytes after a number of type {}",
                    element.name()
                )),
            }
        };
        opened().map_err(|reason: String| format!("{} {reason}", path.display()).into())
    }

    /// The same file, with progress of `what` through its bytes as they are read.
    pub fn with_progress(self, what: &'static str) -> Self {
        let bytes = self.len * self.element.bytes();
        Self {
            progress: progress::bytes(what, bytes as u64),
            ..self
        }
    }

    pub fn element_type(&self) -> ElementType {
        self.element
    }

    /// The number of numbers.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The shape of the array.
    pub fn shape(&self) -> &[usize] {
        &self.shape.0
    }

    /// Whether the first index changes fastest.
    pub fn is_column_major(&self) -> bool {
        self.shape.1
    }

    /// The greatest magnitude of the numbers, in f64.
    pub fn greatest(&mut self) -> Outcome<f64> {
        let mut numbers = vec![0.0; self.len.min(PIECE)];
        let mut greatest = 0.0_f64;
        for start in (0..self.len).step_by(PIECE) {
            let numbers = &mut numbers[..PIECE.min(self.len - start)];
            self.read_f64(start, numbers)?;
            greatest = numbers
                .iter()
                .fold(greatest, |greatest, it| greatest.max(it.abs()));
        }
        Ok(greatest)
    }

    /// Reads the numbers from index `start` on, in f64. The conversion is exact for all types except 64-bit integers.
    pub fn read_f64(&mut self, start: usize, numbers: &mut [f64]) -> Outcome {
        match self.element {
            ElementType::Bool => self.read_as(start, numbers, |it: u8| f64::from(it != 0)),
            ElementType::I8 => self.read_as(start, numbers, |it: i8| it.into()),
            ElementType::U8 => self.read_as(start, numbers, |it: u8| it.into()),
            ElementType::I16 => self.read_as(start, numbers, |it: i16| it.into()),
            ElementType::U16 => self.read_as(start, numbers, |it: u16| it.into()),
            ElementType::I32 => self.read_as(start, numbers, |it: i32| it.into()),
            ElementType::U32 => self.read_as(start, numbers, |it: u32| it.into()),
            ElementType::I64 => self.read_as(start, numbers, |it: i64| it as f64),
            ElementType::U64 => self.read_as(start, numbers, |it: u64| it as f64),
            ElementType::F16 => self.read_as(start, numbers, f16::to_f64),
            ElementType::Bf16 => self.read_as(start, numbers, bf16::to_f64),
            ElementType::F32 => self.read_as(start, numbers, |it: f32| it.into()),
            ElementType::F64 => self.read(start, numbers),
        }
    }

    /// Reads the numbers from index `start` on, in f32. The conversion is exact for all types of 8 and 16 bits.
    pub fn read_f32(&mut self, start: usize, numbers: &mut [f32]) -> Outcome {
        if self.element == ElementType::F32 {
            return self.read(start, numbers);
        }
        let mut of_piece = vec![0.0; numbers.len().min(PIECE)];
        for (index, piece) in numbers.chunks_mut(PIECE).enumerate() {
            let of_piece = &mut of_piece[..piece.len()];
            self.read_f64(start + index * PIECE, of_piece)?;
            for (number, wide) in piece.iter_mut().zip(of_piece) {
                *number = *wide as f32;
            }
        }
        Ok(())
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
