//! The generator that orders warps and blocks.

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", OOPSLA 2014): one word of state, and every seed is a good one.
pub(crate) struct SplitMix64 {
    state: u64,
}

/// The increment of SplitMix64: 2^64 divided by the golden ratio.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads a number over the high bits of a word, in which neighbours are far apart: Fibonacci hashing
/// (Knuth, "The Art of Computer Programming", volume 3, section 6.4).
#[inline]
pub(crate) fn spread(number: u64) -> u64 {
    number.wrapping_mul(GOLDEN_GAMMA)
}

impl SplitMix64 {
    /// The generator of stream `stream` of `seed`.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut mixer = Self { state: seed };
        let base = mixer.next();
        Self {
            state: base ^ spread(stream),
        }
    }

    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN_GAMMA);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which must not be 0. The bias of at most
    /// `bound / 2^64` does not matter for a schedule.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// An order of the numbers `0..count` that needs no table: `i -> a*i + b mod count`.
pub(crate) struct Permutation {
    count: u64,
    multiplier: u64,
    /// `multiplier * inverse = 1 mod count`.
    inverse: u64,
    offset: u64,
}

impl Permutation {
    pub fn new(count: u64, random: &mut SplitMix64) -> Self {
        let offset = random.below(count);
        // The multiplier must share no factor with the count, or numbers
        // repeat. Such numbers are dense: a few draws find one.
        let (multiplier, inverse) = loop {
            let candidate = 1 + random.below(count);
            if let Some(inverse) = inverse(candidate, count) {
                break (candidate, inverse);
            }
        };
        Self {
            count,
            multiplier,
            inverse,
            offset,
        }
    }

    pub fn get(&self, index: u64) -> u64 {
        let product = u128::from(self.multiplier) * u128::from(index) + u128::from(self.offset);
        (product % u128::from(self.count)) as u64
    }

    /// The index of `number`, which is below the count, in the order.
    pub fn place_of(&self, number: u64) -> u64 {
        let count = u128::from(self.count);
        let distance = u128::from(number) + count - u128::from(self.offset);
        (distance % count * u128::from(self.inverse) % count) as u64
    }
}

/// The number below `count` that times `number` is 1 modulo `count`, if they share no factor (the
/// extended algorithm of Euclid).
fn inverse(number: u64, count: u64) -> Option<u64> {
    let (mut large, mut small) = (i128::from(count), i128::from(number));
    let (mut of_large, mut of_small) = (0_i128, 1_i128);
    while small != 0 {
        let times = large / small;
        (large, small) = (small, large - times * small);
        (of_large, of_small) = (of_small, of_large - times * of_small);
    }
    (large == 1).then(|| of_large.rem_euclid(i128::from(count)) as u64)
}

#[cfg(test)]
mod tests {
    use super::{Permutation, SplitMix64};

    #[test]
    fn permutation_visits_each_number_once() {
        for count in [1, 2, 3, 12, 97, 1000] {
            let permutation = Permutation::new(count, &mut SplitMix64::new(count, 1));
            let mut seen: Vec<u64> = (0..count).map(|index| permutation.get(index)).collect();
            assert!(
                seen.iter()
                    .map(|number| permutation.place_of(*number))
                    .eq(0..count)
            );
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..count));
        }
    }

    #[test]
    fn below_stays_below() {
        let mut random = SplitMix64::new(0, 0);
        assert!((0..1000).all(|_| random.below(7) < 7));
    }
}
