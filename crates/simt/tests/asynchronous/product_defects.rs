//! Mistakes with products of warpgroups, each with a correct twin.

use crate::harness::{Memory, TILE_BYTES, barrier, me, shared, store, sync, twins};
use crate::products::descriptor;
use simt::DefectKind::{
    AsyncHazard, Deadlock, InvalidArgument, Misaligned, MissingProxyFence, OutOfBounds,
    WarpDivergence, WrongSwizzle,
};
use simt::{ElementType, Major, Operand, Wgmma};

const INSTRUCTION: Wgmma = Wgmma {
    a: ElementType::Bf16,
    b: ElementType::Bf16,
    n: 64,
    a_major: Major::K,
    b_major: Major::K,
};

/// The accumulators of a thread.
type Registers = [u32; 32];

/// The tile at byte `offset`, with this descriptor.
#[track_caller]
fn described(offset: usize, descriptor: u64) -> Operand {
    Operand {
        descriptor,
        tile: shared(offset).addr(),
        bytes: TILE_BYTES,
    }
}

/// The tile at byte `offset`, with its correct descriptor.
#[track_caller]
fn tile(offset: usize) -> Operand {
    described(offset, descriptor(offset, 16, 1024))
}

/// Passes accumulators to the tensor cores.
#[track_caller]
fn begin() -> Registers {
    let mut registers = [0; 32];
    simt::wgmma_begin(&mut registers);
    simt::wgmma_fence();
    registers
}

/// Issues the product of the tile at the start of shared memory with itself.
#[track_caller]
fn issue(registers: &mut Registers) {
    simt::wgmma(registers, INSTRUCTION, tile(0), tile(0), false);
}

/// Copies a tile over the one at the start of shared memory.
#[track_caller]
fn overwrite(memory: &Memory) {
    sync();
    if me() == 0 {
        memory.load_tile(0, 1);
    }
    simt::mbarrier_wait(barrier(1), false);
}

/// Waits for all groups and collects the accumulators.
#[track_caller]
fn finish(mut registers: Registers) {
    simt::wgmma_wait(0);
    simt::wgmma_collect(&mut registers);
}

/// The product of a tile with itself, complete with fences and waits.
#[track_caller]
fn product_by(instruction: Wgmma, tile: Operand) {
    let mut registers = begin();
    simt::wgmma(&mut registers, instruction, tile, tile, false);
    simt::wgmma_commit();
    finish(registers);
}

/// [`product_by`] the correct instruction.
#[track_caller]
fn product(tile: Operand) {
    product_by(INSTRUCTION, tile);
}

/// Copies a tile to byte `offset`, visible to all threads.
#[track_caller]
fn tile_at(memory: &Memory, offset: usize) {
    memory.start_tile(offset);
    simt::mbarrier_wait(barrier(0), false);
}

#[test]
fn a_tile_that_is_read_before_its_barrier() {
    twins(AsyncHazard, &["a bulk copy"], 128, |memory, right| {
        memory.start_tile(0);
        sync();
        if right {
            simt::mbarrier_wait(barrier(0), false);
        }
        product(tile(0));
        simt::mbarrier_wait(barrier(0), false);
    });
}

#[test]
fn a_tile_that_is_overwritten_while_a_product_reads_it() {
    let words = [
        "a product of warp",
        "may still read",
        "missing: a wait by the warpgroup",
    ];
    twins(AsyncHazard, &words, 128, |memory, right| {
        tile_at(memory, 0);
        let mut registers = begin();
        issue(&mut registers);
        simt::wgmma_commit();
        if right {
            simt::wgmma_wait(0);
        }
        overwrite(memory);
        finish(registers);
    });
}

/// A wait for all but one group frees the stage of the group before, not the newest group's.
#[test]
fn a_tile_that_is_released_one_group_too_early() {
    twins(AsyncHazard, &["may still read"], 128, |memory, right| {
        tile_at(memory, 0);
        let mut registers = begin();
        for _ in 0..2 {
            issue(&mut registers);
            simt::wgmma_commit();
        }
        simt::wgmma_wait(if right { 0 } else { 1 });
        overwrite(memory);
        finish(registers);
    });
}

#[test]
fn a_tile_of_the_threads_without_a_proxy_fence() {
    twins(
        MissingProxyFence,
        &["asynchronous proxy"],
        128,
        |_, right| {
            for place in 0..TILE_BYTES / 512 {
                store(shared(4 * me() as usize + 512 * place), 0_u32);
            }
            if right {
                simt::fence_proxy_async();
            }
            sync();
            product(tile(0));
        },
    );
}

#[test]
fn a_tile_with_another_swizzle() {
    let words = [
        "read with the 64-byte swizzle",
        "written with the 128-byte swizzle",
    ];
    twins(WrongSwizzle, &words, 128, |memory, right| {
        tile_at(memory, 0);
        let good = descriptor(0, 16, 1024);
        let of_64_bytes = good & !(3 << 62) & !(0x3fff << 32) | 2 << 62 | (512 >> 4) << 32;
        product(described(0, if right { good } else { of_64_bytes }));
    });
}

#[test]
fn a_descriptor_outside_of_its_tile() {
    let words = [
        "the descriptor of A",
        "outside of its tile, which has bytes 0 to 8192",
    ];
    twins(OutOfBounds, &words, 128, |memory, right| {
        tile_at(memory, 0);
        let stride = if right { 1024 } else { 2048 };
        product(described(0, descriptor(0, 16, stride)));
    });
}

#[test]
fn a_tile_that_is_not_aligned_to_its_swizzle() {
    twins(Misaligned, &["multiple of 1024"], 128, |memory, right| {
        let offset = if right { 1024 } else { 512 };
        tile_at(memory, offset);
        product(tile(offset));
    });
}

#[test]
fn a_group_that_is_never_waited_for() {
    twins(AsyncHazard, &["never waited for"], 128, |memory, right| {
        tile_at(memory, 0);
        let mut registers = begin();
        issue(&mut registers);
        simt::wgmma_commit();
        if right {
            simt::wgmma_wait(0);
        }
    });
}

#[test]
fn a_product_of_no_group() {
    twins(AsyncHazard, &["before the wait"], 128, |memory, right| {
        tile_at(memory, 0);
        let mut registers = begin();
        issue(&mut registers);
        if right {
            simt::wgmma_commit();
        }
        finish(registers);
    });
}

#[test]
fn accumulators_that_are_collected_before_the_wait() {
    twins(
        AsyncHazard,
        &["collected before the wait"],
        128,
        |memory, right| {
            tile_at(memory, 0);
            let mut registers = begin();
            issue(&mut registers);
            simt::wgmma_commit();
            if right {
                simt::wgmma_wait(0);
            }
            simt::wgmma_collect(&mut registers);
            simt::wgmma_wait(0);
        },
    );
}

#[test]
fn accumulators_without_a_fence() {
    twins(InvalidArgument, &["wgmma.fence"], 128, |memory, right| {
        tile_at(memory, 0);
        let mut registers = [0; 32];
        simt::wgmma_begin(&mut registers);
        if right {
            simt::wgmma_fence();
        }
        issue(&mut registers);
        simt::wgmma_commit();
        simt::wgmma_wait(0);
    });
}

#[test]
fn accumulators_that_were_not_passed() {
    twins(
        InvalidArgument,
        &["not with the tensor cores"],
        128,
        |memory, right| {
            tile_at(memory, 0);
            let mut registers = [0; 32];
            if right {
                simt::wgmma_begin(&mut registers);
            }
            simt::wgmma_fence();
            issue(&mut registers);
            simt::wgmma_commit();
            simt::wgmma_wait(0);
        },
    );
}

#[test]
fn a_product_of_three_warps() {
    let words = ["have issued [0, 1, 1, 1]"];
    twins(Deadlock, &words, 128, |memory, right| {
        tile_at(memory, 0);
        if right || me() >= 32 {
            product(tile(0));
        }
    });
}

#[test]
fn warps_with_different_products() {
    twins(
        WarpDivergence,
        &["different products"],
        128,
        |memory, right| {
            tile_at(memory, 0);
            let step = if right || me() < 96 { 0 } else { 32 };
            product(described(0, descriptor(step, 16, 1024)));
        },
    );
}

#[test]
fn lanes_with_different_products() {
    twins(
        WarpDivergence,
        &["different operands to one wgmma"],
        128,
        |memory, right| {
            tile_at(memory, 0);
            let step = if right || me() != 40 { 0 } else { 32 };
            product(described(0, descriptor(step, 16, 1024)));
        },
    );
}

#[test]
fn a_shape_that_there_is_not() {
    twins(InvalidArgument, &["12 columns"], 128, |memory, right| {
        tile_at(memory, 0);
        let n = if right { 64 } else { 12 };
        product_by(Wgmma { n, ..INSTRUCTION }, tile(0));
    });
}

#[test]
fn a_width_that_integers_do_not_have() {
    let words = ["40 columns of integers", "steps of 16"];
    twins(InvalidArgument, &words, 128, |memory, right| {
        tile_at(memory, 0);
        let instruction = Wgmma {
            a: ElementType::S8,
            b: ElementType::S8,
            n: if right { 64 } else { 40 },
            ..INSTRUCTION
        };
        product_by(instruction, tile(0));
    });
}
