//! Random programs: instructions whose operands are inputs and earlier results.

use crate::execute;
use crate::hash::hash;
use crate::inputs::Random;
use crate::instructions::Instruction;
use crate::kernel::{self, HEADER, INPUTS, Nan, Step};
use ptx::Module;
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Kernels, kernels of a module, instructions of a kernel, and threads that run it. Each instruction ends a program,
/// of what its result depends on.
pub const KERNELS: usize = 10_000;
const OF_MODULE: usize = 8;
const LENGTH: usize = 100;
const THREADS: usize = 256;

/// An operand is an input, one of this many last results, or any input or result. Otherwise most results would be
/// constant.
const RECENT: usize = 6;

/// The first line of a module in the file of all.
const SEPARATOR: &str = "// module\n";

/// Writes the kernels, and returns for each of their instructions the hash of its results.
///
/// An instruction is taken from each family equally often.
pub fn write(
    folder: &Path,
    families: &[Vec<Instruction>],
    words: &[u64],
) -> Result<Vec<u64>, Box<dyn Error>> {
    let mut random = Random(1);
    let mut texts = File::create(folder.join("chains.ptx"))?;
    let mut hashes = Vec::new();
    let numbers: Vec<usize> = (0..KERNELS).collect();
    for numbers in numbers.chunks(OF_MODULE) {
        let kernels = numbers.iter().map(|number| {
            let steps = random_steps(&mut random, families);
            kernel::kernel(&name(*number), &steps, Nan::Any)
        });
        let text = format!("{HEADER}{}", kernels.collect::<String>());
        texts.write_all(format!("{SEPARATOR}{text}").as_bytes())?;
        let module: Module = text.parse()?;
        for number in numbers {
            let words = &words[..THREADS * INPUTS];
            let results = execute::outputs(&module, &name(*number), words, THREADS, LENGTH)?;
            hashes.extend(results.chunks(THREADS).map(hash));
        }
    }
    Ok(hashes)
}

fn name(number: usize) -> String {
    format!("chain_{number}")
}

fn random_steps<'a>(random: &mut Random, families: &'a [Vec<Instruction>]) -> Vec<Step<'a>> {
    let step = |index: usize| {
        let family = &families[random.below(families.len())];
        let instruction = &family[random.below(family.len())];
        let values = INPUTS + index;
        let operand = |_| match random.below(3) {
            0 => random.below(INPUTS),
            1 => random.below(values),
            _ => values - 1 - random.below(values.min(RECENT)),
        };
        (instruction, [(); 3].map(operand))
    };
    (0..LENGTH).map(step).collect()
}
