//! Bulk copies with operands that the hardware rejects, each with a correct twin.

use crate::harness::{BARRIERS, TILE_BYTES, barrier, barriers, me, shared, twins};
use simt::DefectKind::{InvalidArgument, Misaligned, OutOfBounds};

#[test]
fn a_tile_that_is_misaligned() {
    twins(
        Misaligned,
        &["not a multiple of 128"],
        32,
        |memory, right| {
            barriers(BARRIERS, &[1]);
            if me() == 0 {
                memory.load_tile(if right { 1024 } else { 1040 }, 0);
            }
            simt::mbarrier_wait(barrier(0), false);
        },
    );
}

#[test]
fn a_copy_of_the_wrong_size() {
    twins(Misaligned, &["72 bytes"], 32, |memory, right| {
        barriers(BARRIERS, &[1]);
        let bytes = if right { 80 } else { 72 };
        if me() == 0 {
            simt::mbarrier_arrive_expect(barrier(0), bytes);
            memory.copy_words(bytes as usize, 0, None);
        }
        simt::mbarrier_wait(barrier(0), false);
    });
}

#[test]
fn a_source_that_is_too_short() {
    twins(OutOfBounds, &["goes past it"], 32, |memory, right| {
        barriers(BARRIERS, &[1]);
        let bytes = if right { 4096 } else { 4112 };
        if me() == 0 {
            simt::mbarrier_arrive_expect(barrier(0), bytes);
            memory.copy_words(bytes as usize, 0, None);
        }
        simt::mbarrier_wait(barrier(0), false);
    });
}

#[test]
fn a_tile_outside_of_shared_memory() {
    twins(
        OutOfBounds,
        &["not in the block's shared memory"],
        32,
        |memory, right| {
            barriers(BARRIERS, &[1]);
            if me() == 0 {
                simt::mbarrier_arrive_expect(barrier(0), TILE_BYTES as u32);
                let past = if right { 0 } else { 226 * 1024 };
                let to = shared(0).wrapping_add(past);
                // SAFETY: the buffer outlives the launch.
                unsafe { simt::tensor_load(&memory.map, to, barrier(0), &[0, 0], None) };
            }
            simt::mbarrier_wait(barrier(0), false);
        },
    );
}

#[test]
fn coordinates_of_another_rank() {
    twins(
        InvalidArgument,
        &["3 coordinates for a tensor of 2 dimensions"],
        32,
        |memory, right| {
            barriers(BARRIERS, &[1]);
            if me() == 0 {
                simt::mbarrier_arrive_expect(barrier(0), TILE_BYTES as u32);
                let coordinates: &[i32] = if right { &[0, 0] } else { &[0, 0, 0] };
                // SAFETY: the buffer outlives the launch.
                unsafe { simt::tensor_load(&memory.map, shared(0), barrier(0), coordinates, None) };
            }
            simt::mbarrier_wait(barrier(0), false);
        },
    );
}
