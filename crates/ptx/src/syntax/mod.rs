//! A module as a value, which prints as PTX.

mod function;
mod module;
mod operand;
mod statement;
mod variable;

pub use function::{Bound, BoundKind, Function, FunctionKind, Signature};
pub use module::{File, Item, Module, Section};
pub use operand::Operand;
pub use statement::{
    Guard, Inlined, Instruction, Line, Location, Statement, StatementKind, TargetsKind,
};
pub use variable::{Declaration, Initial, Linkage, Pointer, Variable};

use std::fmt;

/// Writes items with `, ` between them.
fn list<T: fmt::Display>(formatter: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            formatter.write_str(", ")?;
        }
        write!(formatter, "{item}")?;
    }
    Ok(())
}
