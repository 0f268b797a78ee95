//! Mistakes between the blocks of a cluster, each with a correct twin.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

use crate::harness::{
    BARRIERS, barrier, barriers, launch, load, me, serial, shared, shared_of, store, sync,
    twins_in_cluster,
};
use simt::DefectKind::{
    AsyncHazard, BarrierDivergence, BarrierMisuse, BlockEnded, DataRace, Deadlock, InvalidArgument,
};

#[test]
fn ranks_and_remote_memory() {
    for seed in 0..16 {
        launch(&serial(seed), (8, 4, 64), &|| {
            let rank = simt::cluster_rank();
            assert_eq!(simt::position().block_idx.x % 4, rank);
            assert_eq!((simt::cluster_blocks(), simt::cluster_dim().x), (4, 4));
            assert_eq!(simt::block_idx_in_cluster().x, rank);
            store(shared(4 * me() as usize), 100 * rank + me());
            simt::cluster_barrier();
            let other = (rank + 1) % 4;
            let value: u32 = load(shared_of(other, 4 * me() as usize));
            assert_eq!(value, 100 * other + me());
            simt::cluster_barrier_arrive();
            simt::cluster_barrier_wait();
        })
        .unwrap();
    }
}

/// Each block uses its static arrays in a different order, and others write to them first.
#[test]
fn static_arrays_are_at_the_same_place_in_each_block() {
    for seed in 0..16 {
        launch(&serial(seed), (2, 2, 32), &|| {
            let rank = simt::cluster_rank() as usize;
            let array = |key: usize| simt::static_shared(key, 128 * key, 16);
            if rank == 0 {
                let of_other = simt::map_shared(array(1).addr() + 4 * me() as usize, 1);
                store(std::ptr::with_exposed_provenance_mut(of_other), 7 + me());
            } else {
                array(2);
            }
            simt::cluster_barrier();
            let (one, two) = (array(1).addr(), array(2).addr());
            assert_eq!(
                simt::shared_offset(two) < simt::shared_offset(one),
                two < one
            );
            if rank == 1 {
                let mine = array(1).wrapping_add(4 * me() as usize);
                assert_eq!(load::<u32>(mine), 7 + me());
            }
            simt::cluster_barrier();
        })
        .unwrap();
    }
}

#[test]
fn remote_memory_without_a_barrier_of_the_cluster() {
    twins_in_cluster(DataRace, &["of block"], (2, 32), |_, right| {
        simt::cluster_barrier();
        let rank = simt::cluster_rank();
        store(shared(4 * me() as usize), rank);
        match right {
            true => simt::cluster_barrier(),
            false => sync(),
        }
        if rank == 0 {
            store(shared_of(1, 4 * me() as usize), 5_u32);
        }
        simt::cluster_barrier();
    });
}

#[test]
fn a_block_that_ends_while_others_address_it() {
    twins_in_cluster(
        BlockEnded,
        &["barrier of the cluster"],
        (2, 32),
        |_, right| {
            simt::cluster_barrier();
            if simt::cluster_rank() == 0 {
                store(shared_of(1, 4 * me() as usize), 5_u32);
            }
            if right {
                simt::cluster_barrier();
            }
        },
    );
}

#[test]
fn a_block_that_ends_while_others_arrive_in_it() {
    twins_in_cluster(
        BlockEnded,
        &["barrier of the cluster"],
        (2, 32),
        |_, right| {
            barriers(BARRIERS, &[32]);
            if simt::cluster_rank() == 0 {
                simt::mbarrier_arrive(simt::map_shared(barrier(0), 1));
            }
            if right {
                simt::cluster_barrier();
            }
        },
    );
}

#[test]
fn a_block_that_ends_before_a_multicast_lands() {
    twins_in_cluster(
        BlockEnded,
        &["in flight to its shared memory"],
        (2, 32),
        |memory, right| {
            barriers(BARRIERS, &[1]);
            if me() == 0 {
                simt::mbarrier_arrive_expect(barrier(0), 512);
                if simt::cluster_rank() == 0 {
                    memory.copy_words(512, 0, Some(3));
                }
            }
            if right || simt::cluster_rank() == 0 {
                simt::mbarrier_wait(barrier(0), false);
            }
            simt::cluster_barrier();
        },
    );
}

#[test]
fn a_multicast_into_a_stage_that_the_other_block_reads() {
    twins_in_cluster(
        AsyncHazard,
        &["a bulk copy writes", "of block (1, 0, 0)"],
        (2, 32),
        |memory, right| {
            barriers(BARRIERS, &[1, 1]);
            for round in 0..2 {
                if me() == 0 {
                    simt::mbarrier_arrive_expect(barrier(round), 512);
                    if simt::cluster_rank() == 0 {
                        memory.copy_words(512, round, Some(3));
                    }
                }
                simt::mbarrier_wait(barrier(round), false);
                assert_eq!(load::<u32>(shared(4 * me() as usize)), me());
                match right {
                    true => simt::cluster_barrier(),
                    false => sync(),
                }
            }
            simt::cluster_barrier();
        },
    );
}

/// Stages are released by arrivals at the barrier of the multicasting block.
#[test]
fn a_stage_that_is_released_in_one_block_alone() {
    twins_in_cluster(
        AsyncHazard,
        &["a bulk copy writes"],
        (2, 32),
        |memory, right| {
            let arrivals = if right { 64 } else { 32 };
            barriers(BARRIERS, &[1, arrivals]);
            for round in 0..2 {
                let parity = round == 1;
                if me() == 0 {
                    simt::mbarrier_arrive_expect(barrier(0), 512);
                    if simt::cluster_rank() == 0 {
                        simt::mbarrier_wait(barrier(1), !parity);
                        memory.copy_words(512, 0, Some(3));
                    }
                }
                simt::mbarrier_wait(barrier(0), parity);
                load::<u32>(shared(4 * me() as usize));
                if right || simt::cluster_rank() == 0 {
                    simt::mbarrier_arrive(simt::map_shared(barrier(1), 0));
                }
                sync();
            }
            simt::cluster_barrier();
        },
    );
}

#[test]
fn a_remote_arrival_without_a_fence_of_the_initialisation() {
    let words = [
        "before its initialisation is visible",
        "fence.mbarrier_init",
    ];
    twins_in_cluster(BarrierMisuse, &words, (2, 32), |_, right| {
        if me() == 0 {
            simt::mbarrier_init(barrier(0), 32);
            if right {
                simt::fence_mbarrier_init();
            }
        }
        simt::cluster_barrier();
        let other = 1 - simt::cluster_rank();
        simt::mbarrier_arrive(simt::map_shared(barrier(0), other));
        simt::mbarrier_wait(barrier(0), false);
    });
}

#[test]
fn two_arrivals_at_the_barrier_of_the_cluster() {
    twins_in_cluster(
        BarrierDivergence,
        &["for a second time"],
        (2, 32),
        |_, right| {
            simt::cluster_barrier_arrive();
            if right {
                simt::cluster_barrier_wait();
            }
            simt::cluster_barrier_arrive();
            simt::cluster_barrier_wait();
        },
    );
}

#[test]
fn a_multicast_to_a_block_that_is_not_there() {
    twins_in_cluster(
        InvalidArgument,
        &["block 2 of a cluster of 2"],
        (2, 32),
        |memory, right| {
            barriers(BARRIERS, &[1]);
            if me() == 0 {
                simt::mbarrier_arrive_expect(barrier(0), 512);
                if simt::cluster_rank() == 0 {
                    memory.copy_words(512, 0, Some(if right { 3 } else { 5 }));
                }
            }
            simt::mbarrier_wait(barrier(0), false);
            simt::cluster_barrier();
        },
    );
}

/// The report names the waiting block, not the one that waits for it at the barrier of the cluster.
#[test]
fn a_deadlock_of_the_second_block() {
    let words = ["0 of its 1 arrivals", "of block (1, 0, 0)"];
    twins_in_cluster(Deadlock, &words, (2, 32), |_, right| {
        barriers(BARRIERS, &[1]);
        if simt::cluster_rank() == 1 && me() == 0 {
            if right {
                simt::mbarrier_arrive(barrier(0));
            }
            simt::mbarrier_wait(barrier(0), false);
        }
        simt::cluster_barrier();
    });
}
