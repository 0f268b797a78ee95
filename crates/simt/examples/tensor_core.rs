//! Compares the model of `simt::tensor` with what a GPU computed.
//!
//!     cargo run --release -p tilewright-simt --example tensor_core -- [FOLDER [TEXT]]
//!
//! Without a folder it computes every output whose hash is checked in: 144 million, half a minute.
//! FOLDER holds the files that `tests/measured/tensor_core.cu` writes. For each instruction and
//! kind of operands the program says how many outputs differ. Where some do, it tries other values
//! of the model's constants and shows the best. With TEXT it writes what is checked in.

use std::collections::BTreeMap;
use std::error::Error;

use rayon::prelude::*;
use simt::tensor::{FloatUnit, Rounding};

#[path = "../tests/tensor_products/mod.rs"]
mod tensor_products;

#[path = "../tests/tensor_products/records.rs"]
mod records;

use records::Record;
use tensor_products::golden::{self, BLOCK, FIRST_BLOCKS, IN_FULL};
use tensor_products::instructions::{Instruction, Unit};
use tensor_products::operands::Kind;

fn main() -> Result<(), Box<dyn Error>> {
    match &std::env::args().skip(1).collect::<Vec<_>>()[..] {
        [] => compare_golden(),
        [folder] => compare_measured(&measured(folder)?),
        [folder, text] => Ok(condense(&measured(folder)?, text)?),
        _ => Err("tensor_core [FOLDER [TEXT]]".into()),
    }
}

/// The records of all files in a folder, by instruction.
fn measured(folder: &str) -> Result<BTreeMap<u32, Vec<Record>>, Box<dyn Error>> {
    let mut by_instruction: BTreeMap<u32, Vec<Record>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "bin") {
            for record in records::read(&std::fs::read(&path)?)? {
                by_instruction
                    .entry(record.instruction)
                    .or_default()
                    .push(record);
            }
        }
    }
    Ok(by_instruction)
}

fn compare_measured(measured: &BTreeMap<u32, Vec<Record>>) -> Result<(), Box<dyn Error>> {
    for (number, records) in measured {
        let instruction = Instruction::of_number(*number).ok_or("an unknown instruction")?;
        let differing: usize = records
            .iter()
            .map(|record| compare(instruction, record))
            .sum();
        if let (true, Unit::Float(unit)) = (differing > 0, instruction.unit) {
            fit(instruction, unit, records);
        }
    }
    Ok(())
}

/// Computes every output that was measured.
fn compare_golden() -> Result<(), Box<dyn Error>> {
    let (mut outputs, mut differing) = (0, 0);
    for golden in golden::lines() {
        let instruction = golden.instruction();
        let is_same = golden.hash_of_model(golden.blocks) == golden.all;
        let verdict = if is_same { "same bits" } else { "DIFFERENT" };
        let (name, kind) = (instruction.name, kind_name(instruction, golden.kind));
        let count = golden.blocks * BLOCK;
        println!("{name:26} {kind:18} {count} outputs: {verdict}");
        outputs += count;
        differing += usize::from(!is_same);
    }
    println!("{outputs} outputs");
    match differing {
        0 => Ok(()),
        _ => Err(format!("{differing} instructions and kinds differ").into()),
    }
}

/// Writes what is checked in of the measured outputs.
fn condense(measured: &BTreeMap<u32, Vec<Record>>, path: &str) -> std::io::Result<()> {
    let mut text = String::from(
        "# Outputs of tensor_core.cu on an NVIDIA H200: instruction, kind, blocks of 4096 outputs, the\n\
         # first outputs in full, the hash of the first 32 blocks and that of all blocks.\n",
    );
    for record in measured.values().flatten() {
        text += &condensed(record);
        text.push('\n');
    }
    std::fs::write(path, text)
}

fn condensed(record: &Record) -> String {
    let full: Vec<String> = record.full[..IN_FULL]
        .iter()
        .map(|output| format!("{output:x}"))
        .collect();
    let first = golden::combine(&record.hashes[..FIRST_BLOCKS]);
    let all = golden::combine(&record.hashes);
    let (instruction, kind, blocks) = (record.instruction, record.kind, record.hashes.len());
    format!(
        "{instruction} {kind} {blocks} {} {first:016x} {all:016x}",
        full.join(",")
    )
}

/// Says how many outputs of a record differ from the model, and gives that number.
fn compare(instruction: &Instruction, record: &Record) -> usize {
    let computed = golden::outputs(instruction, record.kind, record.outputs);
    let full = record.full.iter().zip(&computed);
    let differing: Vec<usize> = full
        .enumerate()
        .filter(|(_, (measured, computed))| measured != computed)
        .map(|(index, _)| index)
        .collect();
    let blocks = computed.chunks(BLOCK).zip(&record.hashes);
    let blocks = blocks.filter(|(block, hash)| golden::hash(block) != **hash);
    let blocks = blocks.count();
    println!(
        "{:26} {:18} {:6} of {} outputs differ, and {:3} of {} blocks",
        instruction.name,
        kind_name(instruction, record.kind),
        differing.len(),
        record.full.len(),
        blocks,
        record.hashes.len()
    );
    for index in differing.iter().take(4) {
        show(instruction, record, *index, computed[*index]);
    }
    differing.len() + blocks
}

fn kind_name(instruction: &Instruction, kind: u32) -> String {
    match instruction.unit {
        Unit::Integer(_) => format!("integers {kind}"),
        _ => format!("{:?}", Kind::ALL[kind as usize]),
    }
}

/// One output with its operands.
fn show(instruction: &Instruction, record: &Record, index: usize, computed: u64) {
    let (m, n, k) = (
        instruction.m as usize,
        instruction.n as usize,
        instruction.k as usize,
    );
    let problem = instruction.problem(record.kind, (index / (m * n)) as u32);
    let (row, column) = (index / n % m, index % n);
    let a = &problem.a[row * k..][..k];
    let b = &problem.b[column * k..][..k];
    let c = problem.c[row * n + column];
    println!(
        "    measured {:x}, computed {computed:x}",
        record.full[index]
    );
    println!("        c {c:x}, a {a:x?}, b {b:x?}");
}

/// Tries every model of the family on the outputs that are there in full.
fn fit(instruction: &Instruction, unit: FloatUnit, records: &[Record]) {
    let problems: Vec<_> = records
        .iter()
        .map(|record| {
            let per_problem = (instruction.m * instruction.n) as usize;
            let problems =
                (record.full.len() / per_problem).clamp(1, 4096 / per_problem + 1) as u32;
            let operands = (0..problems).map(|problem| instruction.problem(record.kind, problem));
            (record, operands.collect::<Vec<_>>())
        })
        .collect();
    let differing = |unit: &FloatUnit| -> Vec<usize> {
        let kinds = problems.iter().map(|(record, problems)| {
            let computed = problems
                .iter()
                .flat_map(|problem| instruction.product(problem, Unit::Float(*unit)));
            let pairs = computed.zip(&record.full);
            pairs
                .filter(|(computed, measured)| computed != *measured)
                .count()
        });
        kinds.collect()
    };
    let mut results: Vec<(usize, FloatUnit, Vec<usize>)> = family(unit, instruction.k)
        .into_par_iter()
        .map(|unit| {
            let kinds = differing(&unit);
            (kinds.iter().sum(), unit, kinds)
        })
        .collect();
    results.sort_by_key(|(differing, ..)| *differing);
    for (differing, unit, kinds) in results.iter().take(3) {
        println!(
            "  {differing} differ with steps of {}, {} bits, result of {} bits {:?}, aligned to {} at least; by kind {kinds:?}",
            unit.step, unit.term_bits, unit.result_bits, unit.rounding, unit.lowest_alignment
        );
    }
}

/// Models with the operands and accumulators of `unit`.
fn family(unit: FloatUnit, k: u32) -> Vec<FloatUnit> {
    let mut family = Vec::new();
    for step in [4, 8, 16, 32]
        .into_iter()
        .filter(|step| *step <= k as usize)
    {
        for term_bits in 10..=26 {
            for result_bits in [10, 13, 23]
                .into_iter()
                .filter(|bits| *bits <= unit.accumulator.fraction_bits)
            {
                for rounding in [Rounding::TowardZero, Rounding::ToNearest] {
                    for lowest_alignment in [unit.lowest_alignment, -400] {
                        family.push(FloatUnit {
                            step,
                            term_bits,
                            result_bits,
                            rounding,
                            lowest_alignment,
                            ..unit
                        });
                    }
                }
            }
        }
    }
    family
}
