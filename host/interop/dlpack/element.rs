//! Element types that tensors can have.

use crate::element::Element;
use ::dlpark::ffi::{DLDataType, DLDataTypeCode};
use cuda_std::fp8::{F8E4M3, F8E5M2};
use half::{bf16, f16};

/// An element type that DLPack knows: integers, `f32`, `f64`, `f16`, `bf16`, `F8E4M3` and `F8E5M2`.
pub trait TensorElement: Element + Sealed {}

pub trait Sealed {
    /// The protocol's description of the type.
    const TYPE: DLDataType;
    /// The type's name.
    const NAME: &'static str;
}

macro_rules! elements {
    ($($element:ident: $type:ident;)*) => {$(
        impl TensorElement for $element {}

        impl Sealed for $element {
            const TYPE: DLDataType = DLDataType::$type;
            const NAME: &'static str = stringify!($element);
        }
    )*};
}

elements! {
    i8: I8;
    i16: I16;
    i32: I32;
    i64: I64;
    u8: U8;
    u16: U16;
    u32: U32;
    u64: U64;
    f32: F32;
    f64: F64;
    f16: F16;
    bf16: BF16;
    F8E4M3: F8E4M3FN;
    F8E5M2: F8E5M2;
}

/// A type in words, such as `float 32`.
pub(super) fn words(found: DLDataType) -> String {
    let code = match found.code {
        DLDataTypeCode::INT => "int",
        DLDataTypeCode::UINT => "uint",
        DLDataTypeCode::FLOAT => "float",
        DLDataTypeCode::BFLOAT => "bfloat",
        DLDataTypeCode::COMPLEX => "complex",
        DLDataTypeCode::BOOL => "bool",
        DLDataTypeCode::FLOAT8_E4M3FN => "float8 e4m3fn",
        DLDataTypeCode::FLOAT8_E5M2 => "float8 e5m2",
        DLDataTypeCode(code) => {
            return format!(
                "of type code {code}, bits {}, lanes {}",
                found.bits, found.lanes
            );
        }
    };
    match found.lanes {
        1 => format!("{code} {}", found.bits),
        lanes => format!("vectors of {lanes} {code} {}", found.bits),
    }
}
