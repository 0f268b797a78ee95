//! The moduli, and the constants by which residues are made and combined.

use bytemuck::{Pod, Zeroable};

/// The most moduli of a product.
pub const MOST_MODULI: usize = 24;

/// Pairwise coprime numbers of at most 8 bits, descending. A product takes the first ones.
pub const MODULI: [u16; MOST_MODULI] = [
    256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197, 193, 191, 181, 179,
    173, 167, 163, 157, 151,
];

/// Words of 32 bits of the products of moduli.
pub const WORDS: usize = 6;

/// Digits of an integer, and their bits. A digit lies between -2^21 and 2^21.
pub const DIGITS: usize = 4;
pub const DIGIT_BITS: u32 = 22;

/// Bits behind the point of [`Modulus::share`].
pub const SHARE_BITS: u32 = 24;

/// Bits behind the point of [`Modulus::reciprocal`].
const RECIPROCAL_BITS: u32 = 38;

/// A modulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Modulus {
    modulus: i32,
    /// 2^38 / modulus, rounded to the nearest.
    reciprocal: i32,
    /// The residues of the digits' weights; for columns of B, times the inverse of `weight`.
    pub powers: [i32; DIGITS],
    /// 2^24 / modulus, rounded to the nearest.
    pub share: i32,
    /// The product of all other moduli.
    pub weight: [u32; WORDS],
}

impl Modulus {
    /// The modulus, without what depends on the others.
    pub(super) const fn of(modulus: u16) -> Self {
        let modulus = modulus as i32;
        Self {
            modulus,
            reciprocal: nearest_quotient(1 << RECIPROCAL_BITS, modulus as i64) as i32,
            powers: [0; DIGITS],
            share: nearest_quotient(1 << SHARE_BITS, modulus as i64) as i32,
            weight: [0; WORDS],
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

const fn nearest_quotient(x: i64, divisor: i64) -> i64 {
    (x + divisor / 2) / divisor
}

/// The moduli of a product, as a kernel's parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Moduli {
    /// How many there are.
    pub count: u32,
    /// The sum of the shares, times 128.
    pub share_offset: i32,
    /// The product of all.
    pub product: [u32; WORDS],
    /// The sum of the weights, times 128.
    pub offset: [u32; WORDS],
    /// Each of them.
    pub each: [Modulus; MOST_MODULI],
}

impl Moduli {
    /// The first `count` moduli, for rows of A.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    pub const fn new(count: usize) -> Self {
        Self::of(count, false)
    }

    /// The first `count` moduli, for columns of B.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    pub const fn of_b(count: usize) -> Self {
        Self::of(count, true)
    }

    const fn of(count: usize, is_b: bool) -> Self {
        assert!(count >= 1 && count <= MOST_MODULI, "there are that many");
        let mut all = Self {
            count: count as u32,
            share_offset: 0,
            product: product_without(count, count),
            offset: [0; WORDS],
            each: [Modulus::of(MODULI[0]); MOST_MODULI],
        };
        let mut i = 0;
        while i < count {
            let mut modulus = Modulus::of(MODULI[i]);
            modulus.weight = product_without(count, i);
            let inverse = inverse(remainder(&modulus.weight, modulus.modulus), modulus.modulus);
            let (mut digit, mut power) = (0, if is_b { inverse } else { 1 });
            while digit < DIGITS {
                modulus.powers[digit] = modulus.reduce(power);
                power = power * (1 << (DIGIT_BITS / 2)) % modulus.modulus;
                power = power * (1 << (DIGIT_BITS / 2)) % modulus.modulus;
                digit += 1;
            }
            all.share_offset += 128 * modulus.share;
            all.offset = plus_multiple(all.offset, &modulus.weight, 128);
            all.each[i] = modulus;
            i += 1;
        }
        all
    }

    /// The greatest T such that the product of moduli exceeds 2^(2 T + 1), with more than a tenth to spare.
    ///
    /// An integer of at most 2^(2 T) in magnitude is then less than 0.46 of the product.
    #[must_use]
    pub const fn operand_bits(&self) -> u32 {
        let mut top = WORDS - 1;
        while self.product[top] == 0 {
            top -= 1;
        }
        // Compared by the leading 32 bits.
        let bits = 32 * top as u32 + self.product[top].ilog2();
        let below = match top {
            0 => 0,
            _ => self.product[top - 1],
        };
        let leading = (((self.product[top] as u64) << 32 | below as u64)
            >> (self.product[top].ilog2())) as u32;
        // 1.1 of a power of two, as leading bits of 32 behind the point.
        let bits = match leading > u32::MAX / 10 {
            true => bits,
            false => bits - 1,
        };
        (bits - 1) / 2
    }
}

/// The product of the first `count` moduli but number `without`.
const fn product_without(count: usize, without: usize) -> [u32; WORDS] {
    let mut product = [0; WORDS];
    product[0] = 1;
    let mut i = 0;
    while i < count {
        if i != without {
            product = plus_multiple([0; WORDS], &product, MODULI[i] as u32);
        }
        i += 1;
    }
    product
}

/// `sum + x * factor`.
const fn plus_multiple(mut sum: [u32; WORDS], x: &[u32; WORDS], factor: u32) -> [u32; WORDS] {
    let (mut carry, mut i) = (0_u64, 0);
    while i < WORDS {
        carry += sum[i] as u64 + x[i] as u64 * factor as u64;
        sum[i] = carry as u32;
        carry >>= 32;
        i += 1;
    }
    assert!(carry == 0, "the words hold the product");
    sum
}

const fn remainder(x: &[u32; WORDS], divisor: i32) -> i32 {
    let (mut rest, mut i) = (0_u64, WORDS);
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
    fn residues_are_those_nearest_to_zero() {
        let edges = [0, 1, -1, 1 << 30, -(1 << 30), (1 << 30) - 1];
        for modulus in Moduli::new(MOST_MODULI).each {
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

    #[test]
    fn operands_fit_the_product_of_the_moduli() {
        for count in 1..=MOST_MODULI {
            let moduli = Moduli::new(count);
            let log: f64 = MODULI[..count].iter().map(|&p| f64::from(p).log2()).sum();
            let bits = f64::from(moduli.operand_bits());
            assert!(2.0 * bits + 1.137 <= log, "{count}");
            assert!(2.0 * bits + 3.3 >= log, "{count}");
        }
    }

    #[test]
    fn weights_have_the_inverses_of_the_residues_of_b() {
        for count in [1, 2, 12, MOST_MODULI] {
            let (moduli, of_b) = (Moduli::new(count), Moduli::of_b(count));
            for (modulus, of_b) in moduli.each[..count].iter().zip(&of_b.each) {
                let p = modulus.modulus;
                let weight = remainder(&modulus.weight, p);
                assert_eq!((weight * of_b.powers[0]).rem_euclid(p), 1 % p);
                for digit in 0..DIGITS {
                    let power = (0..digit).fold(1_i64, |it, _| (it << DIGIT_BITS) % i64::from(p));
                    assert_eq!((i64::from(modulus.powers[digit]) - power) % i64::from(p), 0);
                }
            }
        }
    }
}
