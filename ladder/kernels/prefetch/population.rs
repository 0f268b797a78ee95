//! The arithmetic of every kernel here: transcendental, f64, one step depending on the step before.

use cuda_std::float::Float;
use cuda_std::math;

/// The growth rate of the model, at which it is chaotic: a wrong bit becomes a wrong number
/// within some generations.
const RATE: f64 = 2.75;

/// A population after `generations` generations of Ricker's model, y' = y e^(r (1 - y)), as a part
/// of what its environment can carry (Ricker, Stock and Recruitment, 1954).
#[inline(always)]
#[track_caller]
#[must_use]
pub fn generations(mut population: f64, generations: u32) -> f64 {
    for _ in 0..generations {
        let growth = Float::mul_add(population, -RATE, RATE);
        population *= math::exp(growth);
    }
    population
}
