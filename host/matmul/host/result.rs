//! The blocks of C that are in device memory.

use super::block::Block;
use super::panels::ResultBlock;
use super::source::Sink;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Outcome};
use crate::matrix::{MatrixShape, MatrixViewMut};
use crate::transfer::Lanes;
use std::marker::PhantomData;

/// C in host memory, and blocks of it on the device.
pub struct Outputs<O: Element, S, E> {
    shape: MatrixShape,
    sink: S,
    slots: Vec<Buffer<O>>,
    errors: PhantomData<E>,
}

impl<O: Element, E: From<Error>, S: Sink<O, E>> Outputs<O, S, E> {
    /// Memory for `slots` blocks of up to `len` elements, which is read in the stream of `downloads`.
    pub fn new(
        downloads: &Device,
        (shape, sink): (MatrixShape, S),
        (slots, len): (usize, usize),
    ) -> Outcome<Self> {
        let slots = (0..slots).map(|_| Buffer::uninit(downloads, len));
        Ok(Self {
            shape,
            sink,
            slots: slots.collect::<Outcome<_>>()?,
            errors: PhantomData,
        })
    }

    /// The memory of a block.
    pub fn memory(
        &mut self,
        number: usize,
        block: &ResultBlock,
    ) -> Result<MatrixViewMut<'_, O>, Error> {
        let slot = number % self.slots.len();
        let shape = (block.rows.len(), block.columns.len());
        let memory = self.slots[slot].slice_mut(..shape.0 * shape.1)?;
        memory.into_matrix(shape)
    }

    /// Waits for a block, and writes it to host memory.
    pub fn store(
        &mut self,
        call: &'static str,
        (number, block): (usize, &ResultBlock),
        lanes: &mut Lanes<O>,
    ) -> Result<(), E> {
        let slot = number % self.slots.len();
        let place = Block::of(self.shape, &block.rows, &block.columns);
        let panel = self.slots[slot].view().slice(..place.len())?;
        self.sink.store(call, place, panel, lanes)
    }
}
