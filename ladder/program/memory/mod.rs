//! The ladder of memories: a section for each of them.

mod copies;
mod global;
mod on_chip;
mod textures;

use super::case::{Case, Ladder, Rate, Scale, Section, Title, Trial};
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
        section("arrays", Rate::ItemsPerSecond, arrays(), |scale| {
            let (exponent, rounds) = scale.pick((20, 64), (10, 4));
            format!("{rounds} rounds over 16 u32 of each of 2^{exponent} threads")
        }),
        section("shared", Rate::BytesPerSecond, shared(), |scale| {
            let exponent = scale.pick(26, 14);
            format!("2^{exponent} f32, reversed in parts of 256")
        }),
        section("banks", Rate::ItemsPerSecond, banks(), |scale| {
            loads(scale, "shared")
        }),
        section("constants", Rate::ItemsPerSecond, constants(), |scale| {
            loads(scale, "constant")
        }),
        section("textures", Rate::BytesPerSecond, textures(), |scale| {
            let side = scale.pick(4096, 64);
            format!("{side} x {side} f32, shifted by a part of an element")
        }),
        section("statics", Rate::BytesPerSecond, statics(), |_| {
            "2^20 f32 added to 2^20 others".to_owned()
        }),
        section("patterns", Rate::BytesPerSecond, patterns(), |scale| {
            let exponent = scale.pick(26, 14);
            format!("2^{exponent} loads of f32 from global memory")
        }),
        section("copies", Rate::BytesPerSecond, copies(), |scale| {
            let bytes = scale.pick("256 MiB", "64 KiB");
            format!("{bytes} between host and device")
        }),
    ])
}

fn loads(scale: Scale, memory: &str) -> String {
    let (rounds, exponent) = scale.pick((512, 18), (32, 8));
    format!("{rounds} loads from {memory} memory by each of 2^{exponent} threads")
}

fn section(
    name: &'static str,
    rate: Rate,
    cases: Vec<Case>,
    title: impl Fn(Scale) -> String,
) -> Section {
    Section {
        name,
        title: Title::new(title),
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
