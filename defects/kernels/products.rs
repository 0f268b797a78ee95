//! Mistakes with products of a warpgroup.

use crate::{Memory, Parts, TILE, Tile, is_first, me, twins};
use cuda_std::prelude::*;
use cuda_std::tma;
use cuda_std::wgmma::{Accumulator, InFlight, M64N64};
use half::bf16;

/// Accumulators per thread.
const COUNT: usize = TILE / 2;

/// Loads zeros into the first tile, visible to all threads.
///
/// # Safety
/// 1. All threads of the block make the call, once.
#[inline(always)]
#[track_caller]
unsafe fn bring_tile(memory: Memory<'_>, parts: Parts<'_>) {
    // SAFETY: all threads make the call, once: the caller's contract. Nothing accesses the tile before the copy has
    // been waited for.
    unsafe {
        start_tile(memory, parts);
        let _ = parts.ring.consumer().wait();
    }
}

/// [`bring_tile`] without the wait.
///
/// # Safety
/// 1. All threads of the block make the call, once.
#[inline(always)]
#[track_caller]
unsafe fn start_tile(memory: Memory<'_>, parts: Parts<'_>) {
    // SAFETY: all threads make the call, once: the caller's contract. Nothing else accesses the
    // tile here.
    unsafe {
        parts.init(1);
        if is_first() {
            parts.fill_tile(memory, &parts.ring.producer().acquire());
        }
    }
}

/// Copies the tile of zeros over the first tile, and waits for it.
///
/// # Safety
/// 1. All threads of the block make the call, once, and products have read the tile.
#[inline(always)]
#[track_caller]
unsafe fn overwrite(memory: Memory<'_>, parts: Parts<'_>) {
    thread::sync_threads();
    // SAFETY: the other ring is initialised together with the first. Products have read the tile:
    // the caller's contract.
    unsafe {
        if is_first() {
            parts.fill_tile(memory, &parts.pair.producer().acquire());
        }
        let _ = parts.pair.consumer().wait();
    }
}

/// Starts the product of a tile with itself, as a group.
///
/// # Safety
/// 1. As for [`multiply`](cuda_std::wgmma::Products::multiply).
#[inline(always)]
#[track_caller]
unsafe fn start(sums: InFlight<COUNT>, tile: Tile<'_>) -> InFlight<COUNT> {
    let mut products = sums.begin();
    // SAFETY: the caller's contract.
    unsafe { products.multiply(tile.k_major(), tile.k_major()) };
    products.commit()
}

/// Writes one sum of each thread to the output.
///
/// # Safety
/// 1. The output has a word for each thread of the block.
#[inline(always)]
#[track_caller]
unsafe fn put(memory: Memory<'_>, sums: &Accumulator<COUNT>) {
    // SAFETY: the output has a word for each thread: the caller's contract. Each thread writes its
    // own.
    unsafe { memory.out.store(me(), sums.get(0).to_bits()) };
}

/// Loads zeros into both tiles, visible to all threads.
///
/// # Safety
/// 1. All threads of the block make the call, once.
#[inline(always)]
#[track_caller]
unsafe fn both_tiles(memory: Memory<'_>, parts: Parts<'_>) {
    // SAFETY: all threads make the call, once: the caller's contract. The copies are waited for.
    unsafe {
        parts.init(1);
        if is_first() {
            let slot = parts.ring.producer().acquire();
            slot.expect(2 * Tile::BYTES);
            memory.tiles.load(parts.tiles.get(0), &slot, (0, 0));
            memory.tiles.load(parts.tiles.get(1), &slot, (0, 0));
        }
        let _ = parts.ring.consumer().wait();
    }
}

twins! {
    /// A product reads a tile before its copy is waited for.
    operand_before_its_barrier operand_before_its_barrier_twin(memory, parts) {
        start_tile(memory, parts);
        thread::sync_threads();
        if RIGHT {
            let _ = parts.ring.consumer().wait();
        }
        put(memory, &start(M64N64::zero().accumulate(), parts.tiles.get(0)).wait());
        if !RIGHT {
            let _ = parts.ring.consumer().wait();
        }
    }

    /// A tile is filled again while a product reads it.
    operand_overwritten operand_overwritten_twin(memory, parts) {
        bring_tile(memory, parts);
        let mut sums = start(M64N64::zero().accumulate(), parts.tiles.get(0));
        if RIGHT {
            sums.wait_all_but::<0>();
        }
        overwrite(memory, parts);
        put(memory, &sums.wait());
    }

    /// A wait for all groups but one releases the stage of the group before, not its own.
    operand_released_one_group_early operand_released_one_group_early_twin(memory, parts) {
        bring_tile(memory, parts);
        let sums = start(M64N64::zero().accumulate(), parts.tiles.get(0));
        let mut sums = start(sums, parts.tiles.get(0));
        if RIGHT {
            sums.wait_all_but::<0>();
        } else {
            sums.wait_all_but::<1>();
        }
        overwrite(memory, parts);
        put(memory, &sums.wait());
    }

    /// A product reads what threads have written, without a proxy fence.
    operand_without_a_proxy_fence operand_without_a_proxy_fence_twin(memory, parts) {
        let tile = parts.tiles.get(0);
        let mut column = me() % 2 * 32;
        while column < (me() % 2 + 1) * 32 {
            tile.store_vector(me() / 2, column, [bf16::from_bits(0); 8]);
            column += 8;
        }
        if RIGHT {
            tma::fence();
        }
        thread::sync_threads();
        put(memory, &start(M64N64::zero().accumulate(), tile).wait());
    }

    /// A block ends while its products run.
    group_never_waited_for group_never_waited_for_twin(memory, parts) {
        bring_tile(memory, parts);
        let sums = start(M64N64::zero().accumulate(), parts.tiles.get(0));
        if RIGHT {
            put(memory, &sums.wait());
        }
    }

    /// Products that are never committed, so that no wait covers them.
    products_of_no_group products_of_no_group_twin(memory, parts) {
        bring_tile(memory, parts);
        let tile = parts.tiles.get(0);
        let mut products = M64N64::zero().accumulate().begin();
        products.multiply(tile.k_major(), tile.k_major());
        if RIGHT {
            put(memory, &products.commit().wait());
        }
    }

    /// Accumulators are read while their product may run: the wait leaves out its group.
    accumulators_before_the_wait accumulators_before_the_wait_twin(memory, parts) {
        bring_tile(memory, parts);
        let sums = start(M64N64::zero().accumulate(), parts.tiles.get(0));
        if RIGHT {
            put(memory, &sums.wait());
        } else {
            put(memory, &sums.wait_before::<1>());
        }
    }

    /// One warp of the warpgroup leaves out a product.
    product_of_three_warps product_of_three_warps_twin(memory, parts) {
        bring_tile(memory, parts);
        if RIGHT || me() >= 32 {
            put(memory, &start(M64N64::zero().accumulate(), parts.tiles.get(0)).wait());
        }
    }

    /// One warp of the warpgroup multiplies another tile.
    warps_with_different_operands warps_with_different_operands_twin(memory, parts) {
        both_tiles(memory, parts);
        let tile = if RIGHT { 0 } else { me() / 96 };
        put(memory, &start(M64N64::zero().accumulate(), parts.tiles.get(tile)).wait());
    }

    /// One lane of a warp multiplies another tile.
    lanes_with_different_operands lanes_with_different_operands_twin(memory, parts) {
        both_tiles(memory, parts);
        let tile = usize::from(!RIGHT && me() == 40);
        put(memory, &start(M64N64::zero().accumulate(), parts.tiles.get(tile)).wait());
    }
}
