//! The header of a NumPy file, checked before memory is allocated for the array.
//!
//! `ndarray-npy` parses the dictionary. Other forms that NumPy reads are converted first.

use super::element::ElementType;
use ndarray_npy::npy::header;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The first bytes of every file of the format.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that is read, in bytes: NumPy's limit (`max_header_size` of `numpy.load`).
const MAX_HEADER: usize = 10_000;

/// The largest depth of open brackets: that of a shape in a dictionary. Parsing time grows exponentially with the
/// depth.
const MAX_DEPTH: usize = 2;

/// The contents of a header.
pub struct Header {
    pub element: ElementType,
    pub big_endian: bool,
    pub fortran_order: bool,
    pub shape: Vec<usize>,
    /// The bytes of the array.
    pub bytes: usize,
}

impl Header {
    /// Reads the header of a file of `length` bytes, up to the array. The error says what is wrong with the file.
    pub fn read(mut file: impl Read, length: u64) -> Result<Self, String> {
        let (text, start) = text(&mut file)?;
        let text = in_python_3(&text);
        // Records have more brackets, and are not read: they need no parser.
        if let Some(records) = records(&text) {
            return Err(ElementType::records(records));
        }
        let depth = depth(&text);
        if depth > MAX_DEPTH {
            return Err(format!(
                "has a header with more than {MAX_DEPTH} brackets inside each other"
            ));
        }
        let parsed = parsed(&text)?;
        let (element, big_endian) = ElementType::of(&parsed)?;
        let bytes = bytes_of_array(&parsed.shape, element)?;
        let found = length.saturating_sub(start);
        match bytes as u64 {
            expected if expected > found => Err(format!(
                "is truncated: its last {} bytes are missing",
                expected - found
            )),
            expected if expected < found => Err(format!(
                "goes on for {} bytes after its array's end",
                found - expected
            )),
            _ => Ok(Self {
                element,
                big_endian,
                fortran_order: parsed.layout.is_fortran(),
                shape: parsed.shape,
                bytes,
            }),
        }
    }
}

/// The text of a header, and the offset of its end in bytes.
fn text(file: &mut impl Read) -> Result<(String, u64), String> {
    let start = up_to(MAGIC.len() + 2, file)?;
    if start.starts_with(b"PK") {
        return Err("is an archive (.npz); save one array as .npy with numpy.save".to_owned());
    }
    if !start.starts_with(MAGIC) {
        return Err("is not a NumPy file (.npy)".to_owned());
    }
    let bytes_of_length = match start[MAGIC.len()..] {
        [1, 0] => 2,
        [2 | 3, 0] => 4,
        [major, minor] => {
            return Err(format!(
                "is of version {major}.{minor} of the format; read are 1.0, 2.0 and 3.0"
            ));
        }
        _ => return Err(damaged()),
    };
    let stored = up_to(bytes_of_length, file)?;
    let mut length = [0; 4];
    length[..stored.len()].copy_from_slice(&stored);
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_HEADER {
        return Err(format!(
            "has a header of {length} bytes; at most {MAX_HEADER} are read, as by NumPy"
        ));
    }
    let text = up_to(length, file)?;
    if stored.len() < bytes_of_length || text.len() < length {
        return Err(damaged());
    }
    let end = start.len() + stored.len() + text.len();
    let text = match start[MAGIC.len()] {
        3 => String::from_utf8(text).map_err(|_| damaged())?,
        // Latin-1, whose characters are the first ones of Unicode.
        _ => text.into_iter().map(char::from).collect(),
    };
    Ok((text, end as u64))
}

/// The next bytes of a file, fewer at its end.
fn up_to(bytes: usize, file: &mut impl Read) -> Result<Vec<u8>, String> {
    let mut found = Vec::new();
    let read = file.take(bytes as u64).read_to_end(&mut found);
    read.map_err(unreadable)?;
    Ok(found)
}

/// The largest depth of open brackets, or more. Those in strings do not count; in a header with escapes, where strings
/// are not told apart, all do that open.
fn depth(text: &str) -> usize {
    let has_escapes = text.contains('\\');
    let (mut open, mut most, mut quote) = (0_usize, 0, None);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' if has_escapes || quote.is_none() => open += 1,
            b')' | b']' | b'}' if !has_escapes && quote.is_none() => open = open.saturating_sub(1),
            b'\'' | b'"' if quote.is_none() => quote = Some(byte),
            _ if quote == Some(byte) => quote = None,
            _ => {}
        }
        most = most.max(open);
    }
    most
}

/// The type of records in a header: a list, or a tuple for arrays within arrays. `None` for a type that is a name, and
/// for what is no header.
fn records(text: &str) -> Option<&str> {
    let keys = ["'descr'", "\"descr\""];
    let (_, rest) = keys.iter().find_map(|key| text.split_once(key))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let close = match rest.as_bytes().first()? {
        b'[' => ']',
        b'(' => ')',
        _ => return None,
    };
    // The last bracket of this kind before the next key.
    let end = rest.find("fortran_order").unwrap_or(rest.len());
    let end = rest[..end].rfind(close)?;
    Some(&rest[..=end])
}

/// A dictionary on one line, without the `40L` and `u'descr'` of Python 2.
fn in_python_3(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let (mut quote, mut before) = (None, ' ');
    let mut characters = text.trim().chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek();
        match character {
            '\'' | '"' if quote.is_none() => quote = Some(character),
            _ if quote == Some(character) => quote = None,
            _ if quote.is_some() => {}
            'L' if before.is_ascii_digit() => continue,
            'u' if matches!(next, Some('\'' | '"')) => continue,
            _ => {}
        }
        before = character;
        let is_space = quote.is_none() && character.is_ascii_whitespace();
        result.push(if is_space { ' ' } else { character });
    }
    result
}

fn parsed(dictionary: &str) -> Result<header::Header, String> {
    let length = dictionary.len() as u32 + 1;
    let parts = [MAGIC, &[3, 0], &length.to_le_bytes(), dictionary.as_bytes()];
    let header = [&parts.concat(), b"\n".as_slice()].concat();
    header::Header::from_reader(&mut header.as_slice()).map_err(|_| damaged())
}

/// The size of an array in bytes. As in `ndarray`, an extent of 0 does not compensate for the others.
fn bytes_of_array(shape: &[usize], element: ElementType) -> Result<usize, String> {
    let mut extents = shape.iter().filter(|&&extent| extent != 0);
    let bytes = extents.try_fold(element.bytes(), |bytes, &extent| bytes.checked_mul(extent));
    match bytes {
        Some(bytes) if isize::try_from(bytes).is_ok() => {
            Ok(if shape.contains(&0) { 0 } else { bytes })
        }
        _ => Err(format!("has the shape {shape:?}, which memory cannot hold")),
    }
}

fn damaged() -> String {
    "has a damaged header".to_owned()
}

/// A file whose length the system knows, and that length: a pipe, a device or a file of `/proc` has none.
pub fn file_and_length(path: &Path) -> Result<(File, u64), String> {
    let mut file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let has_end = |file: &mut File| -> io::Result<bool> {
        file.seek(SeekFrom::Start(length))?;
        let is_at_end = file.read(&mut [0])? == 0;
        file.rewind()?;
        Ok(is_at_end)
    };
    match has_end(&mut file) {
        Ok(true) => Ok((file, length)),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => Err(unreadable(error)),
        _ => Err("has no known length, as pipes and devices: copy it to a file".to_owned()),
    }
}

/// The message for a file that the system cannot read.
pub fn unreadable(error: io::Error) -> String {
    format!("cannot be read: {error}")
}
