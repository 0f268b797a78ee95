//! The table of mistakes with asynchronous instructions.

use crate::launch::launch;
use crate::mistake::Mistake;
use simt::DefectKind;
use tilewright::ModuleSource;
use tilewright_defect_kernels::{
    SHARED_BYTES, THREADS, barriers, clusters, copies, products, registers,
};

/// Rows `module::name and twin, shape, [kinds] "words", "text";`.
macro_rules! mistakes {
    ($($module:ident::$name:ident and $twin:ident, $shape:expr,
        [$($kind:ident)*] $words:literal, $text:literal;)*) => {
        /// Mistakes with asynchronous instructions.
        pub static MISTAKES: &[Mistake] = &[$(Mistake {
            name: stringify!($name),
            text: $text,
            kinds: &[$(DefectKind::$kind),*],
            words: $words,
            shape: $shape,
            shared_bytes: SHARED_BYTES,
            source: "",
            launch: |device, is_twin, config| match is_twin {
                false => launch(device, module_of!($name), $module::$name, config),
                true => launch(device, module_of!($twin), $module::$twin, config),
            },
        }),*];
    };
}

/// One block, and a cluster of two.
const ONE: (u32, u32) = (1, THREADS);
const TWO: (u32, u32) = (2, THREADS);

mistakes! {
    copies::store_without_a_proxy_fence and store_without_a_proxy_fence_twin, ONE,
        [MissingProxyFence] "fence.proxy.async",
        "a bulk store of what threads have written, without a proxy fence";
    copies::stage_read_before_its_barrier and stage_read_before_its_barrier_twin, ONE,
        [AsyncHazard] "a bulk copy",
        "a stage is read before its copies are waited for";
    copies::consumer_that_begins_anew and consumer_that_begins_anew_twin, ONE,
        [AsyncHazard DataRace Deadlock] "a bulk copy",
        "a consumer forgets its place in the ring, and waits for a phase that is past";
    copies::wait_by_one_thread and wait_by_one_thread_twin, ONE,
        [AsyncHazard] "no wait for it",
        "one thread waits for a stage, and others read it";
    copies::stage_filled_twice and stage_filled_twice_twin, ONE,
        [AsyncHazard] "is in flight",
        "two copies fill one place at the same time";
    copies::overwritten_while_a_store_reads and overwritten_while_a_store_reads_twin, ONE,
        [AsyncHazard] "may still read",
        "threads write what a bulk store still reads";
    copies::exit_while_a_store_reads and exit_while_a_store_reads_twin, ONE,
        [AsyncHazard] "never waited for",
        "a block ends while a bulk store still reads its memory";
    copies::store_of_no_group and store_of_no_group_twin, ONE,
        [AsyncHazard] "never waited for",
        "a bulk store belongs to no group, so that no wait is for it";
    copies::result_read_too_early and result_read_too_early_twin, ONE,
        [AsyncHazard] "a bulk store",
        "a thread reads what a bulk store has not written yet: it waited for its reads alone";
    copies::store_of_what_was_never_written and store_of_what_was_never_written_twin, ONE,
        [UninitialisedRead] "not been written",
        "a bulk store of words of which one was never written";
    copies::bytes_that_never_come and bytes_that_never_come_twin, ONE,
        [Deadlock] "512 of 544 expected bytes",
        "a stage expects more bytes than its copies have";
    copies::bytes_that_are_too_many and bytes_that_are_too_many_twin, ONE,
        [Deadlock] "512 of 256 expected bytes",
        "a stage expects fewer bytes than its copies have";
    copies::bytes_that_nothing_waits_for and bytes_that_nothing_waits_for_twin, ONE,
        [BarrierMisuse] "expects 64 bytes and has got 0",
        "a stage expects bytes that no copy brings, and nothing waits for it";
    copies::copy_of_the_wrong_size and copy_of_the_wrong_size_twin, ONE,
        [Misaligned] "72 bytes",
        "a copy whose bytes are no multiple of 16";
    copies::copy_to_a_misaligned_place and copy_to_a_misaligned_place_twin, ONE,
        [Misaligned] "must be multiples of 16",
        "a copy to an address that is no multiple of 16";
    copies::copy_from_past_the_end and copy_from_past_the_end_twin, ONE,
        [OutOfBounds] "1024",
        "a copy from past the end of a buffer";
    copies::copy_to_past_the_end and copy_to_past_the_end_twin, ONE,
        [OutOfBounds] "1024",
        "a copy to past the end of shared memory";

    barriers::ring_never_initialised and ring_never_initialised_twin, ONE,
        [BarrierMisuse] "has not been initialised",
        "a ring that was never initialised";
    barriers::initialisation_that_others_do_not_see and initialisation_that_others_do_not_see_twin, ONE,
        [BarrierMisuse] "before its initialisation is visible",
        "a ring whose initialisation other threads need not see";
    barriers::ring_initialised_again and ring_initialised_again_twin, ONE,
        [BarrierMisuse] "where one is in use",
        "a ring that is initialised for a second time";
    barriers::store_to_a_ring and store_to_a_ring_twin, ONE,
        [BarrierMisuse] "those of an mbarrier",
        "an ordinary store to the memory of a ring";
    barriers::arrivals_that_are_too_few and arrivals_that_are_too_few_twin, ONE,
        [Deadlock] "127 of its 128 arrivals",
        "one consumer of many does not release a stage";
    barriers::arrivals_that_are_too_many and arrivals_that_are_too_many_twin, ONE,
        [BarrierMisuse] "one arrival too many",
        "a producer states the bytes of a stage in two parts, which are two arrivals";
    barriers::ring_for_too_few_consumers and ring_for_too_few_consumers_twin, ONE,
        [AsyncHazard DataRace Deadlock] "a bulk copy",
        "a ring counts one consumer too few, so that a stage is filled while it is read";
    barriers::stage_never_released and stage_never_released_twin, ONE,
        [Deadlock] "0 of its 32 arrivals",
        "consumers never release a stage, so that its second use waits for ever";
    barriers::named_arrival_for_another_count and named_arrival_for_another_count_twin, ONE,
        [BarrierDivergence] "while others wait there for",
        "threads arrive at a named barrier for another number of threads than others wait for";
    barriers::named_arrival_in_place_of_a_wait and named_arrival_in_place_of_a_wait_twin, ONE,
        [DataRace] "races with",
        "threads arrive at a named barrier where they have to wait";

    clusters::write_without_a_barrier_of_the_cluster and write_without_a_barrier_of_the_cluster_twin, TWO,
        [DataRace] "races with",
        "a block writes the memory of the other one, and no barrier of the cluster stands between";
    clusters::end_while_others_write and end_while_others_write_twin, TWO,
        [BlockEnded] "barrier of the cluster",
        "a block ends while the other one writes its memory";
    clusters::end_while_others_arrive and end_while_others_arrive_twin, TWO,
        [BlockEnded] "barrier of the cluster",
        "a block ends while the other one arrives at its ring";
    clusters::end_before_a_multicast_lands and end_before_a_multicast_lands_twin, TWO,
        [BlockEnded] "in flight to its shared memory",
        "a block ends before a multicast has landed in its memory";
    clusters::multicast_into_a_tile_in_use and multicast_into_a_tile_in_use_twin, TWO,
        [AsyncHazard] "a bulk copy",
        "a multicast fills a tile that the other block still reads";
    clusters::stage_released_in_one_block and stage_released_in_one_block_twin, TWO,
        [AsyncHazard] "a bulk copy",
        "a stage that a multicast fills is released in one of the two blocks alone";
    clusters::multicast_to_an_absent_block and multicast_to_an_absent_block_twin, TWO,
        [InvalidArgument] "block 2 of a cluster of 2",
        "a multicast to a block that the cluster does not have";

    products::operand_before_its_barrier and operand_before_its_barrier_twin, ONE,
        [AsyncHazard] "a bulk copy",
        "a product reads a tile before its copy is waited for";
    products::operand_overwritten and operand_overwritten_twin, ONE,
        [AsyncHazard] "may still read",
        "a tile is filled again while a product reads it";
    products::operand_released_one_group_early and operand_released_one_group_early_twin, ONE,
        [AsyncHazard] "may still read",
        "a wait for all groups but one releases the tile of that one";
    products::operand_without_a_proxy_fence and operand_without_a_proxy_fence_twin, ONE,
        [MissingProxyFence] "asynchronous proxy",
        "a product reads what threads have written, without a proxy fence";
    products::group_never_waited_for and group_never_waited_for_twin, ONE,
        [AsyncHazard] "never waited for",
        "a block ends while its products run";
    products::products_of_no_group and products_of_no_group_twin, ONE,
        [AsyncHazard] "never waited for",
        "products that are never committed, so that no wait is for them";
    products::accumulators_before_the_wait and accumulators_before_the_wait_twin, ONE,
        [AsyncHazard] "before the wait",
        "accumulators are read while their product may run: the wait leaves out its group";
    products::product_of_three_warps and product_of_three_warps_twin, ONE,
        [Deadlock] "have issued [0, 4, 4, 4]",
        "one warp of a warpgroup leaves out a product";
    products::warps_with_different_operands and warps_with_different_operands_twin, ONE,
        [WarpDivergence] "different products",
        "one warp of a warpgroup multiplies another tile";
    products::lanes_with_different_operands and lanes_with_different_operands_twin, ONE,
        [WarpDivergence] "different operands",
        "one lane of a warp multiplies another tile";

    registers::more_registers_than_the_block_has and more_registers_than_the_block_has_twin, ONE,
        [InvalidArgument] "suffice for 168",
        "`setmaxnreg` for more registers than the block has";
    registers::registers_that_nothing_gives_back and registers_that_nothing_gives_back_twin, (1, 384),
        [Deadlock] "waits for 248 registers",
        "two warpgroups wait for more registers than the third gives back";
    registers::registers_of_three_warps and registers_of_three_warps_twin, ONE,
        [WarpDivergence] "some warps of warpgroup 0",
        "`setmaxnreg` by three warps of a warpgroup";
}
