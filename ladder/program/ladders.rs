//! The ladders, each in its own file, for the examples `ladder` and `lab`.

#![allow(dead_code, reason = "each example uses a part of it")]

pub mod case;
mod histogram;
mod memory;
mod prefetch;
mod product;
mod sum;
mod tensor;

use crate::support::Outcome;
use case::{Case, Ladder};
use tilewright::Device;

/// All ladders.
pub const LADDERS: [Ladder; 6] = [
    sum::LADDER,
    product::LADDER,
    tensor::LADDER,
    prefetch::LADDER,
    memory::LADDER,
    histogram::LADDER,
];

/// The ladder of this name.
pub fn find(name: &str) -> Outcome<&'static Ladder> {
    let found = LADDERS.iter().find(|ladder| ladder.name == name);
    found.ok_or_else(|| {
        let names: Vec<_> = LADDERS.iter().map(|ladder| ladder.name).collect();
        format!(
            "there is no ladder `{name}`; there are {}",
            names.join(", ")
        )
        .into()
    })
}

impl Ladder {
    /// The cases that the simulator can count.
    pub fn counted_cases(&self, device: &Device) -> Outcome<Vec<Case>> {
        let sections = (self.sections)(device)?.into_iter();
        let cases = sections.flat_map(|section| section.cases);
        Ok(cases.filter(|case| case.is_counted).collect())
    }
}

impl Case {
    /// The step as a word for the command line: `unrolled-warps-8`.
    pub fn slug(&self) -> String {
        let words = self.step.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        words.join("-").to_lowercase()
    }
}
