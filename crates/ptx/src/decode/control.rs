//! Branches and calls.

use super::at::{At, Decoded};
use super::decoder::{Decoder, Fixup};
use super::error::DecodeErrorKind::{UnknownName, Unsupported};
use super::op::Op;
use super::parts::List;
use crate::flat::Step;
use crate::operations::{Branch, BranchName, Operation};
use crate::syntax::Operand;
use crate::words::Type;

impl<'a> Decoder<'a> {
    /// The targets of a branch by number. Branches of one scope share them.
    fn table(&mut self, scope: usize, name: &str) -> Decoded<List> {
        let key = (scope, name.to_owned());
        if let Some(known) = self.tables.get(&key) {
            return Ok(*known);
        }
        let unknown = |name: &str| UnknownName(name.to_owned());
        let labels = self.flat.targets(scope, name);
        let labels = labels.ok_or_else(|| unknown(name))?;
        let steps = labels.iter().map(|label| {
            let step = self.flat.label(scope, label);
            step.map(|it| it as u32).ok_or_else(|| unknown(label))
        });
        let steps: Vec<u32> = steps.collect::<Result<_, _>>()?;
        let list = self.list(steps.into_iter());
        self.fixups.push(Fixup::Table(list));
        self.tables.insert(key, list);
        Ok(list)
    }

    /// The step to which an unconditional branch goes; none for other instructions.
    pub(super) fn target_of_jump(&self, step: Step<'a>) -> Option<Decoded<usize>> {
        let instruction = step.instruction;
        match (&instruction.operation, instruction.operands.as_slice()) {
            (Operation::Branch(it), [Operand::Name(label)]) if it.name == BranchName::Bra => {
                let target = self.flat.label(step.scope, label);
                Some(target.ok_or_else(|| UnknownName(label.to_string())))
            }
            _ => None,
        }
    }

    pub(super) fn branch(&mut self, step: Step<'a>, at: At<'a>, it: &Branch) -> Decoded<()> {
        match (it.name, at.operands) {
            (BranchName::Bra, _) => {
                let target = self.target_of_jump(step).ok_or(Unsupported)??;
                let op = self.code.len();
                self.fixups.push(Fixup::Step { op, step: target });
                self.emit(Op::Jump { to: 0 });
            }
            (BranchName::Table, [index, Operand::Name(name)]) => {
                let index = self.source(at, index, Type::U32)?;
                let to = self.table(step.scope, name)?;
                self.emit(Op::Table { index, to });
            }
            (BranchName::Call, [Operand::Name(function)]) => self.call(at, function, &[], &[])?,
            (BranchName::Call, [Operand::Name(function), Operand::List(arguments)]) => {
                self.call(at, function, arguments, &[])?;
            }
            (BranchName::Call, [Operand::List(results), Operand::Name(function)]) => {
                self.call(at, function, &[], results)?;
            }
            (
                BranchName::Call,
                [
                    Operand::List(results),
                    Operand::Name(function),
                    Operand::List(arguments),
                ],
            ) => self.call(at, function, arguments, results)?,
            (
                BranchName::Call,
                [
                    Operand::List(results),
                    register,
                    Operand::List(arguments),
                    Operand::Name(prototype),
                ],
            ) => self.call_by_address(at, (register, prototype), arguments, results)?,
            (BranchName::Call, [register, Operand::List(arguments), Operand::Name(prototype)]) => {
                self.call_by_address(at, (register, prototype), arguments, &[])?
            }
            (BranchName::Return, _) => self.emit(Op::Return),
            (BranchName::Exit, _) => self.emit(Op::Exit),
            (BranchName::Trap, _) => self.emit(Op::Trap),
            (BranchName::Sleep, _) => self.emit(Op::Sleep),
            _ => return Err(Unsupported),
        }
        Ok(())
    }
}
