//! A module as a value, which prints as PTX.

mod function;
mod line;
mod module;
mod operand;
mod signature;
mod statement;
mod variable;
mod written;

pub use function::{Function, FunctionKind};
pub use line::{Column, Line};
pub use module::{File, Item, Module, Section};
pub use operand::Operand;
pub use signature::{Bound, BoundKind, Signature};
pub use statement::{Guard, Inlined, Instruction, Location, Statement, StatementKind, TargetsKind};
pub(crate) use variable::elements_of;
pub use variable::{Declaration, Initial, Linkage, Pointer, Variable};
