//! Shapes of products.

use super::{Field, Words, words};
use std::fmt;

words! {
    /// The shape of a matrix that a warp moves or multiplies, in elements.
    MatrixShape {
        M8n8 = "m8n8", M8n16 = "m8n16", M16n16 = "m16n16", M16n8 = "m16n8",
        M8n8k4 = "m8n8k4", M8n8k16 = "m8n8k16", M8n8k32 = "m8n8k32", M8n8k128 = "m8n8k128",
        M16n8k4 = "m16n8k4", M16n8k8 = "m16n8k8", M16n8k16 = "m16n8k16", M16n8k32 = "m16n8k32",
        M16n16k16 = "m16n16k16", M16n16k8 = "m16n16k8", M32n8k16 = "m32n8k16", M8n32k16 = "m8n32k16",
        M16n8k64 = "m16n8k64", M16n8k128 = "m16n8k128", M16n8k256 = "m16n8k256",
    }
}

/// The shape of a product of a warpgroup: 64 rows, `columns` columns, `depth` products a sum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WarpgroupShape {
    /// Columns: a multiple of 8, at most 256.
    pub columns: u16,
    /// Products a sum: 8, 16, 32 or 256, by the type.
    pub depth: u16,
}

impl Field for WarpgroupShape {
    fn take(words: &mut Words<'_, '_>) -> Option<Self> {
        words.take(|text| {
            let (columns, depth) = text.strip_prefix("m64n")?.split_once('k')?;
            let shape = Self {
                columns: columns.parse().ok()?,
                depth: depth.parse().ok()?,
            };
            (shape.to_string() == text).then_some(shape)
        })
    }

    fn put(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, ".{self}")
    }

    #[cfg(test)]
    fn any() -> proptest::strategy::BoxedStrategy<Self> {
        use proptest::strategy::Strategy;
        let shape = |(columns, depth)| Self {
            columns: 8 * columns,
            depth,
        };
        let depths = proptest::sample::select(vec![8, 16, 32, 256]);
        (1..=32_u16, depths).prop_map(shape).boxed()
    }
}

impl fmt::Display for WarpgroupShape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "m64n{}k{}", self.columns, self.depth)
    }
}
