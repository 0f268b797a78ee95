//! Compares the model of tensor cores with the bits of an H200.

mod tensor_products;

use simt::tensor::{FloatUnit, Rounding, wgmma};
use tensor_products::golden::{self, BLOCK, FIRST_BLOCKS, IN_FULL};
use tensor_products::instructions::{INSTRUCTIONS, Instruction, Unit};
use tensor_products::operands::Kind;

/// 48 million of the outputs; `examples/tensor_core.rs` computes all 144 million.
#[test]
fn the_model_has_the_bits_of_an_h200() {
    let mut differing = Vec::new();
    let mut lines = 0;
    for golden in golden::lines() {
        let instruction = golden.instruction();
        let first = golden::outputs(instruction, golden.kind, IN_FULL);
        if first[..IN_FULL] != golden.full || golden.hash_of_model(FIRST_BLOCKS) != golden.first {
            differing.push((instruction.name, golden.kind));
        }
        lines += 1;
    }
    assert_eq!(differing, []);
    assert!(
        lines > 10 * INSTRUCTIONS.len(),
        "the lines are found: {lines}"
    );
}

/// The comparison can fail: neighbouring models have other bits.
#[test]
fn neighbouring_models_differ() {
    let (unit, kind) = (wgmma::F16, Kind::Narrow as u32);
    let instruction = Instruction::of_number(0).expect("the first instruction");
    let hash = |unit| {
        let outputs = (0..8).flat_map(|problem| {
            instruction.product(&instruction.problem(kind, problem), Unit::Float(unit))
        });
        golden::hash(&outputs.collect::<Vec<_>>()[..BLOCK])
    };
    let neighbours = [
        FloatUnit {
            term_bits: 24,
            ..unit
        },
        FloatUnit {
            term_bits: 26,
            ..unit
        },
        FloatUnit { step: 8, ..unit },
        FloatUnit {
            rounding: Rounding::ToNearest,
            ..unit
        },
    ];
    for neighbour in neighbours {
        assert_ne!(hash(neighbour), hash(unit), "{neighbour:?}");
    }
}
