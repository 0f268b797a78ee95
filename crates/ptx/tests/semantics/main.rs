//! Each instruction on numbers, on operands of all kinds, gives what a GPU stores.
//!
//! `gpu_semantics.txt` is written by `examples/semantics/run.py`. A line has how an instruction is compared, the hash
//! of the GPU's results or, of an approximation, the first of them, and the instruction.

#[path = "../../examples/semantics/execute.rs"]
mod execute;
#[path = "../../examples/semantics/hash.rs"]
mod hash;
#[path = "../../examples/semantics/inputs.rs"]
mod inputs;
#[path = "../../examples/semantics/instructions/mod.rs"]
mod instructions;
#[path = "../../examples/semantics/kernel.rs"]
mod kernel;
mod near;

use inputs::THREADS;
use instructions::Instruction;
use near::is_near;
use ptx::Module;
use std::collections::BTreeMap;

const OF_GPU: &str = include_str!("../gpu_semantics.txt");

/// Instructions of a kernel.
const LENGTH: usize = 48;

/// A line of the file.
struct Line {
    comparison: &'static str,
    /// A hash, or results.
    words: Vec<u64>,
    instruction: &'static str,
}

fn lines() -> Vec<Line> {
    let line = |text: &'static str| {
        let mut fields = text.split('\t');
        let mut field = || fields.next().unwrap();
        let comparison = field();
        let word = |text| u64::from_str_radix(text, 16).unwrap();
        Line {
            comparison,
            words: field().split(' ').map(word).collect(),
            instruction: field(),
        }
    };
    let lines = OF_GPU.lines().filter(|it| !it.starts_with('#'));
    lines.map(line).collect()
}

/// What is wrong with the results of an instruction.
fn difference(line: &Line, results: &[u64]) -> Option<String> {
    let Line {
        comparison,
        words,
        instruction,
    } = line;
    if *comparison == "exact" {
        return (hash::hash(results) != words[0]).then(|| format!("{instruction} differs"));
    }
    let mut pairs = words.iter().zip(results).enumerate();
    let (thread, (of_gpu, found)) = pairs.find(|(_, it)| !is_near(comparison, *it.0, *it.1))?;
    Some(format!(
        "{instruction} of thread {thread}: {found:x}, but on a GPU {of_gpu:x}"
    ))
}

#[test]
fn instructions_give_what_a_gpu_stores() {
    let all = instructions::families().into_iter().flat_map(|it| it.1);
    let all: BTreeMap<String, Instruction> = all.map(|it| (it.text.clone(), it)).collect();
    let lines = lines();
    assert!(lines.len() > 1290, "{} instructions", lines.len());
    let words = inputs::words();
    let mut wrong = Vec::new();
    for lines in lines.chunks(LENGTH) {
        let instructions = lines.iter().map(|it| all[it.instruction].clone());
        let text = kernel::sweep("sweep", &instructions.collect::<Vec<_>>());
        let module: Module = text.parse().unwrap();
        let results = execute::outputs(&module, "sweep", &words, THREADS, lines.len()).unwrap();
        let of_lines = lines.iter().zip(results.chunks(THREADS));
        wrong.extend(of_lines.filter_map(|(line, results)| difference(line, results)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
