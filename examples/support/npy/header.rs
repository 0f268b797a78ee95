//! Checks of a NumPy file before memory is allocated for it.

use ndarray_npy::npy::header::Header;
use std::io::{self, Read};

/// The first bytes of every file of the format.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Bytes of the longest header that is read: the limit of version 1 of the format. NumPy itself reads
/// 10,000.
const MAX_HEADER: usize = 1 << 16;

/// The most brackets that may be open at once. A shape in a dictionary needs 2; the time to parse
/// grows exponentially with this number.
const MAX_DEPTH: usize = 6;

/// Reads the header of a file of `length` bytes and checks it. The inner error says what is wrong
/// with it.
pub fn check(mut file: impl Read, length: u64) -> io::Result<Result<(), String>> {
    let mut start = Vec::new();
    file.by_ref().take(12).read_to_end(&mut start)?;
    let (prefix, header) = match lengths(&start) {
        Ok(lengths) => lengths,
        Err(reason) => return Ok(Err(reason)),
    };
    let rest = (prefix + header).saturating_sub(start.len());
    file.take(rest as u64).read_to_end(&mut start)?;
    start.truncate(prefix + header);
    Ok(check_header(&start, prefix, length))
}

/// The bytes before the header's text, and the bytes of the text.
fn lengths(start: &[u8]) -> Result<(usize, usize), String> {
    if !start.starts_with(MAGIC) {
        return Err("is not a NumPy file (.npy)".to_owned());
    }
    let (prefix, header) = match start[MAGIC.len()..] {
        [1, 0, a, b, ..] => (10, u32::from(u16::from_le_bytes([a, b]))),
        [2 | 3, 0, a, b, c, d] => (12, u32::from_le_bytes([a, b, c, d])),
        _ => return Err(damaged()),
    };
    match usize::try_from(header) {
        Ok(header) if header <= MAX_HEADER => Ok((prefix, header)),
        _ => Err(format!(
            "has a header of {header} bytes; at most {MAX_HEADER} are read"
        )),
    }
}

fn check_header(start: &[u8], prefix: usize, length: u64) -> Result<(), String> {
    let text = start.get(prefix..).ok_or_else(damaged)?;
    if depth(text) > MAX_DEPTH {
        return Err(format!(
            "has a header with more than {MAX_DEPTH} brackets inside each other"
        ));
    }
    let header = Header::from_reader(&mut &start[..]).map_err(|_| damaged())?;
    let Some(expected) = bytes_of_array(&header) else {
        // The type is no number, or the array is larger than a file can be: refused later.
        return Ok(());
    };
    let found = length.saturating_sub(start.len() as u64);
    match expected {
        _ if expected > found => Err(truncated(expected - found)),
        _ if expected < found => Err(too_long(found - expected)),
        _ => Ok(()),
    }
}

/// Makes an array of numbers little-endian, and its halves 16-bit integers of the same bits, because
/// `ndarray-npy` reads no others. Returns the type of the elements in NumPy's notation, such as `<f2`; none
/// where they are no numbers. The header was checked.
pub fn normalise(contents: &mut [u8]) -> Option<String> {
    let (prefix, header) = lengths(contents).ok()?;
    let (header, elements) = contents.split_at_mut_checked(prefix + header)?;
    let parsed = Header::from_reader(&mut &header[..]).ok()?;
    let found = parsed.type_descriptor.as_string()?.clone();
    let size: usize = found.get(2..)?.parse().ok()?;
    let native = found.replacen('>', "<", 1);
    let stored = match native.as_str() {
        "<f2" => "<u2",
        native => native,
    };
    let place = header
        .windows(found.len())
        .position(|it| it == found.as_bytes())?;
    header[place..place + found.len()].copy_from_slice(stored.as_bytes());
    if native != found && size > 1 {
        elements.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    Some(native)
}

/// The most brackets that are open at once, including those in names.
fn depth(text: &[u8]) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for byte in text {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

/// The bytes of an array of numbers, whose type names them as in `<f8`.
fn bytes_of_array(header: &Header) -> Option<u64> {
    let descriptor = header.type_descriptor.as_string()?;
    let size: u64 = descriptor.get(2..)?.parse().ok()?;
    let factors = header.shape.iter().map(|&extent| extent as u64);
    factors.chain([size]).try_fold(1, u64::checked_mul)
}

/// The message about a header that does not follow the format.
pub fn damaged() -> String {
    "has a damaged header".to_owned()
}

/// The message about a file that is shorter than its array.
pub fn truncated(missing: impl std::fmt::Display) -> String {
    format!("is truncated: its last {missing} bytes are missing")
}

/// The message about a file that is longer than its array.
pub fn too_long(extra: impl std::fmt::Display) -> String {
    format!("goes on for {extra} bytes after its array's end")
}
