//! The ladder of memories: a section for each of them.

mod copies;
mod global;
mod on_chip;
mod textures;

use super::case::{Case, Ladder, Rate, Section, Trial};
use super::support::Outcome;
use copies::copies;
use global::{patterns, statics};
use on_chip::{arrays, banks, constants, shared};
use textures::textures;
use tilewright::{Buffer, Device};

pub const LADDER: Ladder = Ladder {
    name: "memory",
    title: "The GPU's memories, one after another",
    sections,
};

fn sections(_device: &Device) -> Outcome<Vec<Section>> {
    Ok(vec![
        section(
            "arrays",
            "64 rounds over 16 u32 of each of 2^20 threads",
            Rate::ItemsPerSecond,
            arrays(),
        ),
        section(
            "shared",
            "2^26 f32, reversed in parts of 256",
            Rate::BytesPerSecond,
            shared(),
        ),
        section(
            "banks",
            "512 loads from shared memory by each of 2^18 threads",
            Rate::ItemsPerSecond,
            banks(),
        ),
        section(
            "constants",
            "512 loads from constant memory by each of 2^18 threads",
            Rate::ItemsPerSecond,
            constants(),
        ),
        section(
            "textures",
            "4096 x 4096 f32, shifted by a part of an element",
            Rate::BytesPerSecond,
            textures(),
        ),
        section(
            "statics",
            "2^20 f32 added to 2^20 others",
            Rate::BytesPerSecond,
            statics(),
        ),
        section(
            "patterns",
            "2^26 loads of f32 from global memory",
            Rate::BytesPerSecond,
            patterns(),
        ),
        section(
            "copies",
            "256 MiB between host and device",
            Rate::BytesPerSecond,
            copies(),
        ),
    ])
}

fn section(name: &'static str, title: &str, rate: Rate, cases: Vec<Case>) -> Section {
    Section {
        name,
        title: title.to_owned(),
        rate,
        parameter: "",
        baseline: "",
        cases,
    }
}

/// A launch that can be repeated, with its check.
struct Work<S> {
    state: S,
    work: f64,
    launch: fn(&mut S) -> tilewright::Result<()>,
    check: fn(&mut S) -> Outcome,
}

impl<S> Trial for Work<S> {
    fn launch(&mut self) -> Outcome {
        Ok((self.launch)(&mut self.state)?)
    }

    fn check(&mut self) -> Outcome {
        (self.check)(&mut self.state)
    }

    fn work(&self) -> f64 {
        self.work
    }
}

/// Fails at the first place where a result is not as expected.
fn compare<T: PartialEq + std::fmt::Debug>(
    results: &[T],
    expected: impl IntoIterator<Item = (usize, T)>,
) -> Outcome {
    for (place, expected) in expected {
        if results[place] != expected {
            let found = &results[place];
            return Err(format!("element {place} is {found:?}, not {expected:?}").into());
        }
    }
    Ok(())
}

/// Every so many results are compared where the expected one takes long to find.
const CHECKED: usize = 97;

/// Elements whose value is that of their index, small enough to be exact.
fn indices(len: usize) -> Vec<f32> {
    (0..len).map(|i| (i % (1 << 20)) as f32).collect()
}

struct Copied<K> {
    device: Device,
    kind: K,
    x: Buffer<f32>,
    y: Buffer<f32>,
}

fn bytes<T>(elements: usize) -> f64 {
    (elements * size_of::<T>()) as f64
}
