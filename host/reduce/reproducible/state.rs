//! The state of a reproducible sum on the host.

use super::element::ReproducibleElement;
use std::fmt;
use std::hash::{Hash, Hasher};
use tilewright_kernels::reduce::reproducible::{DIGIT_BITS, Format, SPECIALS, finish};

/// Bits of a word.
const WORD_BITS: usize = u64::BITS as usize;

/// The exact sum of elements of type `T`; [`value`](Self::value) rounds it.
///
/// The state depends on the added elements alone: not on their order, nor on how they were divided over buffers,
/// devices or machines. [`Device::reproducible_sum`](crate::Device::reproducible_sum) computes the state of a buffer,
/// and [`merge`](Self::merge) adds one state to another. On the host, [`add`](Self::add), `extend` and `collect` add
/// elements.
///
/// ```
/// use tilewright::ReproducibleSum;
///
/// let mut sum = ReproducibleSum::<f32>::from_iter([1e30, 1.0]);
/// let rest = ReproducibleSum::from_iter([-1e30, 0.5]);
/// sum.merge(&rest);
/// assert_eq!(sum.value(), 1.5);
///
/// let sent: Vec<u64> = sum.words().to_vec();
/// assert_eq!(ReproducibleSum::from_words(&sent), Some(sum));
/// ```
///
/// A state takes 72 bytes (296 for f64), and can hold the sum of 2^64 elements. Two states are equal if the exact
/// sums are, and if the same numbers of NaN, infinities and negative infinities were added.
#[derive(Clone, Copy)]
pub struct ReproducibleSum<T: ReproducibleElement> {
    /// An integer in two's complement, lowest word first, in units of the smallest subnormal. After it come the
    /// numbers of NaN, of infinities and of negative infinities.
    words: T::Words,
}

impl<T: ReproducibleElement> ReproducibleSum<T> {
    /// The sum of no elements.
    #[must_use]
    pub fn new() -> Self {
        Self { words: T::EMPTY }
    }

    /// Adds `element`.
    pub fn add(&mut self, element: T) {
        let element = element.widen();
        let (integer, specials) = self.parts_mut();
        let bits = element.magnitude().to_wide_bits();
        let infinity = T::Total::INFINITY_BITS;
        let is_negative = element.to_wide_bits() != bits;
        if bits < infinity {
            let (significand, offset) = significand::<T::Total>(bits);
            add_shifted(integer, significand, offset, is_negative);
        } else {
            let special = match (bits == infinity, is_negative) {
                (false, _) => 0,
                (true, false) => 1,
                (true, true) => 2,
            };
            specials[special] = specials[special].wrapping_add(1);
        }
    }

    /// Adds all elements that were added to `other`.
    pub fn merge(&mut self, other: &Self) {
        let (integer, specials) = self.parts_mut();
        let (other_integer, other_specials) = other.words().split_at(integer.len());
        let mut carry = false;
        for (word, other) in integer.iter_mut().zip(other_integer) {
            let (sum, first) = word.overflowing_add(*other);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            *word = sum;
            carry = first || second;
        }
        for (count, other) in specials.iter_mut().zip(other_specials) {
            *count = count.wrapping_add(*other);
        }
    }

    /// The sum, rounded once, to nearest and ties to even.
    ///
    /// The error is at most half a unit in the last place. The sum is NaN (the canonical one, `0x7fff_ffff` in f32)
    /// if a NaN or infinities of both signs were added. Otherwise it is infinite if an infinity was added, or if the
    /// exact sum exceeds the type; partial sums do not matter. A sum that is zero is +0.
    #[must_use]
    pub fn value(&self) -> T::Sum {
        let (integer, specials) = self.words().split_at(integer_words::<T>());
        let digit = |index: usize| {
            let (word, place) = (
                index * DIGIT_BITS / WORD_BITS,
                index * DIGIT_BITS % WORD_BITS,
            );
            (integer[word] >> place) as u32
        };
        T::sum_of(finish(
            digit,
            std::array::from_fn(|special| specials[special]),
        ))
    }

    /// The state as words, to store or send: 9 words, 37 for f64.
    ///
    /// [`from_words`](Self::from_words) accepts them on any machine.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        self.words.as_ref()
    }

    /// The sum with these [`words`](Self::words), of the same `T`; `None` if there are too few or too many.
    #[must_use]
    pub fn from_words(words: &[u64]) -> Option<Self> {
        let mut sum = Self::new();
        if words.len() != sum.words().len() {
            return None;
        }
        sum.words_mut().copy_from_slice(words);
        Some(sum)
    }

    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        self.words.as_mut()
    }

    /// The integer, and the numbers of special elements.
    fn parts_mut(&mut self) -> (&mut [u64], &mut [u64]) {
        self.words.as_mut().split_at_mut(integer_words::<T>())
    }
}

/// The number of words of the integer.
fn integer_words<T: ReproducibleElement>() -> usize {
    T::EMPTY.as_ref().len() - SPECIALS
}

/// The significand of the finite number with these bits, without its sign, and the distance of its unit from the
/// smallest subnormal, in bits.
fn significand<F: Format>(bits: u64) -> (u64, usize) {
    let fraction_bits = F::PRECISION - 1;
    let leading = 1 << fraction_bits;
    let fraction = bits & (leading - 1);
    match (bits >> fraction_bits) as usize {
        0 => (fraction, 0),
        exponent => (fraction | leading, exponent - 1),
    }
}

/// Adds or subtracts `value`, shifted by `offset` bits.
fn add_shifted(integer: &mut [u64], value: u64, offset: usize, is_negative: bool) {
    let wide = u128::from(value) << (offset % WORD_BITS);
    let mut parts = [wide as u64, (wide >> WORD_BITS) as u64].into_iter();
    let mut carry = false;
    for word in &mut integer[offset / WORD_BITS..] {
        let part = parts.next();
        if part.is_none() && !carry {
            return;
        }
        let step = if is_negative {
            u64::overflowing_sub
        } else {
            u64::overflowing_add
        };
        let (sum, first) = step(*word, part.unwrap_or(0));
        let (sum, second) = step(sum, u64::from(carry));
        *word = sum;
        carry = first || second;
    }
}

impl<T: ReproducibleElement> Default for ReproducibleSum<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ReproducibleElement> Extend<T> for ReproducibleSum<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        for element in elements {
            self.add(element);
        }
    }
}

impl<T: ReproducibleElement> FromIterator<T> for ReproducibleSum<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut sum = Self::new();
        sum.extend(elements);
        sum
    }
}

impl<T: ReproducibleElement> PartialEq for ReproducibleSum<T> {
    fn eq(&self, other: &Self) -> bool {
        self.words() == other.words()
    }
}

impl<T: ReproducibleElement> Eq for ReproducibleSum<T> {}

impl<T: ReproducibleElement> Hash for ReproducibleSum<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words().hash(state);
    }
}

impl<T: ReproducibleElement> fmt::Debug for ReproducibleSum<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ReproducibleSum")
            .field("value", &self.value())
            .field("words", &self.words())
            .finish()
    }
}
