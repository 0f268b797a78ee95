//! Element types by their names in Python.

use crate::errors::Class;
use dlpark::ffi::{DLDataType, DLDataTypeCode};
use pyo3::PyResult;

/// The types with a name that numpy, torch and jax share.
const NAMES: [(&str, DLDataType); 14] = [
    ("int8", DLDataType::I8),
    ("int16", DLDataType::I16),
    ("int32", DLDataType::I32),
    ("int64", DLDataType::I64),
    ("uint8", DLDataType::U8),
    ("uint16", DLDataType::U16),
    ("uint32", DLDataType::U32),
    ("uint64", DLDataType::U64),
    ("float16", DLDataType::F16),
    ("bfloat16", DLDataType::BF16),
    ("float32", DLDataType::F32),
    ("float64", DLDataType::F64),
    ("float8_e4m3fn", DLDataType::F8E4M3FN),
    ("float8_e5m2", DLDataType::F8E5M2),
];

/// The name of a type, as in messages and in `Array.dtype`.
pub fn name(of: DLDataType) -> String {
    let found = NAMES.iter().find(|(_, element)| *element == of);
    match (found, of.code) {
        (Some((name, _)), _) => (*name).to_owned(),
        (None, DLDataTypeCode::BOOL) => "bool".to_owned(),
        (None, DLDataTypeCode::COMPLEX) => format!("complex{}", of.bits),
        (None, code) => format!("DLPack type {} of {} bits", code.0, of.bits),
    }
}

/// The type of a name.
pub fn named(name: &str) -> PyResult<DLDataType> {
    let found = NAMES.iter().find(|(other, _)| *other == name);
    found
        .map(|(_, element)| *element)
        .ok_or_else(|| Class::Type.error(format!("no kernel takes elements of type {name}")))
}
