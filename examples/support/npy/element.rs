//! Element types of NumPy files, and NumPy's rules for them.

use ndarray_npy::npy::header::Header;

/// A number type. They are sorted by size; among integers of one size the signed type comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    Bf16,
    F32,
    F64,
}

use ElementType::*;

/// A type, its size in bytes, its short name and its name in NumPy, and NumPy's other names for it.
type Row = (
    ElementType,
    usize,
    &'static str,
    &'static str,
    &'static [&'static str],
);

/// Row `element as usize` is that of `element`.
const TYPES: [Row; 13] = [
    (Bool, 1, "b1", "bool", &["?", "bool_"]),
    (I8, 1, "i1", "int8", &["b", "byte"]),
    (U8, 1, "u1", "uint8", &["B", "ubyte"]),
    (I16, 2, "i2", "int16", &["h", "short"]),
    (U16, 2, "u2", "uint16", &["H", "ushort"]),
    (I32, 4, "i4", "int32", &["i", "intc"]),
    (U32, 4, "u4", "uint32", &["I", "uintc"]),
    (I64, 8, "i8", "int64", &["q", "longlong"]),
    (U64, 8, "u8", "uint64", &["Q", "ulonglong"]),
    (F16, 2, "f2", "float16", &["e", "half"]),
    // `numpy.save` writes bfloat16 of ml_dtypes like this, and raw bytes as |V2.
    (Bf16, 2, "V2", "bfloat16", &[]),
    (F32, 4, "f4", "float32", &["f", "single"]),
    (F64, 8, "f8", "float64", &["d", "double", "float"]),
];

const ACCEPTED: &str = "only b1 (bool), i1 to i8 (int8 to int64), u1 to u8 (uint8 to uint64), \
                        f2 (float16), f4 (float32), f8 (float64) and bfloat16 of ml_dtypes (<V2) are read; \
                        other numbers can be saved as a.astype(\"f8\")";

impl ElementType {
    /// The type in a header, and whether its numbers are big-endian; the error is a sentence about another type.
    pub fn of(header: &Header) -> Result<(Self, bool), String> {
        let shown = header.type_descriptor.to_string();
        let Some(descriptor) = header.type_descriptor.as_string() else {
            return Err(Self::records(&shown));
        };
        let (order, name) = match descriptor.split_at_checked(1) {
            Some((order @ ("<" | ">" | "=" | "|"), name)) => (order, name),
            _ => ("=", descriptor.as_str()),
        };
        let named = TYPES
            .iter()
            .find(|(element, _, short, long, others)| match element {
                Bf16 => descriptor == "<V2",
                _ => name == *short || name == *long || others.contains(&name),
            });
        let (element, ..) = named.ok_or_else(|| refusal(what(name), &shown))?;
        Ok((*element, order == ">"))
    }

    /// The sentence about a type of records.
    pub fn records(descriptor: &str) -> String {
        refusal("records", descriptor)
    }

    /// The type with NumPy's short name, such as `f4`; bfloat16 is `bf16`.
    pub fn named(name: &str) -> Option<Self> {
        let has_name = |row: &&Row| match row.0 {
            Bf16 => name == "bf16",
            _ => name == row.2,
        };
        TYPES.iter().find(has_name).map(|row| row.0)
    }

    pub fn bytes(self) -> usize {
        self.row().1
    }

    /// NumPy's type, as in `f4 (float32)`.
    pub fn name(self) -> String {
        let (element, _, short, long, _) = *self.row();
        let order = if element == Bf16 { "<" } else { "" };
        format!("{order}{short} ({long})")
    }

    /// The type in the header of a file.
    pub fn descriptor(self) -> String {
        let order = if self.bytes() == 1 { '|' } else { '<' };
        format!("{order}{}", self.row().2)
    }

    pub fn is_float(self) -> bool {
        matches!(self, F16 | Bf16 | F32 | F64)
    }

    /// NumPy's type for the product of arrays of two types. bfloat16 is multiplied as float32.
    pub fn product(self, other: Self) -> Self {
        let [a, b] = [self, other].map(|it| if it == Bf16 { F32 } else { it });
        let (small, large) = if a as usize <= b as usize {
            (a, b)
        } else {
            (b, a)
        };
        match (small, large) {
            (_, F16 | F32 | F64) if small.is_float() => large,
            // The smallest float type that holds all integers of the other type.
            (Bool | I8 | U8, F16 | F32 | F64) => large,
            (I16 | U16, F16 | F32) => F32,
            (_, F16 | F32 | F64) => F64,
            // Signed and unsigned: the smallest integer type that holds both.
            (I8, U8) => I16,
            (I8 | I16, U16) => I32,
            (I8 | I16 | I32, U32) => I64,
            (I8 | I16 | I32 | I64, U64) => F64,
            _ => large,
        }
    }

    fn row(self) -> &'static Row {
        &TYPES[self as usize]
    }
}

/// The kind of elements of an unsupported type, from NumPy's name of it without the byte order.
fn what(name: &str) -> &'static str {
    match name.as_bytes() {
        b"f1" | b"V1" => "8-bit numbers of ml_dtypes or raw bytes",
        b"f12" | b"f16" | b"g" => "floats of more than 64 bits",
        [b'O', ..] | b"object" => "Python objects",
        [b'S' | b'a', ..] => "byte strings",
        [b'U' | b'T', ..] => "strings",
        [b'V', ..] => "raw bytes",
        [b'c' | b'F' | b'D' | b'G', ..] => "complex numbers",
        [b'M', ..] => "dates",
        [b'm', ..] => "time differences",
        _ => "elements of an unknown type",
    }
}

fn refusal(what: &str, descriptor: &str) -> String {
    format!("holds {what} ({descriptor}); {ACCEPTED}")
}
