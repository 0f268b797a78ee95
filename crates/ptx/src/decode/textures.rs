//! Textures, and policies of caches, which the simulator does not have.

use super::at::{At, Decoded};
use super::decoder::Decoder;
use super::error::DecodeErrorKind::Unsupported;
use super::op::Op;
use super::parts::TextureSample;
use crate::operations::Sample;
use crate::syntax::Operand;
use crate::words::{Dimensions, Type, Vector};

impl Decoder<'_> {
    pub(super) fn sample(&mut self, at: At<'_>, it: &Sample) -> Decoded<()> {
        let [
            Operand::Vector(results),
            Operand::Tensor(handle, coordinates),
        ] = at.operands
        else {
            return Err(Unsupported);
        };
        let dimensions = match it.dimensions {
            Dimensions::One => 1,
            Dimensions::Two => 2,
            _ => return Err(Unsupported),
        };
        let is_plain = it.vector == Vector::Four && it.of == Type::F32 && it.by == Type::F32;
        if !is_plain || coordinates.len() != dimensions || results.len() != 4 {
            return Err(Unsupported);
        }
        let sample = TextureSample {
            handle: self.source(at, &Operand::Name(handle.clone()), Type::U64)?,
            coordinates: self.sources(at, coordinates, Type::F32)?,
            results: self.destinations(at, results)?,
        };
        self.emit(Op::Sample(sample));
        Ok(())
    }

    /// A policy is a number that no instruction of the simulator reads.
    pub(super) fn policy(&mut self, at: At<'_>) -> Decoded<()> {
        let ([d], _) = at.split()?;
        let (d, a) = (self.destination(at, d)?.0, self.constant(0));
        self.emit(Op::Copy { d, a });
        Ok(())
    }
}
