//! Where elements of host matrices come from, and where outputs go.

use super::block::Block;
use crate::buffer::{Buffer, BufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Error};
use crate::transfer::Lanes;

/// The elements of an operand, in the order of its shape.
pub trait Source<T: Element, E> {
    /// Copies a block to the first elements of `panel`, one run after another.
    fn load(
        &mut self,
        call: &'static str,
        block: Block,
        panel: &mut Buffer<T>,
        lanes: &mut Lanes<T>,
    ) -> Result<(), E>;
}

/// The place of a product's outputs, row by row.
pub trait Sink<O: Element, E> {
    /// Writes the elements of `panel` to a block, one run after another.
    fn store(
        &mut self,
        call: &'static str,
        block: Block,
        panel: BufferView<'_, O>,
        lanes: &mut Lanes<O>,
    ) -> Result<(), E>;
}

/// Elements in a slice.
pub struct Slice<'a, T>(pub &'a [T]);

impl<T: Element, E: From<Error>> Source<T, E> for Slice<'_, T> {
    fn load(
        &mut self,
        call: &'static str,
        block: Block,
        panel: &mut Buffer<T>,
        lanes: &mut Lanes<T>,
    ) -> Result<(), E> {
        let Self(elements) = *self;
        let mut load = || {
            let place = panel.slice_mut(..block.len());
            let place = place.map_err(Error::into_kind)?;
            if !copies_directly(place.device(), elements) {
                return lanes.upload(place, block.slices(elements));
            }
            let rows = place.into_matrix((block.runs, block.run_len));
            let mut rows = rows.map_err(Error::into_kind)?;
            rows.read_strided(&elements[block.first..], block.apart)
        };
        Ok(load().during(call)?)
    }
}

/// Outputs in a slice.
pub struct SliceMut<'a, O>(pub &'a mut [O]);

impl<O: Element, E: From<Error>> Sink<O, E> for SliceMut<'_, O> {
    fn store(
        &mut self,
        call: &'static str,
        block: Block,
        panel: BufferView<'_, O>,
        lanes: &mut Lanes<O>,
    ) -> Result<(), E> {
        let Self(elements) = self;
        let mut store = || {
            if !copies_directly(panel.device(), elements) {
                return lanes.download(panel, block.slices_mut(elements));
            }
            let rows = panel.as_matrix((block.runs, block.run_len));
            let rows = rows.map_err(Error::into_kind)?;
            rows.write_strided(&mut elements[block.first..], block.apart)
        };
        Ok(store().during(call)?)
    }
}

/// Elements that a function reads: it gets the index of the first one, and the place for them.
pub struct Reader<F>(pub F);

impl<T, E, F> Source<T, E> for Reader<F>
where
    T: Element,
    E: From<Error>,
    F: FnMut(usize, &mut [T]) -> Result<(), E>,
{
    fn load(
        &mut self,
        call: &'static str,
        block: Block,
        panel: &mut Buffer<T>,
        lanes: &mut Lanes<T>,
    ) -> Result<(), E> {
        let Self(read) = self;
        let place = panel.slice_mut(..block.len())?;
        lanes.upload_read(call, place, |first, mut memory| {
            for place in block.places(first..first + memory.len()) {
                let (run, rest) = memory.split_at_mut(place.len());
                read(place.start, run)?;
                memory = rest;
            }
            Ok(())
        })
    }
}

/// Outputs that a function takes: it gets the index of the first one, and consecutive outputs.
pub struct Writer<F>(pub F);

impl<O, E, F> Sink<O, E> for Writer<F>
where
    O: Element,
    E: From<Error>,
    F: FnMut(usize, &[O]) -> Result<(), E>,
{
    fn store(
        &mut self,
        call: &'static str,
        block: Block,
        panel: BufferView<'_, O>,
        lanes: &mut Lanes<O>,
    ) -> Result<(), E> {
        let Self(write) = self;
        lanes.download_written(call, panel, |first, mut memory| {
            for place in block.places(first..first + memory.len()) {
                let (run, rest) = memory.split_at(place.len());
                write(place.start, run)?;
                memory = rest;
            }
            Ok(())
        })
    }
}

/// Whether the device copies the elements without another copy on the host.
fn copies_directly<T: Element>(device: &Device, elements: &[T]) -> bool {
    device
        .backend()
        .copies_directly(bytemuck::cast_slice(elements))
}
