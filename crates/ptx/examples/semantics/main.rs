//! Writes kernels, inputs and this executor's outputs, to compare them with a GPU's by `run.py` and `chains.py`.
//!
//! `cargo run --release --package tilewright-ptx --example semantics -- FOLDER [PTXAS]`
//!
//! With PTXAS, instructions that it refuses for sm_90 are left out.

mod chains;
mod execute;
mod hash;
mod inputs;
mod instructions;
mod kernel;

use inputs::THREADS;
use instructions::{Comparison, Instruction};
use ptx::{Module, Program};
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Instructions of a kernel of a family.
const SWEEP_LENGTH: usize = 48;

/// What runs them on a GPU.
const PROGRAMS: [(&str, &str); 3] = [
    ("gpu.py", include_str!("gpu.py")),
    ("run.py", include_str!("run.py")),
    ("chains.py", include_str!("chains.py")),
];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("the folder is missing")?;
    let folder = Path::new(&folder);
    let ptxas = arguments.next();
    fs::create_dir_all(folder)?;
    let words = inputs::words();
    fs::write(folder.join("inputs.bin"), bytes(&words))?;
    for (name, text) in PROGRAMS {
        fs::write(folder.join(name), text)?;
    }
    let mut writer = Writer {
        folder,
        words: &words,
        lines: String::new(),
        outputs: Vec::new(),
    };
    let mut families = Vec::new();
    let mut refused = String::new();
    for (name, all) in instructions::families() {
        let mut kept = Vec::new();
        for instruction in all {
            match refusal(ptxas.as_deref(), folder, &instruction)? {
                None => kept.push(instruction),
                Some(by) => writeln!(refused, "{by}: {}", instruction.text)?,
            }
        }
        for (part, instructions) in kept.chunks(SWEEP_LENGTH).enumerate() {
            writer.write(&format!("{name}_{part}"), instructions)?;
        }
        kept.retain(is_exact);
        families.push(kept);
    }
    families.retain(|family| !family.is_empty());
    fs::write(folder.join("refused.txt"), &refused)?;
    fs::write(folder.join("kernels.txt"), &writer.lines)?;
    fs::write(folder.join("outputs.bin"), &writer.outputs)?;
    let hashes = chains::write(folder, &families, &words)?;
    fs::write(folder.join("chains.bin"), bytes(&hashes))?;
    Ok(())
}

/// Writes the kernels of families, and what they compute.
struct Writer<'a> {
    folder: &'a Path,
    words: &'a [u64],
    /// A line for each kernel and for each of its instructions.
    lines: String,
    outputs: Vec<u8>,
}

impl Writer<'_> {
    fn write(&mut self, name: &str, instructions: &[Instruction]) -> Result<()> {
        let text = kernel::sweep(name, instructions);
        fs::write(self.folder.join(format!("{name}.ptx")), &text)?;
        let module: Module = text.parse()?;
        let outputs = execute::outputs(&module, name, self.words, THREADS, instructions.len())?;
        self.outputs.extend(bytes(&outputs));
        writeln!(self.lines, "kernel\t{name}\t{THREADS}")?;
        for instruction in instructions {
            let comparison = match instruction.comparison {
                Comparison::Exact | Comparison::AnyNan => "exact".to_owned(),
                Comparison::Units(units) => format!("units {units} f32"),
                Comparison::Absolute(distance) => format!("absolute {distance}"),
                Comparison::Relative(distance) => format!("relative {distance}"),
                Comparison::HalfUnits(units) => {
                    format!("units {units} {}", instruction.result_type())
                }
                Comparison::UpperUnits(units) => format!("upper {units}"),
            };
            writeln!(self.lines, "\t{comparison}\t{}", instruction.text)?;
        }
        Ok(())
    }
}

/// Whether the results are compared bit by bit.
fn is_exact(instruction: &Instruction) -> bool {
    matches!(
        instruction.comparison,
        Comparison::Exact | Comparison::AnyNan
    )
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Who refuses an instruction.
fn refusal(
    ptxas: Option<&str>,
    folder: &Path,
    instruction: &Instruction,
) -> Result<Option<&'static str>> {
    let text = kernel::sweep("one", std::slice::from_ref(instruction));
    let module: std::result::Result<Module, _> = text.parse();
    if !module.is_ok_and(|module| Program::new(&module, "one").is_ok()) {
        return Ok(Some("executor"));
    }
    let Some(ptxas) = ptxas else {
        return Ok(None);
    };
    let path = folder.join("one.ptx");
    fs::write(&path, text)?;
    let output = Command::new(ptxas)
        .args(["-arch=sm_90", "-O0", "-o", "/dev/null"])
        .arg(&path)
        .output()?;
    fs::remove_file(path)?;
    Ok((!output.status.success()).then_some("ptxas"))
}
