//! Products on tensor cores, and moves of their operands.

use super::at::{At, Decoded};
use super::decoder::Decoder;
use super::error::DecodeErrorKind::{Operand as WrongOperand, Unsupported};
use super::op::Op;
use super::parts::{List, MatrixMove, ProductOp, WarpgroupOp};
use crate::numbers::{is_clamped, registers_of, warp_product};
use crate::operations::{
    MatrixTransfer, MatrixTransferName, Operation, Product, WarpgroupProduct, WarpgroupStep,
    WarpgroupStepName,
};
use crate::syntax::Operand;
use crate::words::{MatrixCount, MatrixShape, MatrixTarget, Memory, Transposed, Type};
use simt::{ElementType, Major, Wgmma};

impl Decoder<'_> {
    pub(super) fn product(&mut self, at: At<'_>, it: &Product) -> Decoded<()> {
        let f = warp_product(it).ok_or(Unsupported)?;
        let [d, a, b, c] = at.vectors()?;
        let counts = [a, b, c, d].map(|it| it.len() as u32);
        let [of_a, of_b, of_sums] = registers_of(it).ok_or(Unsupported)?;
        if counts != [of_a, of_b, of_sums, of_sums] {
            return Err(Unsupported);
        }
        let product = ProductOp {
            f,
            is_clamped: is_clamped(it),
            a: self.sources(at, a, Type::B32)?,
            b: self.sources(at, b, Type::B32)?,
            c: self.sources(at, c, it.c)?,
            d: self.destinations(at, d)?,
        };
        self.emit(Op::Product(product));
        Ok(())
    }

    pub(super) fn matrix_transfer(&mut self, at: At<'_>, it: &MatrixTransfer) -> Decoded<()> {
        let is_load = it.name == MatrixTransferName::Load;
        let (registers, address) = match (is_load, at.operands) {
            (true, [Operand::Vector(registers), address]) => (registers, address),
            (false, [address, Operand::Vector(registers)]) => (registers, address),
            _ => return Err(Unsupported),
        };
        let count = match it.count {
            MatrixCount::One => 1,
            MatrixCount::Two => 2,
            MatrixCount::Four => 4,
        };
        if it.shape != MatrixShape::M8n8 || it.of != Type::B16 || registers.len() != count {
            return Err(Unsupported);
        }
        let registers = self.moved(at, is_load, registers)?;
        let memory = it.memory.map(|target| match target {
            MatrixTarget::Shared | MatrixTarget::SharedCta => Memory::Shared,
        });
        let pointer = self.pointer(at, memory, address)?;
        self.emit(Op::MoveMatrices(MatrixMove {
            is_load,
            is_transposed: it.transposed == Some(Transposed::Trans),
            pointer,
            registers,
        }));
        Ok(())
    }

    pub(super) fn warpgroup_product(&mut self, at: At<'_>, it: &WarpgroupProduct) -> Decoded<()> {
        let [Operand::Vector(accumulators), a, b, accumulate, rest @ ..] = at.operands else {
            return Err(Unsupported);
        };
        let element = |of| {
            Ok(match of {
                Type::F16 => ElementType::F16,
                Type::Bf16 => ElementType::Bf16,
                Type::Tf32 => ElementType::Tf32,
                Type::E4m3 => ElementType::E4m3,
                Type::E5m2 => ElementType::E5m2,
                Type::S8 => ElementType::S8,
                Type::U8 => ElementType::U8,
                _ => return Err(Unsupported),
            })
        };
        let (a_type, b_type) = (element(it.a)?, element(it.b)?);
        let is_whole = matches!(it.d, Type::F32 | Type::S32)
            && it.satfinite.is_none()
            && usize::from(it.shape.depth) == a_type.k()
            && accumulators.len() == usize::from(it.shape.columns) / 2;
        let of_registers = match a {
            Operand::Vector(registers) if registers.len() == 4 => Some(registers),
            Operand::Vector(_) => return Err(Unsupported),
            _ => None,
        };
        if !is_whole {
            return Err(Unsupported);
        }
        let (a_major, b_major) = majors(rest, of_registers.is_some())?;
        let a_registers = of_registers.map(|it| self.sources(at, it, Type::B32));
        let a_registers = a_registers.transpose()?;
        let instruction = Wgmma {
            a: a_type,
            b: b_type,
            n: it.shape.columns.into(),
            a_major,
            b_major,
        };
        let op = WarpgroupOp {
            instruction,
            accumulators: self.destinations(at, accumulators)?,
            a: match a_registers {
                Some(_) => self.constant(0),
                None => self.source(at, a, Type::B64)?,
            },
            a_registers,
            b: self.source(at, b, Type::B64)?,
            accumulate: self.source(at, accumulate, Type::Pred)?,
        };
        self.emit(Op::WarpgroupProduct(op));
        Ok(())
    }

    /// `number` is that of the step.
    pub(super) fn warpgroup_step(
        &mut self,
        number: usize,
        at: At<'_>,
        it: &WarpgroupStep,
    ) -> Decoded<()> {
        match (it.name, at.operands) {
            (WarpgroupStepName::Fence, []) => {
                let fragments = self.accumulators_behind(number)?;
                self.emit(Op::WarpgroupFence { fragments });
            }
            (WarpgroupStepName::Commit, []) => self.emit(Op::WarpgroupCommit),
            (WarpgroupStepName::Wait, [pending]) => {
                let pending = self.source(at, pending, Type::U32)?;
                self.emit(Op::WarpgroupWait { pending });
            }
            _ => return Err(Unsupported),
        }
        Ok(())
    }

    /// The accumulators of the products between a fence and the next one, in the order of the text, each list behind
    /// its length. The fence makes these visible; a product of other accumulators has no fence.
    fn accumulators_behind(&mut self, fence: usize) -> Decoded<List> {
        let mut lists: Vec<Vec<u32>> = Vec::new();
        for number in fence + 1..self.flat.steps.len() {
            let step = self.flat.steps[number];
            match &step.instruction.operation {
                Operation::WarpgroupStep(it) if it.name == WarpgroupStepName::Fence => break,
                Operation::WarpgroupProduct(_) => {
                    let [Operand::Vector(registers), ..] = step.instruction.operands.as_slice()
                    else {
                        continue;
                    };
                    let at = At {
                        scope: step.scope,
                        number,
                        operands: registers,
                    };
                    let slots = registers.iter().map(|it| Ok(self.destination(at, it)?.0));
                    let slots = slots.collect::<Decoded<Vec<u32>>>()?;
                    if !lists.contains(&slots) {
                        lists.push(slots);
                    }
                }
                _ => {}
            }
        }
        let flat = lists.into_iter().flat_map(|slots| {
            let length = slots.len() as u32;
            std::iter::once(length).chain(slots)
        });
        Ok(self.list(flat))
    }
}

/// The orders of both operands, from the factors and the flags behind the predicate.
fn majors(immediates: &[Operand], is_of_registers: bool) -> Decoded<(Major, Major)> {
    let numbers = immediates.iter().map(|it| match it {
        Operand::Integer(value) => Ok(*value),
        it => Err(WrongOperand(it.to_string())),
    });
    let major = |flag| match flag {
        0 => Major::K,
        _ => Major::MN,
    };
    match *numbers.collect::<Decoded<Vec<i128>>>()?.as_slice() {
        [] | [1, 1] => Ok((Major::K, Major::K)),
        [1, 1, b] if is_of_registers => Ok((Major::K, major(b))),
        [1, 1, a, b] if !is_of_registers => Ok((major(a), major(b))),
        _ => Err(Unsupported),
    }
}
