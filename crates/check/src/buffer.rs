//! A buffer's contents before a launch, and its checks and outputs afterwards.

use crate::element::{Element, Number};
use crate::error::CheckError;

/// A buffer in global memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffer {
    /// The type of its elements.
    pub element: Element,
    /// The number of its elements.
    pub length: usize,
    /// Its contents at the start.
    pub contents: Contents,
    /// Its expected contents at the end.
    pub expected: Option<Expected>,
    /// Whether schedules may end with different contents, as sums in the order of atomic operations do.
    pub may_differ: bool,
}

/// The contents of a buffer at the start.
#[derive(Clone, PartialEq, Debug)]
pub enum Contents {
    /// Nothing: a kernel that reads it before it is written is a finding.
    Uninitialised,
    /// One number everywhere.
    Constant(Number),
    /// Each element has its index, wrapped or rounded to the type.
    Index,
    /// Random numbers from `least` up to, but excluding, `most`; whole numbers for integers. Floats are rounded to
    /// their type, so `most` can occur.
    Random {
        /// The seed of the generator.
        seed: u64,
        /// The smallest number.
        least: f64,
        /// The end of the range.
        most: f64,
    },
    /// These bytes.
    Bytes(Vec<u8>),
}

/// The expected contents of a buffer at the end.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// The elements, or one for all of them.
    pub values: Vec<Number>,
    /// The largest difference, as a part of the larger of the expected magnitude and one.
    pub tolerance: f64,
}

impl Expected {
    /// Fails unless it has a value for each of `length` elements.
    pub(crate) fn check(&self, length: usize) -> Result<(), String> {
        let (found, tolerance) = (self.values.len(), self.tolerance);
        if found != 1 && found != length {
            return Err(format!("{found} expected elements of {length}"));
        }
        match tolerance >= 0.0 && tolerance.is_finite() {
            true => Ok(()),
            false => Err(format!(
                "a tolerance of {tolerance}: it is finite, and at least 0"
            )),
        }
    }
}

impl Buffer {
    /// A buffer of `length` elements.
    #[must_use]
    pub const fn new(element: Element, length: usize, contents: Contents) -> Self {
        Self {
            element,
            length,
            contents,
            expected: None,
            may_differ: false,
        }
    }

    /// A buffer with these numbers.
    ///
    /// # Errors
    /// [`CheckError::Number`] if the type does not have one of them.
    pub fn of(element: Element, numbers: &[Number]) -> Result<Self, CheckError> {
        let mut bytes = Vec::with_capacity(numbers.len() * element.bytes());
        for number in numbers {
            bytes.extend(encoded(element, *number)?);
        }
        Ok(Self::new(element, numbers.len(), Contents::Bytes(bytes)))
    }

    /// The same buffer, with these numbers expected at the end.
    #[must_use]
    pub fn expecting(mut self, values: Vec<Number>, tolerance: f64) -> Self {
        self.expected = Some(Expected { values, tolerance });
        self
    }

    /// Its bytes at the start; none if it is uninitialised.
    pub(crate) fn bytes(&self) -> Result<Option<Vec<u8>>, CheckError> {
        let element = self.element;
        let reserved = || -> Result<Vec<u8>, CheckError> {
            let mut bytes = Vec::new();
            let size = self.length.saturating_mul(element.bytes());
            let reserved = bytes.try_reserve_exact(size);
            reserved.map_err(|_| CheckError::OutOfMemory)?;
            Ok(bytes)
        };
        let each = |number: &dyn Fn(usize) -> Number| {
            let mut bytes = reserved()?;
            for index in 0..self.length {
                bytes.extend(encoded(element, number(index))?);
            }
            Ok(Some(bytes))
        };
        match &self.contents {
            Contents::Uninitialised => Ok(None),
            Contents::Constant(_) if self.length == 0 => Ok(Some(Vec::new())),
            Contents::Constant(number) => {
                let (one, mut bytes) = (encoded(element, *number)?, reserved()?);
                (0..self.length).for_each(|_| bytes.extend_from_slice(&one));
                Ok(Some(bytes))
            }
            Contents::Index => {
                let mask = match element.bytes() {
                    _ if element.is_float() => i64::MAX,
                    8 => i64::MAX,
                    bytes => (1 << (8 * bytes)) - 1,
                };
                each(&|index| Number::Integer(index as i64 & mask))
            }
            Contents::Random { seed, least, most } => {
                let range = Range::of(element, *least, *most)?;
                each(&|index| range.draw(mixed(*seed, index as u64)))
            }
            Contents::Bytes(bytes) => Ok(Some(bytes.clone())),
        }
    }
}

/// The range of random numbers.
enum Range {
    /// The smallest number, and the distance of the end.
    Floats(f64, f64),
    /// The smallest number, and the number of values, at most 2^64.
    Integers(i128, u128),
}

impl Range {
    /// Fails if the range is empty, or has numbers that the type lacks.
    fn of(element: Element, least: f64, most: f64) -> Result<Self, CheckError> {
        let refused = |reason| CheckError::Range {
            element: element.name(),
            least,
            most,
            reason,
        };
        if !(least <= most && (most - least).is_finite()) {
            return Err(refused("a range ascends, and is finite from end to end"));
        }
        if element.is_float() {
            let is_finite = |end| {
                let bytes = element.encode(Number::Float(end));
                bytes.is_some_and(|it| element.decode(&it).as_f64().is_finite())
            };
            return match is_finite(least) && is_finite(most) {
                true => Ok(Self::Floats(least, most - least)),
                false => Err(refused("an end is beyond the type's largest number")),
            };
        }
        let (smallest, largest) = element.whole_range();
        // Beyond the type's ends, where it does not matter, `as` stops at the ends of i128.
        let (first, end) = (least.ceil() as i128, most.ceil() as i128);
        // A range of one value gives that value.
        let is_one = least == most && least.fract() == 0.0;
        let end = end.max(first.saturating_add(is_one.into()));
        if first < smallest || end > largest + 1 {
            return Err(refused("it has numbers that the type has not"));
        }
        match first < end {
            true => Ok(Self::Integers(first, (end - first) as u128)),
            false => Err(refused("there is no whole number in it")),
        }
    }

    /// The number for 64 random bits.
    fn draw(&self, bits: u64) -> Number {
        match self {
            Self::Floats(least, distance) => {
                let unit = (bits >> 11) as f64 / (1_u64 << 53) as f64;
                Number::Float(least + distance * unit)
            }
            // A large number of u64 has the bits of a negative one.
            Self::Integers(first, count) => {
                let offset = (count * u128::from(bits)) >> u64::BITS;
                Number::Integer((first + offset as i128) as i64)
            }
        }
    }
}

fn encoded(element: Element, number: Number) -> Result<Vec<u8>, CheckError> {
    let bytes = element.encode(number);
    bytes.ok_or_else(|| CheckError::Number(number.as_f64(), element.name()))
}

/// Number `index` of the generator SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) from `seed` on.
fn mixed(seed: u64, index: u64) -> u64 {
    let mut word = seed.wrapping_add((index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_those_of_the_rule() {
        let bytes = |contents| Buffer::new(Element::U8, 3, contents).bytes().unwrap();
        assert_eq!(bytes(Contents::Index), Some(vec![0, 1, 2]));
        assert_eq!(bytes(Contents::Uninitialised), None);
        let nine = Contents::Constant(Number::Integer(9));
        assert_eq!(bytes(nine), Some(vec![9, 9, 9]));
        let random = Contents::Random {
            seed: 1,
            least: 10.0,
            most: 20.0,
        };
        let first = bytes(random.clone()).unwrap();
        assert!(first.iter().all(|it| (10..20).contains(it)));
        assert_eq!(bytes(random), Some(first));
    }

    #[test]
    fn random_integers_are_all_whole_numbers_of_their_range() {
        let drawn = |element: Element, least, most| {
            let contents = Contents::Random {
                seed: 7,
                least,
                most,
            };
            let bytes = Buffer::new(element, 400, contents).bytes().unwrap();
            let elements = bytes.unwrap();
            let shown = elements.chunks(element.bytes()).map(|it| element.show(it));
            shown.collect::<std::collections::BTreeSet<String>>()
        };
        assert!(
            drawn(Element::I32, -2.5, 1.5)
                .iter()
                .eq(["-1", "-2", "0", "1"])
        );
        assert!(drawn(Element::U8, 255.0, 256.0).iter().eq(["255"]));
        assert!(drawn(Element::I8, -3.0, -3.0).iter().eq(["-3"]));
        let large = drawn(Element::U64, 1e19, 1.5e19);
        assert!(large.len() > 300, "{large:?}");
        for it in large {
            let it: u64 = it.parse().unwrap();
            assert!((10_u64.pow(19)..15 * 10_u64.pow(18)).contains(&it), "{it}");
        }
        let all = drawn(Element::U64, 0.0, 2_f64.powi(64));
        assert!(all.len() > 300);
    }

    #[test]
    fn a_number_that_the_type_has_not_is_an_error() {
        let large = Buffer::of(Element::U8, &[Number::Integer(300)]);
        assert_eq!(large, Err(CheckError::Number(300.0, "u8")));
    }
}
