//! Instructions to compare with a GPU, by family.

mod conversions;
mod floats;
mod instruction;
mod integers;
mod memory;

pub use instruction::{Comparison, Instruction, Width};

use conversions::{float_conversions, integer_conversions, small_conversions};
use floats::{approximations, comparisons, double, halves, single};
use instruction::List;
use integers::{bits, fields, integers};
use memory::{atomics, memory};

/// A name, and what adds the instructions.
type Family = (&'static str, fn(&mut List));

/// The families, each with a name.
pub fn families() -> Vec<(&'static str, Vec<Instruction>)> {
    let families: [Family; 13] = [
        ("integers", integers),
        ("bits", bits),
        ("fields", fields),
        ("f32", single),
        ("f64", double),
        ("halves", halves),
        ("comparisons", comparisons),
        ("approximations", approximations),
        ("integer_conversions", integer_conversions),
        ("float_conversions", float_conversions),
        ("small_conversions", small_conversions),
        ("memory", memory),
        ("atomics", atomics),
    ];
    let listed = families.into_iter().map(|(name, add)| {
        let mut list = List::default();
        add(&mut list);
        (name, list.0)
    });
    listed.collect()
}
