//! The memory ladder: a section for each memory.

mod copies;
mod global;
mod on_chip;
mod textures;
mod work;

use super::case::{Case, Ladder, Rate, Scale, Section, Title};
use crate::support::Outcome;
use copies::copies;
use global::{patterns, statics};
use on_chip::{arrays, banks, constants, shared};
use textures::textures;
use tilewright::Device;

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
