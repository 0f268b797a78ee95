//! Types of elements, and numbers as their bytes.

use half::{bf16, f16};
use serde::{Deserialize, Serialize};

/// The type of a buffer's elements, or of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Element {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    Bf16,
    F32,
    F64,
}

/// A number as it is written.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// A whole number.
    Integer(i64),
    /// A number with a fraction, an infinity or NaN.
    Float(f64),
}

impl Number {
    /// The number as f64, rounded.
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl Element {
    /// The bytes of an element.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// The name in launch files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Whether elements have fractions.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    /// The smallest and the largest integer of the type; of floats, those of an integer of their size.
    pub(crate) const fn whole_range(self) -> (i128, i128) {
        let bits = 8 * self.bytes();
        match self {
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => (0, (1 << bits) - 1),
            _ => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        }
    }

    /// The bytes of a number, rounded to the nearest element; none if an integer does not fit, or has a fraction.
    #[must_use]
    pub fn encode(self, number: Number) -> Option<Vec<u8>> {
        let rounded = number.as_f64();
        match self {
            Self::F16 => return Some(f16::from_f64(rounded).to_le_bytes().into()),
            Self::Bf16 => return Some(bf16::from_f64(rounded).to_le_bytes().into()),
            Self::F32 => return Some((rounded as f32).to_le_bytes().into()),
            Self::F64 => return Some(rounded.to_le_bytes().into()),
            _ => {}
        }
        let Number::Integer(value) = number else {
            return None;
        };
        let bits = 8 * self.bytes() as u32;
        // A negative number stands for the bits of an unsigned one, and vice versa.
        let least = -(1_i128 << (bits - 1));
        let most = (1_i128 << bits) - 1;
        (least..=most)
            .contains(&value.into())
            .then(|| value.to_le_bytes()[..self.bytes()].to_vec())
    }

    /// The number with these bytes. 64-bit unsigned numbers beyond the signed range are rounded.
    ///
    /// # Panics
    /// If the bytes are not those of one element.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> Number {
        assert_eq!(bytes.len(), self.bytes(), "the bytes of one element");
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let word = u64::from_le_bytes(word);
        match self {
            Self::U8 | Self::U16 | Self::U32 => Number::Integer(word as i64),
            Self::U64 => i64::try_from(word).map_or(Number::Float(word as f64), Number::Integer),
            Self::I8 => Number::Integer((word as i8).into()),
            Self::I16 => Number::Integer((word as i16).into()),
            Self::I32 => Number::Integer((word as i32).into()),
            Self::I64 => Number::Integer(word as i64),
            Self::F16 => Number::Float(f16::from_bits(word as u16).to_f64()),
            Self::Bf16 => Number::Float(bf16::from_bits(word as u16).to_f64()),
            Self::F32 => Number::Float(f32::from_bits(word as u32).into()),
            Self::F64 => Number::Float(f64::from_bits(word)),
        }
    }

    /// Whether an element is a number, or differs from it by at most `tolerance` times the larger of its magnitude and
    /// one. Integers are compared exactly; the number is rounded as an element is, unless it is too large for one.
    pub(crate) fn is_near(self, bytes: &[u8], number: Number, tolerance: f64) -> bool {
        if let (Some(found), Some(wanted)) = (self.whole(bytes), self.element_of(number)) {
            let wanted = self.whole(&wanted).unwrap_or_default();
            let difference = (found - wanted).unsigned_abs() as f64;
            return difference <= tolerance * (wanted as f64).abs().max(1.0);
        }
        let found = self.decode(bytes).as_f64();
        let wanted = self.element_of(number);
        let wanted = wanted.map_or(number.as_f64(), |it| self.decode(&it).as_f64());
        // All finite numbers are equally far from an infinity.
        let is_close =
            wanted.is_finite() && (found - wanted).abs() <= tolerance * wanted.abs().max(1.0);
        found == wanted || (found.is_nan() && wanted.is_nan()) || is_close
    }

    /// A number, rounded like the element that it is compared with, with all its digits.
    pub(crate) fn show_number(self, number: Number) -> String {
        match self.element_of(number) {
            Some(bytes) => self.show(&bytes),
            None => number.as_f64().to_string(),
        }
    }

    /// The bytes of a number, unless rounding makes an infinity of it.
    fn element_of(self, number: Number) -> Option<Vec<u8>> {
        let bytes = self.encode(number)?;
        let is_infinite = self.decode(&bytes).as_f64().is_infinite();
        (!is_infinite || number.as_f64().is_infinite()).then_some(bytes)
    }

    /// The value of an integer; none for floats.
    fn whole(self, bytes: &[u8]) -> Option<i128> {
        match self.decode(bytes) {
            _ if self.is_float() => None,
            Number::Integer(value) => Some(value.into()),
            // Above the signed numbers.
            Number::Float(_) => Some(u64::from_le_bytes(bytes.try_into().ok()?).into()),
        }
    }

    /// The element of these bytes, as text that has all its digits.
    #[must_use]
    pub fn show(self, bytes: &[u8]) -> String {
        match (self, self.decode(bytes)) {
            (Self::U64, Number::Float(_)) => {
                let word = bytes.iter().rev();
                word.fold(0_u64, |word, byte| word << 8 | u64::from(*byte))
                    .to_string()
            }
            (_, Number::Integer(value)) => value.to_string(),
            (Self::F32, Number::Float(value)) => format!("{:?}", value as f32),
            (_, Number::Float(value)) => format!("{value:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back() {
        for element in [Element::U8, Element::I16, Element::F16, Element::F64] {
            let bytes = element.encode(Number::Integer(100)).unwrap();
            assert_eq!(element.decode(&bytes).as_f64(), 100.0, "{element:?}");
        }
        assert_eq!(Element::I8.encode(Number::Integer(-1)), Some(vec![255]));
        assert_eq!(Element::U8.encode(Number::Integer(256)), None);
        assert_eq!(Element::U32.encode(Number::Float(0.5)), None);
        assert_eq!(
            Element::U64.show(&u64::MAX.to_le_bytes()),
            u64::MAX.to_string()
        );
        assert_eq!(Element::F32.show(&0.1_f32.to_le_bytes()), "0.1");
    }
}
