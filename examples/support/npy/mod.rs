//! NumPy files: reading, viewing in place, converting, writing.

#![allow(dead_code, reason = "each program uses a part of it")]

mod element;
mod header;
pub mod stream;

pub use element::ElementType;

use crate::progress;
use crate::support::{Outcome, output};
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use half::{bf16, f16};
use header::{Header, file_and_length, unreadable};
use indicatif::ProgressBar;
use ndarray::{ArrayViewD, CowArray, IxDyn, ShapeBuilder};
use ndarray_npy::npy::header::{Header as NewHeader, Layout};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The number of bytes read between two updates of the progress.
const CHUNK: usize = 4 << 20;

/// The array of a `.npy` file.
pub struct NpyFile {
    header: Header,
    /// The array in 8-byte words, little-endian, so that its numbers are aligned.
    words: Vec<u64>,
}

impl NpyFile {
    /// Reads a file into memory, after checking that its header matches its length.
    pub fn read(path: &Path) -> Outcome<Self> {
        Self::read_file(path).map_err(|reason| format!("{} {reason}", path.display()).into())
    }

    fn read_file(path: &Path) -> Result<Self, String> {
        let (mut file, length) = file_and_length(path)?;
        let header = Header::read(&mut file, length)?;
        let mut words = read_words(file, header.bytes).map_err(unreadable)?;
        if header.big_endian {
            let bytes = &mut cast_slice_mut(&mut words)[..header.bytes];
            bytes
                .chunks_exact_mut(header.element.bytes())
                .for_each(<[u8]>::reverse);
        }
        Ok(Self { header, words })
    }

    pub fn element_type(&self) -> ElementType {
        self.header.element
    }

    pub fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// The array, with elements viewed as `T`: numbers of the file's type, or u8 for bool.
    pub fn array<T: Pod>(&self) -> ArrayViewD<'_, T> {
        let bytes: &[u8] = &cast_slice(&self.words)[..self.header.bytes];
        let shape = IxDyn(self.shape()).set_f(self.header.fortran_order);
        ArrayViewD::from_shape(shape, cast_slice(bytes)).expect("the header was checked")
    }

    /// The numbers in f64. The conversion is exact for all types except 64-bit integers.
    pub fn to_f64(&self) -> CowArray<'_, f64, IxDyn> {
        match self.element_type() {
            ElementType::Bool => self.array().mapv(|it: u8| f64::from(it != 0)).into(),
            ElementType::I8 => self.array().mapv(|it: i8| it.into()).into(),
            ElementType::U8 => self.array().mapv(|it: u8| it.into()).into(),
            ElementType::I16 => self.array().mapv(|it: i16| it.into()).into(),
            ElementType::U16 => self.array().mapv(|it: u16| it.into()).into(),
            ElementType::I32 => self.array().mapv(|it: i32| it.into()).into(),
            ElementType::U32 => self.array().mapv(|it: u32| it.into()).into(),
            ElementType::I64 => self.array().mapv(|it: i64| it as f64).into(),
            ElementType::U64 => self.array().mapv(|it: u64| it as f64).into(),
            ElementType::F16 => self.array().mapv(f16::to_f64).into(),
            ElementType::Bf16 => self.array().mapv(bf16::to_f64).into(),
            ElementType::F32 => self.array().mapv(|it: f32| it.into()).into(),
            ElementType::F64 => self.array().into(),
        }
    }

    /// The numbers in f32. The conversion is exact for all types of 8 and 16 bits.
    pub fn to_f32(&self) -> CowArray<'_, f32, IxDyn> {
        match self.element_type() {
            ElementType::F32 => self.array().into(),
            _ => self.to_f64().mapv(|it| it as f32).into(),
        }
    }
}

/// The next bytes of a file, as words.
fn read_words(file: File, bytes: usize) -> io::Result<Vec<u64>> {
    let mut words = Vec::new();
    words.try_reserve_exact(bytes.div_ceil(size_of::<u64>()))?;
    words.resize(bytes.div_ceil(size_of::<u64>()), 0);
    let mut reader = progress::bytes("reading", bytes as u64).wrap_read(file);
    for chunk in cast_slice_mut(&mut words)[..bytes].chunks_mut(CHUNK) {
        reader.read_exact(chunk)?;
    }
    Ok(words)
}

/// Writes an array to a file, in C order; `elements` are its bytes. If that fails, an existing file of that name
/// stays.
pub fn write(path: &Path, element: ElementType, shape: &[usize], elements: &[u8]) -> Outcome {
    let header = header_of(element, shape)?;
    let (needed, found) = (
        shape.iter().product::<usize>() * element.bytes(),
        elements.len(),
    );
    if found != needed {
        return Err(format!("an array of shape {shape:?} has {needed} bytes, not {found}").into());
    }
    output::replace(path, |file| {
        let length = elements.len() as u64;
        let mut writer = BufWriter::new(progress::bytes("writing", length).wrap_write(file));
        header.write(&mut writer)?;
        writer.write_all(elements)?;
        Ok(writer.flush()?)
    })
}

fn header_of(element: ElementType, shape: &[usize]) -> Outcome<NewHeader> {
    Ok(NewHeader {
        type_descriptor: format!("'{}'", element.descriptor()).parse()?,
        layout: Layout::Standard,
        shape: shape.to_vec(),
    })
}

/// Writes an array to a file as [`write`] does, but in parts, of which each element is in one.
pub fn write_parts(
    path: &Path,
    element: ElementType,
    shape: &[usize],
    parts: impl FnOnce(&mut Parts<'_>) -> Outcome,
) -> Outcome {
    let header = header_of(element, shape)?;
    output::replace(path, |mut file| {
        header.write(&mut file)?;
        let start = file.stream_position()?;
        let bytes = shape.iter().product::<usize>() * element.bytes();
        parts(&mut Parts {
            file,
            start,
            element,
            progress: progress::bytes("multiplying", bytes as u64),
        })
    })
}

/// The place of an array in a new file.
pub struct Parts<'a> {
    file: &'a File,
    start: u64,
    element: ElementType,
    progress: ProgressBar,
}

impl Parts<'_> {
    /// Writes elements from index `first` on.
    pub fn write(&mut self, first: usize, bytes: &[u8]) -> Outcome {
        let place = self.start + (first * self.element.bytes()) as u64;
        self.file.seek(SeekFrom::Start(place))?;
        self.file.write_all(bytes)?;
        self.progress.inc(bytes.len() as u64);
        Ok(())
    }
}
