//! Words that show differences: special numbers of each format, and random ones.

use crate::kernel::INPUTS;

/// Threads of a kernel with the instructions of a family.
pub const THREADS: usize = 4096;

/// The words that all kernels read.
pub fn words() -> Vec<u64> {
    let mut random = Random(2026);
    (0..THREADS * INPUTS).map(|_| word(&mut random)).collect()
}

/// SplitMix64's function of its counter.
pub fn mixed(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The generator SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// Bits of a float of this format: special ones, near others, or random.
fn float(random: &mut Random, exponent_bits: u32, fraction_bits: u32) -> u64 {
    let fraction = (1_u64 << fraction_bits) - 1;
    let most = (1_u64 << exponent_bits) - 1;
    let bias = most / 2;
    let sign = (random.next() & 1) << (exponent_bits + fraction_bits);
    let any = random.next() & fraction;
    let near = [
        0,
        1,
        fraction,
        fraction - 1,
        fraction / 2,
        fraction / 2 + 1,
        any,
        any,
    ][random.below(8)];
    let exponent = match random.below(10) {
        0 => 0,
        1 => most,
        2 => most - 1 - random.next() % 3,
        3 => 1 + random.next() % 3,
        4..7 => bias - 2 + random.next() % 5,
        7 => bias + u64::from(fraction_bits) - 2 + random.next() % 5,
        8 => (bias + 12 + random.next() % 60).min(most - 1),
        _ => random.next() & most,
    };
    sign | exponent << fraction_bits | near
}

/// A word: a f64, two f32, four f16 or bf16, small integers, or random bits.
fn word(random: &mut Random) -> u64 {
    match random.below(8) {
        0 | 1 => float(random, 8, 23) | float(random, 8, 23) << 32,
        2 | 3 => float(random, 11, 52),
        4 => (0..4).fold(0, |word, _| word << 16 | float(random, 5, 10)),
        5 => (0..4).fold(0, |word, _| word << 16 | float(random, 8, 7)),
        6 => {
            let small = random.next() % 71;
            let signed = if random.next() & 1 == 0 {
                small
            } else {
                small.wrapping_neg()
            };
            let shift = [0, 0, 8, 16][random.below(4)];
            signed << shift
        }
        _ => random.next(),
    }
}
