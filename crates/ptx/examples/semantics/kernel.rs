//! Instructions as kernels: each thread reads three words and stores a word for each instruction.

use crate::instructions::{Instruction, Width};
use std::fmt::Write as _;

/// Words that a thread reads.
pub const INPUTS: usize = 3;

const HEADER: &str = ".version 8.3\n.target sm_90\n.address_size 64\n\n";

const START: &str = "(.param .u64 in, .param .u64 out, .param .u32 threads)
{
\t.reg .pred %p<400>;
\t.reg .b16 %h<400>;
\t.reg .b32 %r<1000>;
\t.reg .b64 %d<1000>;
\tld.param.u64 %d900, [in];
\tld.param.u64 %d901, [out];
\tld.param.u32 %r900, [threads];
\tmov.u32 %r901, %ctaid.x;
\tmov.u32 %r902, %ntid.x;
\tmov.u32 %r903, %tid.x;
\tmad.lo.u32 %r904, %r901, %r902, %r903;
\tmul.wide.u32 %d902, %r904, 24;
\tadd.u64 %d900, %d900, %d902;
\tmul.wide.u32 %d903, %r904, 8;
\tadd.u64 %d901, %d901, %d903;
\tmul.wide.u32 %d904, %r900, 8;
";

/// The name of register `number` of a width.
fn register(width: Width, number: usize) -> String {
    let letter = match width {
        Width::Predicate => 'p',
        Width::Bits16 => 'h',
        Width::Bits32 => 'r',
        Width::Bits64 => 'd',
    };
    format!("%{letter}{number}")
}

/// A module with one kernel, whose instructions read the inputs alone.
pub fn sweep(name: &str, instructions: &[Instruction]) -> String {
    let operands = |it: &Instruction| vec![0, 1, 2][..it.operands.len()].to_vec();
    let steps = instructions.iter().map(|it| (it, operands(it)));
    kernel(name, &steps.collect::<Vec<_>>())
}

/// A module with one kernel of these instructions, each with the numbers of its operands: those of the inputs, and
/// behind them those of earlier results. A result of another width is narrowed, or widened by zeros.
pub fn kernel(name: &str, steps: &[(&Instruction, Vec<usize>)]) -> String {
    let mut text = format!("{HEADER}.visible .entry {name}{START}");
    for input in 0..INPUTS {
        let _ = writeln!(text, "\tld.global.u64 %d{input}, [%d900+{}];", 8 * input);
        converted(&mut text, Width::Bits64, input);
    }
    for (step, (instruction, operands)) in steps.iter().enumerate() {
        let number = INPUTS + step;
        let mut line = instruction.text.clone();
        line = line.replace("{d}", &register(instruction.result, number));
        line = line.replace("{t}", "%r990").replace("{u}", "%r991");
        let places = ["{a}", "{b}", "{c}"].into_iter().zip(&instruction.operands);
        for ((place, width), operand) in places.zip(operands) {
            line = line.replace(place, &register(*width, *operand));
        }
        let _ = writeln!(text, "\t{line}");
        converted(&mut text, instruction.result, number);
        let _ = writeln!(
            text,
            "\tst.global.u64 [%d901], %d{number};\n\tadd.u64 %d901, %d901, %d904;"
        );
    }
    text.push_str("\tret;\n}\n");
    text
}

/// Gives a value registers of all widths.
fn converted(text: &mut String, width: Width, number: usize) {
    let lines = match width {
        Width::Predicate => format!(
            "\tselp.b64 %d{number}, 1, 0, %p{number};\n\tselp.b32 %r{number}, 1, 0, %p{number};\n\
             \tselp.b16 %h{number}, 1, 0, %p{number};"
        ),
        Width::Bits16 => {
            format!("\tcvt.u64.u16 %d{number}, %h{number};\n\tcvt.u32.u16 %r{number}, %h{number};")
        }
        Width::Bits32 => {
            format!("\tcvt.u64.u32 %d{number}, %r{number};\n\tcvt.u16.u32 %h{number}, %r{number};")
        }
        Width::Bits64 => {
            format!("\tcvt.u32.u64 %r{number}, %d{number};\n\tcvt.u16.u64 %h{number}, %d{number};")
        }
    };
    let _ = writeln!(text, "{lines}");
}
