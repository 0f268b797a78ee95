//! The blocks of C that are in device memory.

use super::block::Block;
use super::panels::{MOST_SLOTS, ResultBlock};
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
    downloads: Device,
    slots: [Option<Slot<O>>; MOST_SLOTS],
    errors: PhantomData<E>,
}

/// A block, and memory for its elements alone: a write of a part would make each download wait for all launches.
struct Slot<O: Element> {
    block: ResultBlock,
    memory: Buffer<O>,
}

impl<O: Element, E: From<Error>, S: Sink<O, E>> Outputs<O, S, E> {
    /// Blocks of a matrix of `shape`, which are read in the stream of `downloads`.
    pub fn new(downloads: &Device, (shape, sink): (MatrixShape, S)) -> Self {
        Self {
            shape,
            sink,
            downloads: downloads.clone(),
            slots: [const { None }; MOST_SLOTS],
            errors: PhantomData,
        }
    }

    /// Makes room for block `number`, if the one that was there is stored.
    pub fn begin(&mut self, number: usize, block: ResultBlock) -> Outcome<()> {
        let len = block.rows.len() * block.columns.len();
        let slot = &mut self.slots[number % MOST_SLOTS];
        // Frees memory of another length before more is allocated.
        let memory = slot.take().map(|slot| slot.memory);
        let memory = match memory.filter(|memory| memory.len() == len) {
            Some(memory) => memory,
            None => Buffer::uninit(&self.downloads, len)?,
        };
        *slot = Some(Slot { block, memory });
        Ok(())
    }

    /// The memory of a block.
    pub fn memory(&mut self, number: usize) -> Outcome<MatrixViewMut<'_, O>> {
        let Slot { block, memory } = self.slot(number);
        let shape = (block.rows.len(), block.columns.len());
        let matrix = memory.view_mut().into_matrix(shape);
        matrix.map_err(Error::into_kind)
    }

    /// Makes the download of a block wait for the products launched so far, but not for later ones.
    pub fn end(&mut self, number: usize) -> Outcome<()> {
        let memory = &self.slot(number).memory;
        memory.view().holder().order_reads(memory.device())
    }

    /// Waits for a block, and writes it to host memory.
    pub fn store(
        &mut self,
        call: &'static str,
        number: usize,
        lanes: &mut Lanes<O>,
    ) -> Result<(), E> {
        let shape = self.shape;
        let slot = self.slots[number % MOST_SLOTS].as_ref();
        let Slot { block, memory } = slot.expect(BEGUN);
        let place = Block::of(shape, &block.rows, &block.columns);
        self.sink.store(call, place, memory.view(), lanes)
    }

    fn slot(&mut self, number: usize) -> &mut Slot<O> {
        self.slots[number % MOST_SLOTS].as_mut().expect(BEGUN)
    }
}

const BEGUN: &str = "the block was begun";
