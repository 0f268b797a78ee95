//! The panels of an operand that are in device memory.

use super::block::Block;
use super::source::Source;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Outcome};
use crate::matrix::{MatrixShape, MatrixView};
use crate::transfer::Lanes;
use std::marker::PhantomData;
use std::ops::Range;

/// Rows and columns of an operand.
pub type Panel = (Range<usize>, Range<usize>);

/// An operand in host memory, and its panels on the device.
pub struct Operand<T: Element, S, E> {
    shape: MatrixShape,
    source: S,
    slots: Vec<Slot<T>>,
    /// The number of the slot that was used last.
    last: usize,
    errors: PhantomData<E>,
}

/// Memory for a panel, and what it holds.
struct Slot<T: Element> {
    memory: Buffer<T>,
    holds: Option<Panel>,
}

impl<T: Element, E: From<Error>, S: Source<T, E>> Operand<T, S, E> {
    /// Memory for `slots` panels of up to `len` elements, which is written in the stream of `copies`.
    pub fn new(
        copies: &Device,
        (shape, source): (MatrixShape, S),
        (slots, len): (usize, usize),
    ) -> Outcome<Self> {
        let slot = |_| {
            let memory = Buffer::uninit(copies, len)?;
            Ok(Slot {
                memory,
                holds: None,
            })
        };
        Ok(Self {
            shape,
            source,
            slots: (0..slots).map(slot).collect::<Outcome<_>>()?,
            last: 0,
            errors: PhantomData,
        })
    }

    /// The panel on the device, uploaded unless it is there.
    pub fn panel(
        &mut self,
        call: &'static str,
        panel: &Panel,
        lanes: &mut Lanes<T>,
    ) -> Result<MatrixView<'_, T>, E> {
        let holder = |slot: &Slot<T>| slot.holds.as_ref() == Some(panel);
        self.last = match self.slots.iter().position(holder) {
            Some(number) => number,
            None => {
                // The one before the last: a product may still be using the last one.
                let number = (self.last + 1) % self.slots.len();
                self.load(call, number, panel, lanes)?;
                number
            }
        };
        let (rows, columns) = panel;
        let memory = self.slots[self.last].memory.view();
        let memory = memory.slice(..rows.len() * columns.len())?;
        Ok(memory.as_matrix((rows.len(), columns.len(), self.shape.order))?)
    }

    fn load(
        &mut self,
        call: &'static str,
        number: usize,
        panel: &Panel,
        lanes: &mut Lanes<T>,
    ) -> Result<(), E> {
        let slot = &mut self.slots[number];
        slot.holds = None;
        let block = Block::of(self.shape, &panel.0, &panel.1);
        self.source.load(call, block, &mut slot.memory, lanes)?;
        slot.holds = Some(panel.clone());
        Ok(())
    }
}
