//! The record of the measured products, `measured/tensor_core_h200.txt`: a line for each instruction and kind of
//! operands.

use super::instructions::Instruction;
use super::operands::mix;
use rayon::prelude::*;

/// The file.
const TEXT: &str = include_str!("../measured/tensor_core_h200.txt");

/// Outputs in one hash.
pub const BLOCK: usize = 4096;

/// Outputs that a line lists in full.
pub const IN_FULL: usize = 4;

/// Blocks of outputs in the first hash of a line.
pub const FIRST_BLOCKS: usize = 32;

/// Outputs of one instruction with one kind of operands.
#[derive(Debug, PartialEq, Eq)]
pub struct Golden {
    pub instruction: u32,
    pub kind: u32,
    /// The number of all measured outputs.
    pub blocks: usize,
    /// The first outputs.
    pub full: Vec<u64>,
    /// The hash of the hashes of the first [`FIRST_BLOCKS`] blocks.
    pub first: u64,
    /// The hash of the hashes of all blocks.
    pub all: u64,
}

/// The lines of the file.
pub fn lines() -> impl Iterator<Item = Golden> {
    let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| Golden::parse(line).unwrap_or_else(|| panic!("not a line of outputs: {line}")))
}

impl Golden {
    /// The model's results for the first `blocks` blocks, or for all.
    pub fn hash_of_model(&self, blocks: usize) -> u64 {
        let outputs = outputs(self.instruction(), self.kind, blocks * BLOCK);
        let hashes: Vec<u64> = outputs.par_chunks(BLOCK).map(hash).collect();
        combine(&hashes)
    }

    pub fn instruction(&self) -> &'static Instruction {
        Instruction::of_number(self.instruction).expect("the file has known instructions")
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(' ');
        let hexadecimal = |field: &str| u64::from_str_radix(field, 16).ok();
        Some(Self {
            instruction: fields.next()?.parse().ok()?,
            kind: fields.next()?.parse().ok()?,
            blocks: fields.next()?.parse().ok()?,
            full: fields
                .next()?
                .split(',')
                .map(hexadecimal)
                .collect::<Option<_>>()?,
            first: hexadecimal(fields.next()?)?,
            all: hexadecimal(fields.next()?)?,
        })
    }
}

/// The model's first `count` outputs, by problem, row and column.
pub fn outputs(instruction: &Instruction, kind: u32, count: usize) -> Vec<u64> {
    let problems = count.div_ceil((instruction.m * instruction.n) as usize) as u32;
    let products = (0..problems).into_par_iter().flat_map_iter(|problem| {
        let operands = instruction.problem(kind, problem);
        instruction.product(&operands, instruction.unit)
    });
    products.collect()
}

/// The hash of several blocks, from their hashes.
pub fn combine(hashes: &[u64]) -> u64 {
    hashes.iter().fold(0, |combined, hash| mix(combined ^ hash))
}

/// The hash of a block of outputs.
pub fn hash(outputs: &[u64]) -> u64 {
    outputs.iter().fold(0, |hash, output| mix(hash ^ output))
}
