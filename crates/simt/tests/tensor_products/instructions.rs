//! The measured instructions, with their numbers in the files.

use simt::tensor::{
    DoubleUnit, EmulatedUnit, F64, FloatUnit, Format, IntegerUnit, Overflow, S8, U8, WarpUnits,
    wgmma,
};

use super::operands::{Element, Layout, Matrix};

/// The model of an instruction's arithmetic.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    Float(FloatUnit),
    Integer(IntegerUnit),
    Emulated(EmulatedUnit),
    Double(DoubleUnit),
}

#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub number: u32,
    pub name: &'static str,
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub unit: Unit,
}

impl Instruction {
    pub fn of_number(number: u32) -> Option<&'static Self> {
        INSTRUCTIONS.iter().find(|one| one.number == number)
    }

    /// The operands of one instruction.
    pub fn problem(&self, kind: u32, problem: u32) -> Problem {
        let matrix = |matrix, lines, places| -> Vec<u64> {
            let elements = (0..lines).flat_map(|line| (0..places).map(move |place| (line, place)));
            let elements = elements.map(|(line, place)| Element {
                instruction: self.number,
                kind,
                problem,
                matrix,
                line,
                place,
                k: self.k,
            });
            elements.map(|element| self.bits(element)).collect()
        };
        Problem {
            a: matrix(Matrix::A, self.m, self.k),
            b: matrix(Matrix::B, self.n, self.k),
            c: matrix(Matrix::C, self.m, self.n),
        }
    }

    fn bits(&self, element: Element) -> u64 {
        let (a, b, c) = match self.unit {
            Unit::Float(unit) => (unit.a, unit.b, unit.accumulator).into_layouts(),
            Unit::Emulated(EmulatedUnit { unit }) => {
                (unit.a, unit.b, unit.accumulator).into_layouts()
            }
            Unit::Double(_) => (Layout::F64, Layout::F64, Layout::F64),
            Unit::Integer(_) if element.matrix == Matrix::C => {
                return u64::from(element.large_integer().cast_unsigned());
            }
            Unit::Integer(_) => return element.small_integer().into(),
        };
        match element.matrix {
            Matrix::A => element.factor(a, c),
            Matrix::B => element.factor(b, c),
            Matrix::C => element.summand(c, a),
        }
    }

    /// The bits of the product, row by row, by `unit`.
    pub fn product(&self, problem: &Problem, unit: Unit) -> Vec<u64> {
        let k = self.k as usize;
        let words = |bits: &[u64]| -> Vec<u32> { bits.iter().map(|bits| *bits as u32).collect() };
        let bytes = |bits: &[u64]| -> Vec<u8> { bits.iter().map(|bits| *bits as u8).collect() };
        match unit {
            Unit::Float(unit) => {
                let mut outputs = words(&problem.c);
                unit.multiply(k, &words(&problem.a), &words(&problem.b), &mut outputs);
                outputs.into_iter().map(u64::from).collect()
            }
            Unit::Emulated(unit) => {
                let mut outputs = words(&problem.c);
                unit.multiply(k, &words(&problem.a), &words(&problem.b), &mut outputs);
                outputs.into_iter().map(u64::from).collect()
            }
            Unit::Integer(unit) => {
                let mut outputs: Vec<i32> = problem.c.iter().map(|bits| *bits as i32).collect();
                unit.multiply(k, &bytes(&problem.a), &bytes(&problem.b), &mut outputs);
                outputs
                    .into_iter()
                    .map(|output| output.cast_unsigned().into())
                    .collect()
            }
            Unit::Double(unit) => {
                let mut outputs = problem.c.clone();
                unit.multiply(k, &problem.a, &problem.b, &mut outputs);
                outputs
            }
        }
    }
}

trait IntoLayouts {
    fn into_layouts(self) -> (Layout, Layout, Layout);
}

impl IntoLayouts for (Format, Format, Format) {
    fn into_layouts(self) -> (Layout, Layout, Layout) {
        (Layout::of(self.0), Layout::of(self.1), Layout::of(self.2))
    }
}

/// The operands' bits: A and C row-major, B column-major.
pub struct Problem {
    pub a: Vec<u64>,
    pub b: Vec<u64>,
    pub c: Vec<u64>,
}

const fn float(number: u32, name: &'static str, shape: [u32; 3], unit: FloatUnit) -> Instruction {
    with_unit(number, name, shape, Unit::Float(unit))
}

const fn integer(
    number: u32,
    name: &'static str,
    shape: [u32; 3],
    unit: IntegerUnit,
) -> Instruction {
    with_unit(number, name, shape, Unit::Integer(unit))
}

const fn emulated(
    number: u32,
    name: &'static str,
    shape: [u32; 3],
    unit: EmulatedUnit,
) -> Instruction {
    with_unit(number, name, shape, Unit::Emulated(unit))
}

const fn with_unit(
    number: u32,
    name: &'static str,
    [m, n, k]: [u32; 3],
    unit: Unit,
) -> Instruction {
    Instruction {
        number,
        name,
        m,
        n,
        k,
        unit,
    }
}

const S8_SATURATING: IntegerUnit = IntegerUnit {
    overflow: Overflow::Saturate,
    ..S8
};
const S8_U8: IntegerUnit = IntegerUnit {
    b_signed: false,
    ..S8
};
const SM_90: WarpUnits = WarpUnits::SM_90;
const E4M3_E5M2: (Format, Format) = (Format::E4M3, Format::E5M2);

pub const INSTRUCTIONS: &[Instruction] = &[
    float(0, "wgmma f32.f16", [64, 8, 16], wgmma::F16),
    float(1, "wgmma f16.f16", [64, 8, 16], wgmma::F16_TO_F16),
    float(2, "wgmma f32.bf16", [64, 8, 16], wgmma::BF16),
    float(3, "wgmma f32.tf32", [64, 8, 8], wgmma::TF32),
    float(4, "wgmma f32.e4m3", [64, 8, 32], wgmma::E4M3),
    float(5, "wgmma f32.e5m2", [64, 8, 32], wgmma::E5M2),
    float(
        6,
        "wgmma f32.e4m3.e5m2",
        [64, 8, 32],
        wgmma::E4M3.of(E4M3_E5M2.0, E4M3_E5M2.1),
    ),
    float(7, "wgmma f16.e4m3", [64, 8, 32], wgmma::E4M3_TO_F16),
    integer(8, "wgmma s32.s8", [64, 8, 32], S8),
    integer(9, "wgmma s32.u8", [64, 8, 32], U8),
    integer(10, "wgmma s32.s8.u8", [64, 8, 32], S8_U8),
    integer(11, "wgmma s32.s8 satfinite", [64, 8, 32], S8_SATURATING),
    float(12, "wgmma f32.f16 n256", [64, 256, 16], wgmma::F16),
    float(32, "mma f32.f16 k8", [16, 8, 8], SM_90.f16),
    float(33, "mma f32.f16 k16", [16, 8, 16], SM_90.f16),
    float(34, "mma f16.f16 k8", [16, 8, 8], SM_90.f16_to_f16),
    float(35, "mma f16.f16 k16", [16, 8, 16], SM_90.f16_to_f16),
    float(36, "mma f32.bf16 k8", [16, 8, 8], SM_90.bf16),
    float(37, "mma f32.bf16 k16", [16, 8, 16], SM_90.bf16),
    float(38, "mma f32.tf32 k4", [16, 8, 4], SM_90.tf32),
    float(39, "mma f32.tf32 k8", [16, 8, 8], SM_90.tf32),
    emulated(40, "mma f32.e4m3 k32", [16, 8, 32], EmulatedUnit::E4M3),
    emulated(41, "mma f32.e5m2 k32", [16, 8, 32], EmulatedUnit::E5M2),
    emulated(
        42,
        "mma f32.e4m3.e5m2 k32",
        [16, 8, 32],
        EmulatedUnit::E4M3_E5M2,
    ),
    integer(43, "mma s32.s8 m8n8k16", [8, 8, 16], S8),
    integer(44, "mma s32.s8 k16", [16, 8, 16], S8),
    integer(45, "mma s32.s8 k32", [16, 8, 32], S8),
    integer(46, "mma s32.u8 k32", [16, 8, 32], U8),
    integer(47, "mma s32.s8.u8 k32", [16, 8, 32], S8_U8),
    integer(48, "mma s32.s8 k32 satfinite", [16, 8, 32], S8_SATURATING),
    with_unit(49, "mma f64 m8n8k4", [8, 8, 4], Unit::Double(F64)),
    with_unit(50, "mma f64 m16n8k4", [16, 8, 4], Unit::Double(F64)),
    with_unit(51, "mma f64 m16n8k8", [16, 8, 8], Unit::Double(F64)),
    with_unit(52, "mma f64 m16n8k16", [16, 8, 16], Unit::Double(F64)),
];
