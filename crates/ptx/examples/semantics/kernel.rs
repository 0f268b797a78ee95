//! Instructions as kernels: each thread reads three words and stores a word for each instruction.

use crate::instructions::{Comparison, Instruction, Width};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Words that a thread reads.
pub const INPUTS: usize = 3;

/// Threads of a block, which the scratch memory of a kernel suffices for.
pub const BLOCK: usize = 256;

/// What is before the kernels of a module.
pub const HEADER: &str = ".version 8.3\n.target sm_90\n.address_size 64\n\n";

const START: &str = "(.param .u64 in, .param .u64 out, .param .u32 threads)
{
\t.shared .align 16 .b8 shared_scratch[4096];
\t.local .align 16 .b8 local_scratch[16];
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
\tshl.b32 %r905, %r903, 4;
\tmov.u32 %r906, shared_scratch;
\tadd.u32 %r905, %r905, %r906;
\tmul.wide.u32 %d902, %r904, 24;
\tadd.u64 %d900, %d900, %d902;
\tmul.wide.u32 %d903, %r904, 8;
\tadd.u64 %d901, %d901, %d903;
\tmul.wide.u32 %d904, %r900, 8;
";

/// What stands for a temporary register, or for memory of the thread. In global memory it is where the result goes.
const PLACES: [(&str, &str); 5] = [
    ("{t}", "%r990"),
    ("{u}", "%r991"),
    ("{local}", "local_scratch"),
    ("{shared}", "%r905"),
    ("{global}", "%d901"),
];

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

/// An instruction, and the numbers of its operands: those of the inputs, and behind them those of earlier results. A
/// value of another width is narrowed, or widened by zeros.
pub type Step<'a> = (&'a Instruction, [usize; 3]);

/// Which results that are NaN become the canonical NaN.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Nan {
    /// Those of instructions that may return any NaN.
    OfUnknownBits,
    /// Those of all instructions on floats.
    Any,
}

/// A module with one kernel, whose instructions read the inputs alone.
pub fn sweep(name: &str, instructions: &[Instruction]) -> String {
    let steps = instructions.iter().map(|it| (it, [0, 1, 2]));
    let kernel = kernel(name, &steps.collect::<Vec<_>>(), Nan::OfUnknownBits);
    format!("{HEADER}{kernel}")
}

/// A kernel of these instructions.
pub fn kernel(name: &str, steps: &[Step<'_>], nan: Nan) -> String {
    let mut body = Body::default();
    for input in 0..INPUTS {
        body.line(&format!("ld.global.u64 %d{input}, [%d900+{}];", 8 * input));
        body.widths.push(Width::Bits64);
    }
    for (instruction, operands) in steps {
        body.step(instruction, operands, nan);
    }
    format!(".visible .entry {name}{START}{}\tret;\n}}\n", body.text)
}

#[derive(Default)]
struct Body {
    text: String,
    /// The width of each value.
    widths: Vec<Width>,
    /// Values that are in a register of another width, too: their numbers and the bits of the register.
    converted: BTreeSet<(usize, u8)>,
}

impl Body {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "\t{line}");
    }

    fn step(&mut self, instruction: &Instruction, operands: &[usize; 3], nan: Nan) {
        let number = self.widths.len();
        let mut line = instruction
            .text
            .replace("{d}", &register(instruction.result, number));
        for (place, name) in PLACES {
            line = line.replace(place, name);
        }
        let places = ["{a}", "{b}", "{c}"].into_iter().zip(&instruction.operands);
        for ((place, width), operand) in places.zip(operands) {
            self.convert(*operand, *width);
            line = line.replace(place, &register(*width, *operand));
        }
        self.line(&line);
        if nan == Nan::Any || instruction.comparison == Comparison::AnyNan {
            self.without_nan_bits(instruction.result_type(), number);
        }
        self.widths.push(instruction.result);
        self.convert(number, Width::Bits64);
        self.line(&format!("st.global.u64 [%d901], %d{number};"));
        self.line("add.u64 %d901, %d901, %d904;");
    }

    /// Gives a value a register of a width.
    fn convert(&mut self, number: usize, to: Width) {
        let from = self.widths[number];
        let bits = |width| match width {
            Width::Predicate => 1,
            Width::Bits16 => 16,
            Width::Bits32 => 32,
            Width::Bits64 => 64,
        };
        if from == to || !self.converted.insert((number, bits(to))) {
            return;
        }
        let (source, target) = (register(from, number), register(to, number));
        self.line(&match from {
            Width::Predicate => format!("selp.b{} {target}, 1, 0, {source};", bits(to)),
            _ => format!("cvt.u{}.u{} {target}, {source};", bits(to), bits(from)),
        });
    }

    /// Makes NaN of this type the canonical one.
    fn without_nan_bits(&mut self, of: &str, number: usize) {
        let (width, temporary, all, infinity) = match of {
            "f64" => (64, "%d990", 0x7fff_ffff_ffff_ffff, 0x7ff0_0000_0000_0000),
            "f32" | "tf32" => (32, "%r992", 0x7fff_ffff, 0x7f80_0000),
            "f16" => (16, "%h399", 0x7fff, 0x7c00),
            "bf16" => (16, "%h399", 0x7fff, 0x7f80),
            "f16x2" | "bf16x2" => return self.without_nan_bits_of_two(of, number),
            _ => return,
        };
        let value = match width {
            64 => register(Width::Bits64, number),
            32 => register(Width::Bits32, number),
            _ => register(Width::Bits16, number),
        };
        self.canonical(width, &value, temporary, all, infinity);
    }

    fn without_nan_bits_of_two(&mut self, of: &str, number: usize) {
        let infinity = if of == "f16x2" { 0x7c00 } else { 0x7f80 };
        let value = register(Width::Bits32, number);
        self.line(&format!("mov.b32 {{%h397, %h398}}, {value};"));
        for half in ["%h397", "%h398"] {
            self.canonical(16, half, "%h399", 0x7fff, infinity);
        }
        self.line(&format!("mov.b32 {value}, {{%h397, %h398}};"));
    }

    fn canonical(&mut self, width: u8, value: &str, temporary: &str, all: u64, infinity: u64) {
        self.line(&format!(
            "and.b{width} {temporary}, {value}, {all}; setp.gt.u{width} %p399, {temporary}, {infinity}; \
             selp.b{width} {value}, {all}, {value}, %p399;"
        ));
    }
}
