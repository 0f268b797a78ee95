//! The table of defects from public bug histories.

use crate::launch::launch_public;
use crate::mistake::Mistake;
use simt::DefectKind;
use tilewright::ModuleSource;
use tilewright_defect_kernels::public::{
    ELEMENTS, block_races, bounds, divergence, grid_races, orders, tiles, unwritten, warp_races,
};

/// Rows `module::name and twin, shape, [kinds] "words", "text", "source";`.
macro_rules! public_defects {
    ($($module:ident::$name:ident and $twin:ident, $shape:expr,
        [$($kind:ident)*] $words:literal, $text:literal, $source:literal;)*) => {
        /// Defects from public bug histories.
        pub static PUBLIC: &[Mistake] = &[$(Mistake {
            name: stringify!($name),
            text: $text,
            kinds: &[$(DefectKind::$kind),*],
            words: $words,
            shape: $shape,
            shared_bytes: (ELEMENTS * size_of::<u32>()) as u32,
            source: $source,
            launch: |device, is_twin, config| match is_twin {
                false => launch_public(device, module_of!($name), $module::$name, config),
                true => launch_public(device, module_of!($twin), $module::$twin, config),
            },
        }),*];
    };
}

public_defects! {
    block_races::reduction_without_a_barrier and reduction_without_a_barrier_twin, (1, 64),
        [DataRace UninitialisedRead] "races with",
        "the first step of a reduction reads what another warp stores", "arrayfire/arrayfire#633";
    block_races::totals_read_by_all and totals_read_by_all_twin, (1, 64),
        [DataRace UninitialisedRead] "not been written",
        "one thread stores two totals, and all read them", "ORNL/HeCBench#254";
    block_races::cascade_of_filters and cascade_of_filters_twin, (1, 64),
        [DataRace] "races with",
        "each thread reads its neighbour's result of the last round and stores its own, without a barrier between", "ORNL/HeCBench#256";
    block_races::scan_in_place and scan_in_place_twin, (1, 64),
        [DataRace] "races with",
        "a scan of Hillis and Steele in one array, over more than a warp", "ORNL/HeCBench#255";
    block_races::row_of_a_vertex_in_use and row_of_a_vertex_in_use_twin, (1, 64),
        [DataRace] "races with",
        "shortest paths through vertex k are tried while the row of vertex k changes", "ORNL/HeCBench#261";
    block_races::zeroed_and_counted and zeroed_and_counted_twin, (1, 64),
        [AtomicRace UninitialisedRead] "not been written",
        "counters are set to zero and counted up without a barrier between", "alicevision/popsift#82";
    block_races::sorted_before_all_are_there and sorted_before_all_are_there_twin, (1, 64),
        [DataRace UninitialisedRead] "races with",
        "a warp sorts values that other warps still store", "alicevision/popsift#82";
    block_races::total_of_rounds and total_of_rounds_twin, (1, 64),
        [DataRace] "races with",
        "the total of a scan's rounds is added to while others still take it", "alicevision/popsift#82";
    block_races::shared_sum_without_atomics and shared_sum_without_atomics_twin, (1, 64),
        [DataRace] "races with",
        "every thread adds to one word of shared memory, not atomically", "numba/numba#4907";
    block_races::second_sum_too_early and second_sum_too_early_twin, (1, 64),
        [DataRace] "races with",
        "two sums of a block in a row: the second one stores its parts while the first one is read", "pytorch/pytorch#83825";

    tiles::tile_reloaded_too_early and tile_reloaded_too_early_twin, (1, 64),
        [DataRace] "races with",
        "the next tile is stored while the last one is read", "ORNL/HeCBench#253";
    tiles::row_summed_by_one_thread and row_summed_by_one_thread_twin, (1, 64),
        [DataRace] "races with",
        "the first thread sums up a row while the others begin the next one", "NVIDIA/cuml#6578";
    tiles::field_of_the_next_level and field_of_the_next_level_twin, (1, 64),
        [DataRace] "races with",
        "a field of one level is stored for the next one while other warps read it", "GridTools/gridtools#617";
    tiles::transposes_in_a_row and transposes_in_a_row_twin, (1, 64),
        [DataRace] "races with",
        "a transpose by way of shared memory goes on to the next matrix after one barrier", "ggml-org/llama.cpp#20507";
    tiles::factors_of_the_next_step and factors_of_the_next_step_twin, (1, 64),
        [DataRace] "races with",
        "the factors of a step of a recurrence are replaced while the step reads them", "ggml-org/llama.cpp#24360";
    tiles::mask_of_the_next_part and mask_of_the_next_part_twin, (1, 64),
        [DataRace] "races with",
        "warps leave out a part by what they read of its mask, and store the next mask at different times", "ggml-org/llama.cpp#13742";
    tiles::numbers_of_rows and numbers_of_rows_twin, (1, 64),
        [DataRace] "races with",
        "numbers of rows in shared memory are stored for the next round while warps use them", "ggml-org/llama.cpp#13294";

    warp_races::reduction_of_lanes_in_step and reduction_of_lanes_in_step_twin, (1, 32),
        [DataRace] "races with",
        "the last steps of a reduction without a barrier of the warp", "kaldi-asr/kaldi#3080";
    warp_races::reduction_with_half_its_barriers and reduction_with_half_its_barriers_twin, (1, 32),
        [DataRace] "races with",
        "one barrier of the warp in each step: reads and stores are in one phase", "NVIDIA, Using CUDA Warp-Level Primitives";
    warp_races::storage_used_twice and storage_used_twice_twin, (1, 32),
        [DataRace] "races with",
        "two uses of one place in shared memory with no barrier between", "NVIDIA/cccl#2699";
    warp_races::neighbours_of_other_lanes and neighbours_of_other_lanes_twin, (1, 32),
        [DataRace UninitialisedRead] "not been written",
        "lanes store nearest neighbours, and other lanes of the warp read them", "NVIDIA/raft#679";
    warp_races::levels_of_a_tree and levels_of_a_tree_twin, (1, 32),
        [DataRace UninitialisedRead] "races with",
        "every sixteenth lane stores what every eighth one reads", "tpruvot/ccminer#75";
    warp_races::sum_changed_after_the_barrier and sum_changed_after_the_barrier_twin, (1, 32),
        [DataRace] "races with",
        "one lane changes a sum after the barrier, after which all lanes read it", "kokkos/kokkos#6630";
    warp_races::prefix_sum_in_place and prefix_sum_in_place_twin, (1, 32),
        [DataRace] "races with",
        "a prefix sum that adds in place, within a warp", "modular/mojo-gpu-puzzles#26";
    warp_races::values_of_a_run and values_of_a_run_twin, (1, 32),
        [DataRace] "races with",
        "values of the next run are stored while lanes take those of the last one", "NVIDIA/cudf#9916";

    grid_races::output_zeroed_by_one_block and output_zeroed_by_one_block_twin, (4, 32),
        [AtomicRace] "races with",
        "one block sets the output to zero while the others add to it", "vllm-project/vllm#30719";
    grid_races::count_cleared_by_the_first_thread and count_cleared_by_the_first_thread_twin, (2, 32),
        [AtomicRace] "races with",
        "the first thread sets a count to zero that all threads count up", "openwall/john#4975";
    grid_races::count_of_a_number and count_of_a_number_twin, (2, 32),
        [DataRace] "races with",
        "threads whose elements have one number add to it, not atomically", "VITA-Group/LightGaussian#24";
    grid_races::count_of_missing_values and count_of_missing_values_twin, (2, 64),
        [DataRace] "races with",
        "threads that find a missing value count it, not atomically", "scikit-hep/awkward#2225";
    grid_races::path_shortened_by_plain_stores and path_shortened_by_plain_stores_twin, (2, 32),
        [AtomicRace] "races with",
        "a path of a forest is shortened by plain stores and linked atomically", "ORNL/HeCBench#295";
    grid_races::support_counted_down and support_counted_down_twin, (1, 64),
        [AtomicRace] "races with",
        "a support is compared by a plain load while others count it atomically", "gunrock/gunrock#829";
    grid_races::reduction_of_several_blocks and reduction_of_several_blocks_twin, (3, 32),
        [DataRace] "races with",
        "a reduction for one block is launched with several", "kaldi-asr/kaldi#3036";
    grid_races::flag_stored_by_many and flag_stored_by_many_twin, (2, 32),
        [DataRace] "races with",
        "every thread that finds a vertex stores that the search goes on", "Rodinia, bfs (`g_over`)";
    grid_races::push_to_neighbours and push_to_neighbours_twin, (2, 32),
        [DataRace] "races with",
        "vertices push their value to neighbours by a comparison and a store", "Indigo, push";
    grid_races::place_in_a_list and place_in_a_list_twin, (2, 32),
        [DataRace] "races with",
        "threads take a place in a list by a load and a store of its length", "Indigo, populate-worklist";
    grid_races::guard_of_a_maximum and guard_of_a_maximum_twin, (2, 32),
        [AtomicRace] "races with",
        "a maximum is compared by a plain load before it is updated atomically", "Indigo, conditional-vertex";
    grid_races::cells_set_up_by_one_thread and cells_set_up_by_one_thread_twin, (2, 64),
        [AtomicRace] "races with",
        "cells are set up by one thread of the block and counted up by the others", "ComputationalRadiationPhysics/picongpu#3239";
    grid_races::features_of_too_many_points and features_of_too_many_points_twin, (2, 32),
        [DataRace] "races with",
        "points are turned to rows of features by more threads than there are points",
        "GPUVerify's tests, kmeans_swap of Rodinia";
    grid_races::last_value_of_each_block and last_value_of_each_block_twin, (4, 32),
        [DataRace] "races with",
        "all blocks store their last value to one element", "jax-ml/jax#37183";

    orders::last_block_without_its_fence and last_block_without_its_fence_twin, (4, 32),
        [DataRace] "races with",
        "the last block reads what the others have stored, with no fence after the counter", "pytorch/pytorch#128455";
    orders::partial_sum_without_a_fence and partial_sum_without_a_fence_twin, (4, 32),
        [DataRace] "races with",
        "each block counts itself without a fence after its partial sum", "CUDA C++ Programming Guide, Memory Fence Functions";
    orders::fence_of_too_narrow_a_scope and fence_of_too_narrow_a_scope_twin, (4, 32),
        [DataRace] "races with",
        "the fences are for the block, where blocks meet", "ScoRD (ISCA 2020)";
    orders::semaphore_without_a_fence and semaphore_without_a_fence_twin, (3, 64),
        [DataRace] "races with",
        "blocks add one after the other, and hand on without a fence", "NVIDIA/Fuser#2391";
    orders::lock_released_without_a_fence and lock_released_without_a_fence_twin, (3, 32),
        [DataRace] "races with",
        "a lock is released without a fence", "kokkos/kokkos#3038";
    orders::lock_taken_without_a_fence and lock_taken_without_a_fence_twin, (3, 32),
        [DataRace] "races with",
        "a lock is taken without a fence", "CUDA by Example, by Alglave et al. (ASPLOS 2015)";
    orders::task_published_without_a_fence and task_published_without_a_fence_twin, (2, 32),
        [DataRace] "races with",
        "a task is put into a queue whose end is published without a fence", "Cederman and Tsigas, by Alglave et al. (ASPLOS 2015)";
    orders::task_stolen_without_a_fence and task_stolen_without_a_fence_twin, (2, 32),
        [DataRace] "races with",
        "a thief takes a task as soon as it sees the end of the queue", "Cederman and Tsigas, by Alglave et al. (ASPLOS 2015)";
    orders::block_reported_as_done and block_reported_as_done_twin, (4, 64),
        [AtomicRace DataRace] "races with",
        "the first thread says that its block has merged its counts, while others still merge", "NVIDIA/cccl#10627";
    orders::flag_without_atomics and flag_without_atomics_twin, (2, 32),
        [DataRace] "races with",
        "a flag between blocks is plain, as what it is for", "llnl/dataracebench#142 (DRB185)";

    divergence::barrier_in_a_branch and barrier_in_a_branch_twin, (1, 64),
        [BarrierDivergence] "barrier",
        "a barrier in a branch that a part of the block takes", "acts-project/acts#307";
    divergence::barrier_of_even_lanes and barrier_of_even_lanes_twin, (1, 64),
        [BarrierDivergence] "barrier",
        "a barrier that every second lane reaches", "tile-ai/tilelang#1026";
    divergence::return_before_a_barrier and return_before_a_barrier_twin, (1, 64),
        [BarrierDivergence] "has exited",
        "threads without work return, and the others wait for them", "proteneer/timemachine#1218";
    divergence::return_in_the_last_block and return_in_the_last_block_twin, (2, 64),
        [BarrierDivergence] "has exited",
        "threads past the end return, in the last block alone", "acts-project/traccc#137";
    divergence::barrier_that_some_warps_leave_out and barrier_that_some_warps_leave_out_twin, (1, 64),
        [BarrierDivergence] "barrier",
        "some warps go through a barrier that others leave out", "ggml-org/llama.cpp#13469";
    divergence::barriers_of_those_that_add and barriers_of_those_that_add_twin, (1, 64),
        [BarrierDivergence] "barrier",
        "barriers of a reduction are in the branch of the threads that add", "AccelerateHS/accelerate-cuda#5";
    divergence::loop_left_on_data and loop_left_on_data_twin, (1, 64),
        [BarrierDivergence] "barrier",
        "a loop with a barrier is left by some warps, on data", "1bit-MONSTER/1bit-MONSTER#1262";
    divergence::shuffle_of_a_full_mask and shuffle_of_a_full_mask_twin, (1, 32),
        [WarpDivergence] "mask",
        "a shuffle of the whole warp in a branch of half of it", "NVIDIA, Using CUDA Warp-Level Primitives";
    divergence::vote_without_the_caller and vote_without_the_caller_twin, (1, 32),
        [WarpDivergence] "mask",
        "a vote by lanes that its mask does not name", "brucefan1983/CUDA-Programming#51";
    divergence::mask_of_another_part and mask_of_another_part_twin, (1, 32),
        [WarpDivergence] "mask",
        "the mask of a part of the warp is that of another part", "kokkos/kokkos#1958";
    divergence::mask_of_five_bits and mask_of_five_bits_twin, (1, 32),
        [WarpDivergence] "mask",
        "a mask with as many bits as a lane's number has", "NVIDIA/cutlass#1094";
    divergence::barrier_of_absent_lanes and barrier_of_absent_lanes_twin, (1, 32),
        [WarpDivergence] "mask",
        "a barrier of the warp names lanes that do not come", "NVIDIA/compute-sanitizer-samples, Synccheck";

    bounds::no_comparison_with_the_length and no_comparison_with_the_length_twin, (1, 64),
        [OutOfBounds] "256",
        "a grid of whole blocks, and no comparison with the number of elements", "risc0/risc0#3803";
    bounds::load_without_the_mask and load_without_the_mask_twin, (1, 64),
        [OutOfBounds] "256",
        "the store is masked at the tail, and the load is not", "flagos-ai/FlagGems#5230";
    bounds::read_before_the_comparison and read_before_the_comparison_twin, (1, 64),
        [OutOfBounds] "256",
        "a thread of the last block reads its element before it compares", "boostorg/compute#772";
    bounds::window_past_the_last_row and window_past_the_last_row_twin, (1, 64),
        [OutOfBounds] "256",
        "a filter's window goes past the last row", "ORNL/HeCBench#112";
    bounds::tile_of_an_odd_matrix and tile_of_an_odd_matrix_twin, (1, 64),
        [OutOfBounds] "256",
        "the diagonal tile of a matrix whose size is no multiple of the tile's", "ORNL/HeCBench#122";
    bounds::transpose_with_swapped_sides and transpose_with_swapped_sides_twin, (1, 64),
        [OutOfBounds] "256",
        "a transpose that takes the width for the height", "ORNL/HeCBench#129";
    bounds::rows_that_are_not_there and rows_that_are_not_there_twin, (1, 64),
        [OutOfBounds] "256",
        "an image with fewer rows than it is taken to have", "ORNL/HeCBench#124";
    bounds::end_of_the_last_row and end_of_the_last_row_twin, (1, 64),
        [OutOfBounds] "256",
        "the end of the last row is read where the offsets have ended", "GPUPeople/spECK#10";
    bounds::more_sums_than_there_are and more_sums_than_there_are_twin, (1, 64),
        [OutOfBounds] "256",
        "sums in shared memory are read by more threads than there are sums", "ggml-org/llama.cpp#10740";
    bounds::vector_from_an_odd_element and vector_from_an_odd_element_twin, (1, 64),
        [Misaligned] "multiple of 8",
        "two elements at a time, from an odd one on", "apache/tvm#8540";
    bounds::vectors_of_odd_rows and vectors_of_odd_rows_twin, (1, 64),
        [Misaligned] "multiple of 16",
        "rows of odd length, four elements at a time", "apache/mahout#1108";
    bounds::vectors_behind_the_sums and vectors_behind_the_sums_twin, (1, 16),
        [Misaligned] "multiple of 16",
        "vectors in shared memory after as many sums as there are warps", "flashinfer-ai/flashinfer#636";

    unwritten::sum_that_begins_with_anything and sum_that_begins_with_anything_twin, (1, 32),
        [UninitialisedRead] "not been written",
        "a sum in shared memory begins with what an earlier block has left", "numba/numba#6076";
    unwritten::halo_of_the_last_window and halo_of_the_last_window_twin, (1, 64),
        [UninitialisedRead] "not been written",
        "the halo of a window at the end of the array is not filled", "dlsys-course/examples#1";
    unwritten::convolution_at_the_boundary and convolution_at_the_boundary_twin, (1, 64),
        [UninitialisedRead] "not been written",
        "a convolution reads past the elements that were filled", "modular/mojo-gpu-puzzles#9";
    unwritten::parts_that_are_left_out and parts_that_are_left_out_twin, (1, 64),
        [UninitialisedRead] "not been written",
        "threads past the end leave out their part of a sum of the block", "lattice/quda#276";
    unwritten::rounds_never_set and rounds_never_set_twin, (1, 32),
        [UninitialisedRead] "not been written",
        "a number of rounds is compared before anything has set it", "gpufit/Gpufit#76";
    unwritten::bits_behind_the_mask and bits_behind_the_mask_twin, (1, 64),
        [UninitialisedRead] "not been written",
        "bits are counted to the end of an allocation that is longer than the mask", "NVIDIA/cudf#8873";
}
