//! Arrays in NumPy's files, `.npy`: NumPy Enhancement Proposal 1, versions 1.0 to 3.0.

use crate::element::{Element, Number};
use thiserror::Error;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The header ends at a multiple of it.
const ALIGNMENT: usize = 64;

/// The elements of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// Their type. NumPy has no bf16: such elements are stored as u16.
    pub element: Element,
    /// Their bytes, row by row.
    pub bytes: Vec<u8>,
}

impl Array {
    /// The numbers that a buffer of `element` is compared with.
    pub(crate) fn numbers(&self, element: Element) -> Vec<Number> {
        let elements = self.bytes.chunks_exact(self.element.bytes());
        elements
            .map(|bytes| match (self.element, bytes.try_into()) {
                // By their bits, as launch files write them: f64 rounds large ones.
                (Element::U64, Ok(word)) if !element.is_float() => {
                    Number::Integer(i64::from_le_bytes(word))
                }
                (of, _) => of.decode(bytes),
            })
            .collect()
    }
}

/// A file that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum NpyError {
    /// Not a NumPy file, or one that ends too early.
    #[error("not a whole .npy file")]
    NotNpy,
    /// Elements of another type, or in the other byte order.
    #[error("elements of type {0} are not supported")]
    Type(String),
    /// Columns follow each other in memory.
    #[error("the array is in Fortran's order; save `numpy.ascontiguousarray(it)`")]
    Fortran,
}

/// Reads a file.
///
/// # Errors
/// [`NpyError`] if it is no array of numbers in C's order.
pub fn read(file: &[u8]) -> Result<Array, NpyError> {
    let (header, data) = split(file).ok_or(NpyError::NotNpy)?;
    let header = std::str::from_utf8(header).map_err(|_| NpyError::NotNpy)?;
    let descr = value(header, "descr").ok_or(NpyError::NotNpy)?;
    if value(header, "fortran_order").is_some_and(|it| it.starts_with("True")) {
        return Err(NpyError::Fortran);
    }
    if descr.starts_with('[') {
        return Err(NpyError::Type("a structure".to_owned()));
    }
    let descr = descr.trim_start_matches(['\'', '"']);
    let descr = &descr[..descr.find(['\'', '"']).ok_or(NpyError::NotNpy)?];
    let element = element_of(descr).ok_or_else(|| NpyError::Type(descr.to_owned()))?;
    let shape = value(header, "shape").ok_or(NpyError::NotNpy)?;
    let shape = shape.trim_start_matches('(');
    let shape = &shape[..shape.find(')').ok_or(NpyError::NotNpy)?];
    let lengths = shape.split(',').map(str::trim).filter(|it| !it.is_empty());
    let elements = lengths
        // Python 2 wrote `3L`.
        .map(|it| it.trim_end_matches('L').parse::<usize>().ok())
        .try_fold(1_usize, |product, length| product.checked_mul(length?));
    let bytes = elements.and_then(|it| it.checked_mul(element.bytes()));
    let bytes = data
        .get(..bytes.ok_or(NpyError::NotNpy)?)
        .ok_or(NpyError::NotNpy)?;
    Ok(Array {
        element,
        bytes: bytes.to_vec(),
    })
}

/// The header's text, and the elements.
fn split(file: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = file.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_at_checked(2)?;
    let (length, rest) = match version[0] {
        1 => {
            let (length, rest) = rest.split_at_checked(2)?;
            (u16::from_le_bytes(length.try_into().ok()?).into(), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_at_checked(4)?;
            (u32::from_le_bytes(length.try_into().ok()?) as usize, rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// The value of a key in the header.
fn value<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = header.split_once(&format!("'{key}'"))?;
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

/// The type of a description, in this machine's byte order, which is little-endian.
fn element_of(descr: &str) -> Option<Element> {
    Some(match descr.trim_start_matches(['|', '<', '=']) {
        "u1" | "b1" | "?" => Element::U8,
        "i1" => Element::I8,
        "u2" => Element::U16,
        "i2" => Element::I16,
        "u4" => Element::U32,
        "i4" => Element::I32,
        "u8" => Element::U64,
        "i8" => Element::I64,
        "f2" => Element::F16,
        "f4" => Element::F32,
        "f8" => Element::F64,
        // As `ml_dtypes` stores bf16: NumPy only knows its size.
        "V2" => Element::Bf16,
        _ => return None,
    })
}

/// The file of a one-dimensional array.
#[must_use]
pub fn write(element: Element, bytes: &[u8]) -> Vec<u8> {
    let descr = match element {
        Element::U8 => "|u1",
        Element::I8 => "|i1",
        Element::U16 | Element::Bf16 => "<u2",
        Element::I16 => "<i2",
        Element::U32 => "<u4",
        Element::I32 => "<i4",
        Element::U64 => "<u8",
        Element::I64 => "<i8",
        Element::F16 => "<f2",
        Element::F32 => "<f4",
        Element::F64 => "<f8",
    };
    let length = bytes.len() / element.bytes();
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({length},), }}");
    let start = MAGIC.len() + 4;
    let end = (start + header.len() + 1).next_multiple_of(ALIGNMENT);
    header.extend(std::iter::repeat_n(' ', end - start - header.len() - 1));
    header.push('\n');
    let mut file = MAGIC.to_vec();
    file.extend([1, 0]);
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_read_back() {
        let bytes: Vec<u8> = (0..24).collect();
        for element in [Element::I8, Element::F16, Element::U32, Element::F64] {
            let file = write(element, &bytes);
            assert_eq!((file.len() - bytes.len()) % ALIGNMENT, 0);
            let bytes = bytes.clone();
            assert_eq!(read(&file), Ok(Array { element, bytes }));
        }
    }

    #[test]
    fn a_file_that_ends_too_early_is_refused() {
        let file = write(Element::F32, &[0; 8]);
        assert_eq!(read(&file[..file.len() - 1]), Err(NpyError::NotNpy));
        assert_eq!(read(&file[..20]), Err(NpyError::NotNpy));
    }

    #[test]
    fn descriptions_are_read_as_numpy_reads_them() {
        let described = |descr: &str, shape: &str| {
            let header =
                format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
            let mut file = [MAGIC, &[1, 0]].concat();
            file.extend((header.len() as u16).to_le_bytes());
            file.extend(header.as_bytes());
            file.extend([0; 8]);
            read(&file).map(|it| (it.element, it.bytes.len()))
        };
        for (descr, shape, expected) in [
            ("'f8'", "()", (Element::F64, 8)),
            ("'=f4'", "(2L,)", (Element::F32, 8)),
            ("'<u1'", "(2, 3)", (Element::U8, 6)),
            ("'?'", "(8,)", (Element::U8, 8)),
            ("'<V2'", "(4,)", (Element::Bf16, 8)),
        ] {
            assert_eq!(described(descr, shape), Ok(expected), "{descr}");
        }
        for (descr, named) in [
            ("'>f4'", ">f4"),
            ("'<U2'", "<U2"),
            ("'|O'", "|O"),
            ("[('x', '<f4')]", "a structure"),
        ] {
            let error = NpyError::Type(named.to_owned());
            assert_eq!(described(descr, "(1,)"), Err(error), "{descr}");
        }
    }
}
