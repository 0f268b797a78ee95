//! Writes kernels, inputs and this executor's outputs, to compare them with a GPU's by `run.py`.
//!
//! `cargo run --release --package tilewright-ptx --example semantics -- FOLDER [PTXAS]`
//!
//! With PTXAS, instructions that it refuses for sm_90 are left out.

mod execute;
mod inputs;
mod instructions;
mod kernel;

use inputs::Random;
use instructions::{Comparison, Instruction};
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Threads of a kernel with the instructions of a family, and of a chain.
const SWEEP_THREADS: usize = 4096;
const CHAIN_THREADS: usize = 256;

/// Instructions of a kernel of a family.
const SWEEP_LENGTH: usize = 48;

/// Chains, and instructions of each.
const CHAINS: usize = 400;
const CHAIN_LENGTH: usize = 24;

/// The report's program.
const PROGRAM: &str = include_str!("run.py");

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("the folder is missing")?;
    let folder = Path::new(&folder);
    let ptxas = arguments.next();
    fs::create_dir_all(folder)?;
    let mut random = Random(2026);
    let words: Vec<u64> = (0..SWEEP_THREADS * kernel::INPUTS)
        .map(|_| inputs::word(&mut random))
        .collect();
    fs::write(folder.join("inputs.bin"), bytes(&words))?;
    let mut writer = Writer {
        folder,
        words: &words,
        lines: String::new(),
        outputs: Vec::new(),
    };
    let mut exact = Vec::new();
    let mut refused = String::new();
    for (name, all) in instructions::families() {
        let mut kept = Vec::new();
        for instruction in all {
            if let Some(ptxas) = &ptxas
                && !is_accepted(ptxas, folder, &instruction)?
            {
                writeln!(refused, "ptxas: {}", instruction.text)?;
                continue;
            }
            match execute::is_supported(&kernel::sweep("one", std::slice::from_ref(&instruction))) {
                true => kept.push(instruction),
                false => writeln!(refused, "executor: {}", instruction.text)?,
            }
        }
        for (part, instructions) in kept.chunks(SWEEP_LENGTH).enumerate() {
            let name = format!("{name}_{part}");
            let steps = instructions.iter().map(|it| (it, vec![0, 1, 2]));
            writer.write(&name, &steps.collect::<Vec<_>>(), SWEEP_THREADS)?;
        }
        exact.extend(kept.into_iter().filter(|it| it.is_exact));
    }
    fs::write(folder.join("refused.txt"), &refused)?;
    for chain in 0..CHAINS {
        let mut steps = Vec::new();
        for step in 0..CHAIN_LENGTH {
            let instruction = &exact[random.below(exact.len())];
            let operands = (0..3).map(|_| random.below(kernel::INPUTS + step));
            steps.push((instruction, operands.collect::<Vec<_>>()));
        }
        writer.write(&format!("chain_{chain}"), &steps, CHAIN_THREADS)?;
    }
    fs::write(folder.join("kernels.txt"), &writer.lines)?;
    fs::write(folder.join("outputs.bin"), &writer.outputs)?;
    fs::write(folder.join("run.py"), PROGRAM)?;
    println!("{} bytes of outputs", writer.outputs.len());
    Ok(())
}

/// Writes kernels, and what they compute.
struct Writer<'a> {
    folder: &'a Path,
    words: &'a [u64],
    /// A line for each kernel and for each of its instructions.
    lines: String,
    outputs: Vec<u8>,
}

impl Writer<'_> {
    fn write(
        &mut self,
        name: &str,
        steps: &[(&Instruction, Vec<usize>)],
        threads: usize,
    ) -> Result<()> {
        let text = kernel::kernel(name, steps);
        fs::write(self.folder.join(format!("{name}.ptx")), &text)?;
        let words = &self.words[..threads * kernel::INPUTS];
        let outputs = execute::outputs(&text, name, words, threads, steps.len())?;
        self.outputs.extend(bytes(&outputs));
        writeln!(self.lines, "kernel\t{name}\t{threads}")?;
        for (instruction, _) in steps {
            let comparison = match instruction.comparison {
                Comparison::Exact => "exact".to_owned(),
                Comparison::AnyNan => format!("nan {}", of_result(instruction)),
                Comparison::Units(units) => format!("units {units}"),
                Comparison::Absolute(distance) => format!("absolute {distance}"),
                Comparison::Relative(distance) => format!("relative {distance}"),
                Comparison::HalfUnits(units) => format!("half {units} {}", of_result(instruction)),
                Comparison::UpperUnits(units) => format!("upper {units}"),
            };
            writeln!(self.lines, "\t{comparison}\t{}", instruction.text)?;
        }
        Ok(())
    }
}

/// The type of a result: the first type of a conversion, and otherwise the last.
fn of_result(instruction: &Instruction) -> &str {
    let name = instruction.text.split(' ').next().unwrap_or_default();
    let mut types = name.rsplit('.');
    let last = types.next().unwrap_or_default();
    match name.starts_with("cvt") {
        true => types.next().unwrap_or_default(),
        false => last,
    }
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn is_accepted(ptxas: &str, folder: &Path, instruction: &Instruction) -> Result<bool> {
    let path = folder.join("one.ptx");
    fs::write(
        &path,
        kernel::sweep("one", std::slice::from_ref(instruction)),
    )?;
    let output = Command::new(ptxas)
        .args(["-arch=sm_90", "-O0", "-o", "/dev/null"])
        .arg(&path)
        .output()?;
    fs::remove_file(path)?;
    Ok(output.status.success())
}
