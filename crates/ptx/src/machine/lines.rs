//! The places of a program's instructions, as findings name them.

use crate::decode::Program;
use simt::{SourceLine, SourceLines};

/// The places of a program.
#[derive(Debug)]
pub(super) struct Lines {
    /// One for each statement that the simulator sees, and one for each shared array.
    lines: SourceLines,
    /// For each instruction, the number of its statement's place.
    of_ops: Vec<u32>,
    /// The number of the first shared array's place.
    first_shared: usize,
}

impl Lines {
    pub fn of(program: &Program) -> Self {
        let statements = in_order(program.places.clone());
        // A statement that is alone in its line stands for the line.
        let shown = |(line, column)| {
            let before = |line| statements.partition_point(|it| it.0 < line);
            match before(line + 1) - before(line) {
                1 => (line, 1),
                _ => (line, column),
            }
        };
        // Instructions that the simulator does not see need no place.
        let visible = program.code.iter().zip(&program.places);
        let visible = visible.filter(|(op, _)| !op.is_silent());
        let visible = visible.map(|(_, place)| *place);
        let places = in_order(visible.chain(program.places.first().copied()).collect());
        let number = |place| places.binary_search(place).unwrap_or_default() as u32;
        let of_ops = program.places.iter().map(number).collect();
        let first_shared = places.len();
        let shared = program.shared.iter().map(|array| (array.line, 1));
        let shown: Vec<(u32, u32)> = places.iter().copied().map(shown).chain(shared).collect();
        Self {
            lines: SourceLines::new(&program.file, &shown),
            of_ops,
            first_shared,
        }
    }

    /// The place of an instruction.
    #[inline(always)]
    pub fn of_op(&self, number: usize) -> SourceLine {
        self.lines.lines()[self.of_ops[number] as usize]
    }

    /// The places of the shared arrays' declarations.
    pub fn of_shared(&self) -> &[SourceLine] {
        &self.lines.lines()[self.first_shared..]
    }
}

/// The places in the order of the text, each once.
fn in_order(mut places: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    places.sort_unstable();
    places.dedup();
    places
}
