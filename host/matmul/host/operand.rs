//! The panels of an operand that are in device memory.

use super::block::Block;
use super::source::Source;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Error, Outcome};
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

    /// Uploads a panel unless it is on the device, and makes it the current one.
    ///
    /// Uploads of later panels wait for the products that were launched before this call, and not for those after it.
    pub fn select(
        &mut self,
        call: &'static str,
        panel: &Panel,
        lanes: &mut Lanes<T>,
    ) -> Result<(), E> {
        let holder = |slot: &Slot<T>| slot.holds.as_ref() == Some(panel);
        self.last = match self.slots.iter().position(holder) {
            Some(number) => number,
            None => {
                // Not the last one: a product may be using it.
                let number = (self.last + 1) % self.slots.len();
                self.load(call, number, panel, lanes)?;
                number
            }
        };
        for (number, slot) in self.slots.iter_mut().enumerate() {
            if number != self.last {
                slot.memory.view_mut().order_next_writes().during(call)?;
            }
        }
        Ok(())
    }

    /// The current panel.
    pub fn current(&self) -> Outcome<MatrixView<'_, T>> {
        let slot = &self.slots[self.last];
        let (rows, columns) = slot
            .holds
            .as_ref()
            .map_or((0, 0), |(rows, columns)| (rows.len(), columns.len()));
        let memory = slot.memory.view().part(..rows * columns)?;
        let panel = memory.as_matrix((rows, columns, self.shape.order));
        panel.map_err(Error::into_kind)
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
