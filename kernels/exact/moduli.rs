//! The moduli, and the constants by which residues are made.

use bytemuck::{Pod, Zeroable};
use cuda_std::float::Float;
use cuda_std::integer::dp4a;

/// The most moduli of a product.
pub const MOST_MODULI: usize = 22;

/// Pairwise coprime numbers of at most 8 bits, descending. A product takes the first ones.
pub const MODULI: [u16; MOST_MODULI] = [
    256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197, 193, 191, 181, 179,
    173, 167, 163,
];

/// Words of 32 bits of the integers of operands, at most.
pub const MOST_WORDS: usize = 3;

/// Words of 32 bits of the products of moduli.
pub(super) const WIDE_WORDS: usize = 6;

/// Bits behind the point of [`Modulus::reciprocal`].
const RECIPROCAL_BITS: u32 = 38;

/// A modulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Modulus {
    modulus: i32,
    /// 2^38 / modulus, rounded to the nearest.
    reciprocal: i32,
}

impl Modulus {
    pub(super) const fn new(modulus: u16) -> Self {
        let (modulus, one) = (modulus as i64, 1_i64 << RECIPROCAL_BITS);
        Self {
            modulus: modulus as i32,
            reciprocal: ((one + modulus / 2) / modulus) as i32,
        }
    }

    /// `x`, of at most 2^30 in magnitude, modulo the modulus: the residue nearest to 0, which fits i8.
    ///
    /// The rounded reciprocal changes the quotient by 2^-9 at most, which is less than the distance of any fraction
    /// with this denominator from 1/2, unless it is 1/2. So the quotient is the nearest integer.
    #[inline(always)]
    #[must_use]
    pub const fn reduce(&self, x: i32) -> i32 {
        let half = 1 << (RECIPROCAL_BITS - 1);
        let quotient = (x as i64 * self.reciprocal as i64 + half) >> RECIPROCAL_BITS;
        x.wrapping_sub((quotient as i32).wrapping_mul(self.modulus))
    }
}

/// 1.5 * 2^23: a sum with it has no fraction bits, and its lowest bits are those of the integer that was added.
const ROUNDER: f32 = 12_582_912.0;

/// What makes residues of integers.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Residues {
    modulus: i32,
    reciprocal: f32,
    /// Residues of powers of 256, four in a word; for columns of B, times the inverse of the modulus's weight.
    powers: [i32; MOST_WORDS],
}

impl Residues {
    const fn new(modulus: u16, inverse: i32) -> Self {
        let each = Modulus::new(modulus);
        let (mut powers, mut power, mut digit) = ([0; MOST_WORDS], inverse, 0);
        while digit < 4 * MOST_WORDS {
            let byte = each.reduce(power) as u8;
            powers[digit / 4] |= (byte as i32) << (8 * (digit % 4));
            power = power * 256 % each.modulus;
            digit += 1;
        }
        Self {
            modulus: each.modulus,
            reciprocal: 1.0 / modulus as f32,
            powers,
        }
    }

    /// The residue nearest to 0 of an integer in signed digits of 8 bits. Its lowest byte alone has a meaning.
    ///
    /// The sum of digits times powers is below 2^18, so f32 holds it, and its quotient has an error below 2^-12: less
    /// than the distance of any fraction with this denominator from 1/2, unless it is 1/2.
    #[inline(always)]
    #[must_use]
    pub fn of<const WORDS: usize>(&self, digits: [i32; WORDS]) -> i32 {
        // Added to the bits of a float in whose last place is 1, the sum is added to the float.
        let (mut bits, mut i) = (ROUNDER.to_bits() as i32, 0);
        while i < WORDS {
            bits = dp4a(digits[i], self.powers[i], bits);
            i += 1;
        }
        let sum = f32::from_bits(bits as u32) - ROUNDER;
        let quotient = Float::mul_add(sum, self.reciprocal, ROUNDER).to_bits() as i32;
        // The lowest byte of the float's own bits is 0.
        bits.wrapping_sub(quotient.wrapping_mul(self.modulus))
    }
}

/// The moduli of an operand, as a kernel's parameter.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Moduli {
    /// How many there are.
    pub count: u32,
    /// Each of them.
    pub each: [Residues; MOST_MODULI],
}

impl Moduli {
    /// The first `count` moduli, for columns of B if `is_b`, otherwise for rows of A.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    pub const fn new(count: usize, is_b: bool) -> Self {
        assert!(count >= 1 && count <= MOST_MODULI, "there are that many");
        let mut each = [Residues::new(MODULI[0], 1); MOST_MODULI];
        let mut i = 0;
        while i < count {
            let weight = remainder(&product_without(count, i), MODULI[i] as i32);
            let inverse = if is_b {
                inverse(weight, MODULI[i] as i32)
            } else {
                1
            };
            each[i] = Residues::new(MODULI[i], inverse);
            i += 1;
        }
        let count = count as u32;
        Self { count, each }
    }
}

/// The greatest T such that the product of the first `count` moduli exceeds 2^(2 T + 1), with more than a tenth to spare.
///
/// An integer of at most 2^(2 T) in magnitude is then less than 0.46 of the product.
///
/// # Panics
/// If there are fewer.
#[must_use]
pub const fn operand_bits(count: usize) -> u32 {
    let product = product_without(count, count);
    let mut top = WIDE_WORDS - 1;
    while product[top] == 0 {
        top -= 1;
    }
    // Compared by the leading 32 bits.
    let log = product[top].ilog2();
    let below = if top == 0 { 0 } else { product[top - 1] };
    let leading = (((product[top] as u64) << 32 | below as u64) >> log) as u32;
    // 1.1 of a power of two, as leading bits of 32 behind the point.
    let bits = 32 * top as u32 + log - (leading <= u32::MAX / 10) as u32;
    (bits - 1) / 2
}

/// The product of the first `count` moduli but number `without`.
pub(super) const fn product_without(count: usize, without: usize) -> [u32; WIDE_WORDS] {
    let mut product = [0; WIDE_WORDS];
    product[0] = 1;
    let mut i = 0;
    while i < count {
        let (factor, mut carry, mut word) = (MODULI[i] as u64, 0, 0);
        while i != without && word < WIDE_WORDS {
            carry += product[word] as u64 * factor;
            product[word] = carry as u32;
            carry >>= 32;
            word += 1;
        }
        assert!(carry == 0, "the words hold the product");
        i += 1;
    }
    product
}

/// 2^exponent in f64, for normal numbers; 0 for lower ones, infinity for higher ones.
#[inline(always)]
#[must_use]
pub const fn power_of_two(exponent: i32) -> f64 {
    let biased = match exponent + 1023 {
        ..0 => 0,
        biased @ 0..2047 => biased,
        2047.. => 2047,
    };
    f64::from_bits((biased as u64) << 52)
}

const fn remainder(x: &[u32; WIDE_WORDS], divisor: i32) -> i32 {
    let (mut rest, mut i) = (0_u64, WIDE_WORDS);
    while i > 0 {
        i -= 1;
        rest = (rest << 32 | x[i] as u64) % divisor as u64;
    }
    rest as i32
}

/// The number whose product with `x` is 1 modulo `modulus`.
const fn inverse(x: i32, modulus: i32) -> i32 {
    let mut candidate = 1;
    while x * candidate % modulus != 1 {
        candidate += 1;
        assert!(candidate < modulus, "the moduli are coprime");
    }
    candidate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moduli_are_coprime() {
        let gcd = |mut a: u16, mut b: u16| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        for (i, &a) in MODULI.iter().enumerate() {
            assert!(MODULI[..i].iter().all(|&b| gcd(a, b) == 1), "{a}");
        }
    }

    #[test]
    fn reduced_numbers_are_those_nearest_to_zero() {
        let edges = [0, 1, -1, 1 << 30, -(1 << 30), (1 << 30) - 1];
        for modulus in MODULI.map(Modulus::new) {
            let p = modulus.modulus;
            let near_halves = (-300..300).map(|i| (1 << 30) / p * p - i * p / 2 - (i & 3) + 1);
            let steps = (-(1 << 30)..1 << 30).step_by(999_983);
            for x in edges.into_iter().chain(near_halves).chain(steps) {
                let x = x.min(1 << 30);
                let residue = modulus.reduce(x);
                assert_eq!((x - residue) % p, 0, "{x} modulo {p}");
                assert!((-p / 2..=(p - 1) / 2).contains(&residue), "{x} modulo {p}");
            }
        }
    }

    /// The integer of signed digits of 8 bits.
    fn integer_of(digits: [i32; 3]) -> i128 {
        let bytes = digits.into_iter().flat_map(i32::to_le_bytes);
        let digits = bytes
            .enumerate()
            .map(|(i, byte)| i128::from(byte as i8) << (8 * i));
        digits.sum()
    }

    #[test]
    fn residues_of_integers_are_those_nearest_to_zero() {
        let digits = [
            0,
            1,
            -1,
            i32::MAX,
            i32::MIN,
            0x7f80_807f,
            -0x7f7f_7f80,
            0x0102_0304,
        ];
        let triples = (0..512).map(|i| [digits[i & 7], digits[i >> 3 & 7], digits[i >> 6]]);
        let small = (-5000..5000).map(|x: i32| {
            let digit = i32::from(x as i8);
            [(digit & 0xff) | ((x - digit) >> 8 & 0xff) << 8, 0, 0]
        });
        let moduli = Moduli::new(MOST_MODULI, false);
        for digits in triples.chain(small) {
            let x = integer_of(digits);
            for each in moduli.each {
                let (p, residue) = (i128::from(each.modulus), i128::from(each.of(digits) as i8));
                assert_eq!((x - residue) % p, 0, "{x} modulo {p}");
                assert!(2 * residue.abs() <= p, "{x} modulo {p}");
            }
        }
    }

    #[test]
    fn operands_fit_the_product_of_the_moduli() {
        for count in 1..=MOST_MODULI {
            let log: f64 = MODULI[..count].iter().map(|&p| f64::from(p).log2()).sum();
            let bits = f64::from(operand_bits(count));
            assert!(2.0 * bits + 1.137 <= log, "{count}");
            assert!(2.0 * bits + 3.3 >= log, "{count}");
        }
    }

    #[test]
    fn weights_have_the_inverses_of_the_residues_of_b() {
        for count in [1, 2, 12, MOST_MODULI] {
            let of_b = Moduli::new(count, true);
            for (i, each) in of_b.each[..count].iter().enumerate() {
                let p = i128::from(each.modulus);
                let weight = i128::from(remainder(&product_without(count, i), each.modulus));
                let one = i128::from(each.of([1, 0, 0]) as i8);
                assert_eq!((weight * one).rem_euclid(p), 1 % p);
            }
        }
    }
}
