//! The lines of a program's instructions, as findings name them.

use crate::decode::Program;
use simt::{SourceLine, SourceLines};

/// The lines of a program.
#[derive(Debug)]
pub(super) struct Lines {
    /// One for each line with an instruction that the simulator sees, and one for each shared array.
    lines: SourceLines,
    /// For each instruction, the place of its line.
    of_ops: Vec<u32>,
    /// The place of the first shared array's line.
    first_shared: usize,
}

impl Lines {
    pub fn of(program: &Program) -> Self {
        // Instructions that the simulator does not see need no line.
        let visible = program.code.iter().zip(&program.lines);
        let visible = visible.filter(|(op, _)| !op.is_silent());
        let mut numbers: Vec<u32> = visible.map(|(_, line)| *line).collect();
        numbers.extend(program.lines.first());
        numbers.sort_unstable();
        numbers.dedup();
        let place = |line: &u32| numbers.binary_search(line).unwrap_or_default() as u32;
        let of_ops = program.lines.iter().map(place).collect();
        let first_shared = numbers.len();
        numbers.extend(program.shared.iter().map(|array| array.line));
        Self {
            lines: SourceLines::new(&program.file, &numbers),
            of_ops,
            first_shared,
        }
    }

    /// The line of an instruction.
    #[inline(always)]
    pub fn of_op(&self, number: usize) -> SourceLine {
        self.lines.lines()[self.of_ops[number] as usize]
    }

    /// The lines of the shared arrays' declarations.
    pub fn of_shared(&self) -> &[SourceLine] {
        &self.lines.lines()[self.first_shared..]
    }
}
