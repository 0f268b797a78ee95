//! Views with a wrong length: accesses are checked against the allocation.

use crate::harness::{ELEMENTS, Memory, me, run_and_read, schedules, shared, twins};
use cuda_std::prelude::*;
use simt::DefectKind::OutOfBounds;
use simt::{Defect, Options};

/// A view of the input that claims twice its length.
fn too_long<'launch>(memory: &Memory<'launch>) -> GlobalMut<'launch, u32> {
    let base = memory.input.0.as_mut_ptr();
    // SAFETY: the view is longer than its memory: the tests are about this. Other accesses conflict in no test.
    unsafe { GlobalMut::from_raw_parts(base, 2 * ELEMENTS) }
}

#[test]
fn a_read_past_the_allocation() {
    let found = twins(OutOfBounds, 2, 64, |memory, right| {
        let index = if right { ELEMENTS - 64 } else { ELEMENTS - 32 };
        // SAFETY: the simulator ends the launch. No thread writes.
        let _ = unsafe { too_long(memory).load(index + me()) };
    });
    assert!(found.message.contains("of 4096 bytes"), "{found}");
}

#[test]
fn a_write_past_the_allocation() {
    twins(OutOfBounds, 1, 32, |memory, right| {
        let index = if right { me() } else { ELEMENTS + me() };
        // SAFETY: the simulator ends the launch. Each thread has its own element.
        unsafe { too_long(memory).store(index, 1) };
    });
}

#[test]
fn a_vector_half_past_the_allocation() {
    twins(OutOfBounds, 1, 1, |memory, right| {
        let base = memory.input.0.as_mut_ptr();
        let first = if right { 4 } else { 2 };
        // SAFETY: a vector 8 bytes before the end is out of bounds: the test is about this. One thread runs.
        let words: GlobalMut<[u32; 2]> =
            unsafe { GlobalMut::from_raw_parts(base.wrapping_add(first).cast(), ELEMENTS) };
        // SAFETY: as above.
        let _ = unsafe { words.load(ELEMENTS / 2 - if right { 3 } else { 1 }) };
    });
}

/// The next allocation is also memory of the launch, but not of the view.
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
        // SAFETY: the view is longer than its memory: the test is about this. No thread writes.
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
        // SAFETY: the view is longer than its memory: the test is about this. No thread writes.
        let source = unsafe { Global::from_raw_parts(memory.input.0.as_mut_ptr(), 2 * ELEMENTS) };
        let first = if right { 0 } else { ELEMENTS };
        tile.copy(&mut pipeline, 4 * me(), source, first + 4 * me());
        pipeline.commit();
        pipeline.wait_prior::<0>();
    });
}

global_array! {
    static COUNTS: [u32; 32] = [0; 32];
}

/// Runs a kernel on unregistered memory, in a launch that knows all memory or in one that does not.
fn run_with_heap(
    options: Options,
    registered_memory_only: bool,
    kernel: fn(&Memory, GlobalMut<u32>),
) -> Result<(), Box<Defect>> {
    let options = Options {
        registered_memory_only,
        ..options
    };
    let heap = vec![[7_u32; 4]; 64];
    let address = heap.as_ptr().expose_provenance();
    let with_view = |memory: &Memory| {
        let first = std::ptr::with_exposed_provenance_mut(address);
        // SAFETY: the vector has the elements. The kernels only read them.
        kernel(memory, unsafe { GlobalMut::from_raw_parts(first, 256) });
    };
    run_and_read(crate::borrowed::run, &options, (2, 32), &with_view).map(drop)
}

#[test]
fn memory_that_is_in_no_allocation() {
    for options in schedules() {
        let run = |registered_only| {
            run_with_heap(options.clone(), registered_only, |_, heap| {
                // SAFETY: the index is within. No thread writes.
                let _ = unsafe { heap.load(me()) };
            })
        };
        let found = run(true).expect_err("the heap is in no allocation");
        assert_eq!(found.kind, OutOfBounds, "{found}");
        assert!(
            found.message.contains("in no buffer of the program"),
            "{found}"
        );
        run(false).expect("slices need not be registered");
    }
}

/// Also vectors, copies and atomic operations.
#[test]
fn no_access_of_memory_that_is_in_no_allocation() {
    let kernels: [fn(&Memory, GlobalMut<u32>); 3] = [
        |_, heap| {
            // SAFETY: the index is within. No thread writes.
            let _: [u32; 4] = unsafe { heap.load_vector(4 * me()) };
        },
        |_, heap| {
            let tile = shared![u32; 128];
            let mut pipeline = Pipeline::<2>::new();
            // SAFETY: the vector has the elements. No thread writes.
            let source = unsafe { Global::from_raw_parts(heap.as_mut_ptr(), 256) };
            tile.copy(&mut pipeline, 4 * me(), source, 4 * me());
            pipeline.commit();
            pipeline.wait_prior::<0>();
        },
        |_, heap| {
            // SAFETY: the index is within. All accesses are atomic.
            let _ = unsafe { heap.atomic_load(me()) };
        },
    ];
    for kernel in kernels {
        let found = run_with_heap(Options::default(), true, kernel);
        let found = found.expect_err("the heap is in no allocation");
        assert_eq!(found.kind, OutOfBounds, "{found}");
        run_with_heap(Options::default(), false, kernel).expect("slices need not be registered");
    }
}

/// Buffers, and a static array that the launch is the first to use.
#[test]
fn memory_that_is_registered() {
    for options in schedules() {
        let launched = run_with_heap(options, true, |memory, _| {
            memory.input.get(me());
            COUNTS.with(|counts| {
                // SAFETY: there is an element for each thread. All accesses are atomic.
                unsafe { counts.atomic_add(me(), 1) };
            });
        });
        launched.unwrap_or_else(|defect| panic!("{defect}"));
    }
}

/// The nearest buffer is named.
#[test]
fn an_access_before_a_buffer_names_it() {
    let options = Options {
        registered_memory_only: true,
        ..Options::default()
    };
    let before = |memory: &Memory| {
        let base = memory.input.0.as_mut_ptr().wrapping_sub(1);
        simt::name_allocation(memory.input.0.as_mut_ptr().addr(), "weights");
        // SAFETY: the view is longer than its memory: the test is about this. No thread writes.
        let _ = unsafe { GlobalMut::from_raw_parts(base, 1).load(0) };
    };
    let found = run_and_read(crate::borrowed::run, &options, (1, 1), &before);
    let message = found.expect_err("it is before the buffer").message;
    let nearest = "buffer `weights` of 4096 bytes, which begins 4 bytes behind it";
    assert!(message.contains(nearest), "{message}");
}
