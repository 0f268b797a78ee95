//! Views whose length is wrong: an access is held against its allocation.

use crate::harness::{ELEMENTS, Memory, me, shared, twins};
use cuda_std::prelude::*;
use simt::DefectKind::OutOfBounds;

/// A view of the input that claims twice its length.
fn too_long<'launch>(memory: &Memory<'launch>) -> GlobalMut<'launch, u32> {
    let base = memory.input.0.as_mut_ptr();
    // SAFETY: (1) is broken, which the tests are about. (2) Each test keeps to it.
    unsafe { GlobalMut::from_raw_parts(base, 2 * ELEMENTS) }
}

#[test]
fn a_read_past_the_allocation() {
    let found = twins(OutOfBounds, 2, 64, |memory, right| {
        let index = if right { ELEMENTS - 64 } else { ELEMENTS - 32 };
        // SAFETY: (1) the simulator ends the launch. (2) No thread writes.
        let _ = unsafe { too_long(memory).load(index + me()) };
    });
    assert!(found.message.contains("of 4096 bytes"), "{found}");
}

#[test]
fn a_write_past_the_allocation() {
    twins(OutOfBounds, 1, 32, |memory, right| {
        let index = if right { me() } else { ELEMENTS + me() };
        // SAFETY: (1) the simulator ends the launch. (2) Each thread has its own element.
        unsafe { too_long(memory).store(index, 1) };
    });
}

#[test]
fn a_vector_half_past_the_allocation() {
    twins(OutOfBounds, 1, 1, |memory, right| {
        let base = memory.input.0.as_mut_ptr();
        let first = if right { 4 } else { 2 };
        // SAFETY: (1) is broken where the vector starts 8 bytes before the end. (2) One thread.
        let words: GlobalMut<[u32; 2]> =
            unsafe { GlobalMut::from_raw_parts(base.wrapping_add(first).cast(), ELEMENTS) };
        // SAFETY: (1), (2) as above.
        let _ = unsafe { words.load(ELEMENTS / 2 - if right { 3 } else { 1 }) };
    });
}

/// The next allocation is memory of the launch, too, but not of the view.
#[test]
fn an_element_of_another_allocation() {
    let found = twins(OutOfBounds, 1, 32, |memory, right| {
        let views = [memory.input.0, memory.counters.0];
        let address = |view: GlobalMut<u32>| view.as_mut_ptr().addr();
        let [low, high] = match address(views[0]) < address(views[1]) {
            true => views,
            false => [views[1], views[0]],
        };
        let distance = (address(high) - address(low)) / 4;
        // SAFETY: (1) is broken, which the test is about. (2) No thread writes.
        let long = unsafe { GlobalMut::from_raw_parts(low.as_mut_ptr(), distance + ELEMENTS) };
        let index = if right { me() } else { distance + me() };
        // SAFETY: as above.
        let _ = unsafe { long.load(index) };
    });
    assert!(found.to_string().contains("allocation"), "{found}");
}

#[test]
fn the_source_of_a_copy_past_the_allocation() {
    twins(OutOfBounds, 1, 32, |memory, right| {
        let tile = shared![u32; 128];
        let mut pipeline = Pipeline::<2>::new();
        // SAFETY: (1) is broken, which the test is about. (2) No thread writes.
        let source = unsafe { Global::from_raw_parts(memory.input.0.as_mut_ptr(), 2 * ELEMENTS) };
        let first = if right { 0 } else { ELEMENTS };
        tile.copy(&mut pipeline, 4 * me(), source, first + 4 * me());
        pipeline.commit();
        pipeline.wait_prior::<0>();
    });
}
