//! The sizes at which kernels go wrong.

/// Primes, some of them between the tile sizes.
const PRIMES: [usize; 12] = [5, 7, 11, 23, 47, 97, 131, 257, 509, 1021, 2053, 4099];

/// Nothing, one, every power of two with its neighbours, and primes, up to `limit`, in order.
pub fn sizes(limit: usize) -> Vec<usize> {
    let powers = (0..usize::BITS - 1).map(|exponent| 1 << exponent);
    let around_powers = powers.flat_map(|power: usize| [power - 1, power, power + 1]);
    let mut sizes: Vec<usize> = around_powers
        .chain(PRIMES)
        .filter(|&size| size <= limit)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}
