//! Mutants that few seeds find, or none.

/// The kernel, and the number of the removed instruction among its synchronising instructions.
pub type Mutant = (&'static str, usize);

/// Kernels that are right without the instruction, in the order of the table.
pub const HARMLESS: [Mutant; 5] = [
    // Of these two fences, `membar.gl`, either suffices. Each thread has one before a barrier of the block; thread 0 has
    // another behind that barrier, before it takes the block's ticket. Without the first, the barrier and the second
    // order all threads' additions before the ticket. Without the second, the first and the fence of the last block do:
    // sequentially consistent fences have an order, and if the last block's came first, its ticket would come before a
    // ticket that it has counted.
    ("reduce_sum_reproducible_f64", 5),
    ("reduce_sum_reproducible_f64", 7),
    // The barrier after a row is stored from shared memory: no block has another row there.
    ("softmax_block_f32", 3),
    // The warp's barrier after the last vector is stored: the kernel ends.
    ("softmax_block_f32", 19),
    // The warp's barrier before it stages a part of its outputs. In small tiles a warp has one part, which is behind a
    // barrier of the block. In large tiles it has more, and the same barrier is needed: `matmul_mma_f16_nn`.
    ("matmul_mma_small_f16_nn", 5),
];

/// Mutants that the first seeds do not find, and a seed that does.
pub const RARE: [(Mutant, u64); 2] = [
    // The barrier between all threads' additions to the totals, which are atomic, and the block's ticket. Without it, a
    // warp of one block has to stay behind until the last block has read the totals.
    (("reduce_sum_reproducible_f64", 6), 187),
    // The fence of the last block, behind its ticket. Without it, an atomic load of a total may return the block's own
    // addition to it, and not another block's later one. For that, the last block has to add and to fence before the
    // other block adds, and to take its ticket after it.
    (("reduce_sum_reproducible_f64", 9), 5456),
];

/// The seed that finds a rare mutant.
pub fn rare_seed(mutant: Mutant) -> Option<u64> {
    let found = RARE.iter().find(|(rare, _)| *rare == mutant);
    found.map(|(_, seed)| *seed)
}
