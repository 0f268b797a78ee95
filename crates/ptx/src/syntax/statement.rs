//! Statements of a function.

use super::line::{Column, Line};
use super::operand::Operand;
use super::signature::{Signature, pragma};
use super::variable::Declaration;
use super::written::list;
use crate::operations::Operation;
use crate::words::words;
use std::fmt;

/// A statement, with the place at which it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// Its line.
    pub line: Line,
    /// Its column.
    pub column: Column,
    /// The kind of the statement.
    pub kind: StatementKind,
}

/// The kinds of statements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StatementKind {
    /// Variables, among them registers.
    Declaration(Declaration),
    /// A label.
    Label(Box<str>),
    /// An instruction.
    Instruction(Instruction),
    /// Statements with variables and labels of their own.
    Block(Vec<Statement>),
    /// The possible targets of a branch or of a call.
    Targets {
        /// The name of the list.
        label: Box<str>,
        /// Whether the targets are of a branch or of a call.
        kind: TargetsKind,
        /// Labels, or functions.
        targets: Vec<Box<str>>,
    },
    /// The parameters and results of a function that is called by its address.
    Prototype {
        /// The prototype's name.
        label: Box<str>,
        /// Results and parameters.
        signature: Signature,
    },
    /// A place in the source.
    Location(Location),
    /// Hints for the assembler.
    Pragma(Vec<Box<str>>),
}

words! {
    /// Targets of branches or of calls.
    TargetsKind { Branch = "branchtargets", Call = "calltargets", }
}

/// An instruction with its operands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// The predicate that it needs.
    pub guard: Option<Guard>,
    /// Its name and its modifiers.
    pub operation: Operation,
    /// Its operands, results first.
    pub operands: Vec<Operand>,
}

/// A predicate before an instruction, `@%p1` or `@!%p1`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guard {
    /// Whether the predicate has to be false.
    pub is_negated: bool,
    /// The predicate's register.
    pub predicate: Box<str>,
}

/// A place in the source, `.loc`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The number of a `.file`.
    pub file: u32,
    /// The line in it.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The call that was inlined.
    pub inlined: Option<Inlined>,
}

/// A call that was inlined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inlined {
    /// A label in the section of strings.
    pub function: Box<str>,
    /// The distance from the label in bytes.
    pub offset: i64,
    /// The file, the line and the column of the call.
    pub at: [u32; 3],
}

impl fmt::Display for Guard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = if self.is_negated { "!" } else { "" };
        write!(formatter, "@{not}{}", self.predicate)
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(guard) = &self.guard {
            write!(formatter, "{guard} ")?;
        }
        write!(formatter, "{}", self.operation)?;
        if !self.operands.is_empty() {
            formatter.write_str(" ")?;
        }
        list(formatter, &self.operands)?;
        formatter.write_str(";")
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            ".loc {} {} {}",
            self.file, self.line, self.column
        )?;
        let Some(inlined) = &self.inlined else {
            return Ok(());
        };
        write!(formatter, ", function_name {}", inlined.function)?;
        if inlined.offset != 0 {
            write!(formatter, "+{}", inlined.offset)?;
        }
        let [file, line, column] = inlined.at;
        write!(formatter, ", inlined_at {file} {line} {column}")
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            StatementKind::Declaration(it) => write!(formatter, "\t{it};"),
            StatementKind::Label(label) => write!(formatter, "{label}:"),
            StatementKind::Instruction(instruction) => write!(formatter, "\t{instruction}"),
            StatementKind::Block(statements) => {
                formatter.write_str("\t{\n")?;
                for statement in statements {
                    writeln!(formatter, "{statement}")?;
                }
                formatter.write_str("\t}")
            }
            StatementKind::Targets {
                label,
                kind,
                targets,
            } => {
                write!(formatter, "{label}: .{} ", kind.text())?;
                list(formatter, targets)?;
                formatter.write_str(";")
            }
            StatementKind::Prototype { label, signature } => {
                write!(formatter, "{label}: .callprototype ")?;
                signature.write(formatter, "_")?;
                formatter.write_str(";")
            }
            StatementKind::Location(location) => write!(formatter, "\t{location}"),
            StatementKind::Pragma(hints) => {
                formatter.write_str("\t")?;
                pragma(formatter, hints)?;
                formatter.write_str(";")
            }
        }
    }
}
