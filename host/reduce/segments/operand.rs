//! Segments as an operand of a graph.

use super::Segments;
use crate::device::Device;
use crate::graph::GraphOperands;
use crate::graph::sealed::{GraphOperand, Operands};

impl Operands for Segments {
    fn each<E>(
        &mut self,
        each: &mut impl FnMut(GraphOperand<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        each(GraphOperand(self.offsets.written()))?;
        each(GraphOperand(self.parts.written()))?;
        let lists = self.long.lists();
        lists
            .iter()
            .try_for_each(|list| each(GraphOperand(list.tiles.written())))
    }
}

impl GraphOperands for Segments {
    type Views<'a> = &'a Self;

    fn views<'a>(&'a mut self, _stream: Option<&'a Device>) -> &'a Self {
        self
    }
}
