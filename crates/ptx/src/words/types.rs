//! Types of operands and variables.

use super::words;

words! {
    /// A fundamental type (PTX ISA, 5.2), or a packed one (5.2.3).
    Type {
        B1 = "b1", B8 = "b8", B16 = "b16", B32 = "b32", B64 = "b64", B128 = "b128",
        U4 = "u4", U8 = "u8", U16 = "u16", U32 = "u32", U64 = "u64",
        S4 = "s4", S8 = "s8", S16 = "s16", S32 = "s32", S64 = "s64",
        F16 = "f16", F32 = "f32", F64 = "f64", Bf16 = "bf16", Tf32 = "tf32",
        E4m3 = "e4m3", E5m2 = "e5m2",
        F16x2 = "f16x2", Bf16x2 = "bf16x2", F32x2 = "f32x2", U16x2 = "u16x2", S16x2 = "s16x2",
        E4m3x2 = "e4m3x2", E5m2x2 = "e5m2x2",
        Pred = "pred", TexRef = "texref", SamplerRef = "samplerref", SurfRef = "surfref",
    }
}

impl Type {
    /// The size of one value in bits; none for predicates and references to textures, which have no size.
    ///
    /// ```
    /// assert_eq!(ptx::Type::Bf16x2.bits(), Some(32));
    /// assert_eq!(ptx::Type::Pred.bits(), None);
    /// ```
    #[must_use]
    pub const fn bits(self) -> Option<u32> {
        Some(match self {
            Self::B1 => 1,
            Self::U4 | Self::S4 => 4,
            Self::B8 | Self::U8 | Self::S8 | Self::E4m3 | Self::E5m2 => 8,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 16,
            Self::E4m3x2 | Self::E5m2x2 => 16,
            Self::B32 | Self::U32 | Self::S32 | Self::F32 | Self::Tf32 => 32,
            Self::F16x2 | Self::Bf16x2 | Self::U16x2 | Self::S16x2 => 32,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 | Self::F32x2 => 64,
            Self::B128 => 128,
            Self::Pred | Self::TexRef | Self::SamplerRef | Self::SurfRef => return None,
        })
    }

    /// Whether it is a signed integer.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(
            self,
            Self::S4 | Self::S8 | Self::S16 | Self::S32 | Self::S64
        )
    }

    /// Whether it is an integer of at least a byte, with or without a sign.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        let is_unsigned = matches!(self, Self::U8 | Self::U16 | Self::U32 | Self::U64);
        is_unsigned || self.is_signed() && !matches!(self, Self::S4)
    }

    /// Whether it is one floating-point number.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16 | Self::Bf16 | Self::F32 | Self::Tf32 | Self::F64
        )
    }
}
