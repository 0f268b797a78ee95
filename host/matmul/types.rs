//! The element types of products, with their properties in the catalogue and the kernels.

use cuda_std::fp8::{F8E4M3, F8E5M2};
use half::{bf16, f16};
use std::fmt::{self, Display, Formatter};
use tilewright_kernels::epilogue::EpilogueElement;

/// The type of a matrix's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    I32,
    F8E4M3,
    F8E5M2,
}

impl ElementType {
    /// The type of sums of products of these elements.
    pub const fn of_sums(self) -> Self {
        match self {
            Self::F16 | Self::Bf16 | Self::F8E4M3 | Self::F8E5M2 => Self::F32,
            Self::I8 => Self::I32,
            Self::F32 | Self::F64 | Self::I32 => self,
        }
    }

    /// Whether it is f16 or bf16.
    pub const fn is_half(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16)
    }

    /// The size of an element in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::F8E4M3 | Self::F8E5M2 => size_of::<u8>(),
            Self::F16 | Self::Bf16 => size_of::<f16>(),
            Self::F32 | Self::I32 => size_of::<f32>(),
            Self::F64 => size_of::<f64>(),
        }
    }
}

/// The type's name in Rust.
impl Display for ElementType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I8 => "i8",
            Self::I32 => "i32",
            Self::F8E4M3 => "F8E4M3",
            Self::F8E5M2 => "F8E5M2",
        })
    }
}

/// An element type that has a number.
pub trait Typed: crate::element::Element {
    const TYPE: ElementType;
}

macro_rules! typed {
    ($($element:ty: $name:ident;)*) => {$(
        impl Typed for $element {
            const TYPE: ElementType = ElementType::$name;
        }
    )*};
}
typed! {
    f16: F16;
    bf16: Bf16;
    f32: F32;
    f64: F64;
    i8: I8;
    i32: I32;
    F8E4M3: F8E4M3;
    F8E5M2: F8E5M2;
}

/// An element type of A and B.
pub trait Operand: Typed {
    /// The type in which products are added.
    type Sum: EpilogueScalar;
}

/// An element type of C.
pub trait Output: Typed {
    /// The type in which outputs are computed from the sums.
    type Finish: EpilogueScalar;
}

/// A type of sums, in which an epilogue is computed: f32, f64 or i32.
pub trait EpilogueScalar: Typed + EpilogueElement {}

impl EpilogueScalar for f32 {}
impl EpilogueScalar for f64 {}
impl EpilogueScalar for i32 {}

macro_rules! operands {
    ($($element:ident in $sum:ident;)*) => {$(
        impl Operand for $element {
            type Sum = $sum;
        }
    )*};
}
operands! {
    f16 in f32;
    bf16 in f32;
    f32 in f32;
    f64 in f64;
    i8 in i32;
    F8E4M3 in f32;
    F8E5M2 in f32;
}

macro_rules! outputs {
    ($($element:ident in $finish:ident;)*) => {$(
        impl Output for $element {
            type Finish = $finish;
        }
    )*};
}
outputs! {
    f16 in f32;
    bf16 in f32;
    f32 in f32;
    f64 in f64;
    i32 in i32;
    // Residues.
    i8 in i32;
}
