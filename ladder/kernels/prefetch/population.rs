//! The arithmetic of every kernel here: a dependent chain of transcendental f64 steps.

use cuda_std::float::Float;
use cuda_std::math;

/// The model's growth rate. The model is chaotic at this rate, so a wrong bit becomes a wrong
/// number within a few generations.
const RATE: f64 = 2.75;

/// A population, relative to the environment's capacity, after `generations` generations of
/// Ricker's model, y' = y e^(r (1 - y)) (Ricker, Stock and Recruitment, 1954).
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
