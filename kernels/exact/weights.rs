//! The constants by which residues are combined.

use super::moduli::{MODULI, MOST_MODULI, Modulus, WIDE_WORDS, power_of_two, product_without};
use bytemuck::{Pod, Zeroable};

/// Moduli whose products are loaded at a time.
pub const AT_A_TIME: usize = 4;

/// Limbs of weights, at most.
pub const MOST_LIMBS: usize = 4;

/// Bits of a limb.
pub const LIMB_BITS: u32 = 43;

/// What a modulus contributes to the integer product.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Weight {
    /// The product of all other moduli, in limbs.
    pub limbs: [f64; MOST_LIMBS],
    /// The modulus.
    pub modulus: Modulus,
}

/// What makes integer products of products of residues, as a kernel's parameter.
///
/// A number in limbs is their sum. Limb number i is a multiple of 2^(43 i), and all but the highest that is not 0 have
/// 42 bits and a sign, so that a sum of residues times limbs is exact in f64.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Weights {
    /// The number of moduli.
    pub count: usize,
    /// 1, divided by the product of all moduli.
    pub inverse: f64,
    /// The product of all moduli.
    pub product: [f64; MOST_LIMBS],
    /// That of each modulus, and 0 after these.
    pub each: [Weight; MOST_MODULI.next_multiple_of(AT_A_TIME)],
}

impl Weights {
    /// Those of the first `count` moduli.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    pub const fn new(count: usize) -> Self {
        assert!(count >= 1 && count <= MOST_MODULI, "there are that many");
        let unused = Weight {
            limbs: [0.0; MOST_LIMBS],
            modulus: Modulus::new(MODULI[0]),
        };
        let (mut each, mut i) = ([unused; MOST_MODULI.next_multiple_of(AT_A_TIME)], 0);
        while i < count {
            each[i] = Weight {
                limbs: limbs(&product_without(count, i)),
                modulus: Modulus::new(MODULI[i]),
            };
            i += 1;
        }
        let product = limbs(&product_without(count, count));
        let (mut sum, mut limb) = (0.0, MOST_LIMBS);
        while limb > 0 {
            limb -= 1;
            sum += product[limb];
        }
        Self {
            count,
            inverse: 1.0 / sum,
            product,
            each,
        }
    }
}

/// `x`, in limbs.
const fn limbs(x: &[u32; WIDE_WORDS]) -> [f64; MOST_LIMBS] {
    let (mut limbs, mut carry, mut limb) = ([0.0; MOST_LIMBS], 0, 0);
    while limb < MOST_LIMBS {
        let mut value = bits_from(x, limb as u32 * LIMB_BITS) + carry;
        carry = (value >> (LIMB_BITS - 1)) & 1;
        if limb + 1 < MOST_LIMBS {
            value -= carry << LIMB_BITS;
        }
        limbs[limb] = value as f64 * power_of_two((limb as u32 * LIMB_BITS) as i32);
        limb += 1;
    }
    limbs
}

/// The [`LIMB_BITS`] bits of `x` from bit `from` on.
const fn bits_from(x: &[u32; WIDE_WORDS], from: u32) -> i64 {
    let (word, right) = (from as usize / 32, from % 32);
    let (mut bits, mut i) = (0_u128, 0);
    while i < 3 && word + i < WIDE_WORDS {
        bits |= (x[word + i] as u128) << (32 * i);
        i += 1;
    }
    (bits >> right) as i64 & ((1 << LIMB_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of `x`, modulo a prime above 2^60.
    fn modulo_prime(x: impl Iterator<Item = (i128, u32)>) -> i128 {
        const PRIME: i128 = (1 << 61) - 1;
        let power = |bits: u32| (0..bits).fold(1, |it, _| it * 2 % PRIME);
        let terms = x.map(|(value, bits)| value % PRIME * power(bits) % PRIME);
        terms.sum::<i128>().rem_euclid(PRIME)
    }

    #[test]
    fn sums_of_limbs_are_exact() {
        for count in 1..=MOST_MODULI {
            let weights = Weights::new(count);
            for (i, weight) in weights.each.iter().enumerate().take(count) {
                let limbs = weight.limbs.iter().enumerate().map(|(limb, &value)| {
                    let bits = limb as u32 * LIMB_BITS;
                    ((value * power_of_two(-(bits as i32))) as i128, bits)
                });
                let words = product_without(count, i);
                let words =
                    (words.iter().enumerate()).map(|(i, &it)| (i128::from(it), 32 * i as u32));
                assert_eq!(modulo_prime(limbs), modulo_prime(words), "{count} {i}");
            }
            for limb in 0..MOST_LIMBS {
                let residues = weights.each[..count].iter().zip(MODULI);
                let terms = residues.map(|(it, p)| f64::from(p / 2) * it.limbs[limb].abs());
                // A multiple of the product of moduli, of at most half their number, is subtracted.
                let most = terms.sum::<f64>() + 12.0 * weights.product[limb].abs();
                let unit = power_of_two((limb as u32 * LIMB_BITS) as i32);
                assert!(most < power_of_two(53) * unit, "{count} {limb}");
            }
        }
    }
}
