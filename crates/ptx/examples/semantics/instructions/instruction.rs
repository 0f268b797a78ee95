//! An instruction, and how its results are compared.

/// A register's width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    Predicate,
    Bits16,
    Bits32,
    Bits64,
}

/// How a result is compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Comparison {
    /// Bit by bit.
    Exact,
    /// Bit by bit, but any NaN is like any other: the kernel makes each the canonical NaN.
    AnyNan,
    /// An f32 within this number of units in the last place.
    Units(u32),
    /// An f32 within this distance.
    Absolute(f64),
    /// An f32 within this distance, times the result where that is more than 1.
    Relative(f64),
    /// A float of 16 bits (two of them in 32), or an f64, within this number of units.
    HalfUnits(u32),
    /// The upper half of an f64, within this number of units of it.
    UpperUnits(u32),
}

/// An instruction with its operands: `{d}`, `{a}`, `{b}` and `{c}` stand for registers.
#[derive(Clone, PartialEq, Debug)]
pub struct Instruction {
    pub text: String,
    pub result: Width,
    pub operands: Vec<Width>,
    pub comparison: Comparison,
}

impl Instruction {
    /// The type of the result: the first of a conversion, and the last of what else computes it. Loads, and `set`,
    /// whose results are constants, have none.
    pub fn result_type(&self) -> &str {
        let mut statements = self.text.rsplit(';').map(str::trim_start);
        let statement = statements.find(|it| it.contains("{d}") && !it.starts_with("ld."));
        let name = statement
            .unwrap_or_default()
            .split(' ')
            .next()
            .unwrap_or_default();
        let mut types = name.rsplit('.');
        let last = types.next().unwrap_or_default();
        match name.split('.').next() {
            Some("cvt") => types.next().unwrap_or_default(),
            Some("set" | "setp") => "",
            _ => last,
        }
    }
}

/// Collects instructions.
#[derive(Default)]
pub struct List(pub Vec<Instruction>);

impl List {
    /// `name {d}, {a}, ..`.
    pub fn add(&mut self, name: &str, result: Width, operands: &[Width]) {
        self.compared(name, result, operands, Comparison::Exact);
    }

    pub fn compared(
        &mut self,
        name: &str,
        result: Width,
        operands: &[Width],
        comparison: Comparison,
    ) {
        let places = &["{a}", "{b}", "{c}"][..operands.len()];
        let text = format!("{name} {{d}}, {};", places.join(", "));
        self.written(&text, result, operands, comparison);
    }

    pub fn written(
        &mut self,
        text: &str,
        result: Width,
        operands: &[Width],
        comparison: Comparison,
    ) {
        self.0.push(Instruction {
            text: text.to_owned(),
            result,
            operands: operands.to_vec(),
            comparison,
        });
    }
}
