//! Asynchronous copies.

use crate::harness::{me, shared, twins};
use cuda_std::prelude::*;
use simt::DefectKind::{AsyncHazard, DataRace};

#[test]
fn read_before_its_wait() {
    let found = twins(AsyncHazard, 2, 32, |memory, right| {
        let tile = shared![u32; 128];
        let mut pipeline = Pipeline::<2>::new();
        tile.copy(&mut pipeline, 4 * me(), memory.input.source(), 4 * me());
        pipeline.commit();
        if right {
            pipeline.consumer_wait();
        }
        let _ = tile.get(4 * me());
        pipeline.wait_prior::<0>();
    });
    assert!(
        found.message.contains("before the wait for its own"),
        "{found}"
    );
}

#[test]
fn a_wait_for_too_few_groups() {
    twins(AsyncHazard, 1, 32, |memory, right| {
        let tile = shared![u32; 256];
        let mut pipeline = Pipeline::<3>::new();
        for stage in 0..2 {
            let at = 128 * stage + 4 * me();
            tile.copy(&mut pipeline, at, memory.input.source(), at);
            pipeline.commit();
        }
        match right {
            true => pipeline.wait_prior::<0>(),
            false => pipeline.wait_prior::<1>(),
        }
        let _ = tile.get(128 + 4 * me());
        pipeline.wait_prior::<0>();
    });
}

#[test]
fn a_copy_of_no_group() {
    twins(AsyncHazard, 1, 32, |memory, right| {
        let tile = shared![u32; 128];
        let mut pipeline = Pipeline::<2>::new();
        tile.copy(&mut pipeline, 4 * me(), memory.input.source(), 0);
        if right {
            pipeline.commit();
        }
        pipeline.wait_prior::<0>();
        let _ = tile.get(4 * me());
        pipeline.commit();
        pipeline.wait_prior::<0>();
    });
}

/// A thread's wait covers only its own copies, so a barrier must follow.
#[test]
fn a_wait_without_a_barrier() {
    twins(DataRace, 1, 32, |memory, right| {
        let tile = shared![u32; 128];
        let mut pipeline = Pipeline::<2>::new();
        tile.copy(&mut pipeline, 4 * me(), memory.input.source(), 4 * me());
        pipeline.commit();
        pipeline.consumer_wait();
        let _ = warp::ballot(warp::LaneMask::all(), true);
        if right {
            thread::sync_threads();
        }
        let _ = tile.get(127 - 4 * me());
    });
}

#[test]
fn a_store_on_top() {
    let found = twins(AsyncHazard, 1, 32, |memory, right| {
        let tile = shared![u32; 128];
        let mut pipeline = Pipeline::<2>::new();
        tile.copy(&mut pipeline, 4 * me(), memory.input.source(), 0);
        pipeline.commit();
        if right {
            pipeline.consumer_wait();
        }
        tile.set(4 * me() + 3, 0);
        pipeline.wait_prior::<0>();
    });
    assert!(found.message.contains("on top of its own"), "{found}");
}

/// Two stages in flight need two stages of memory.
#[test]
fn a_ring_that_is_too_short() {
    twins(AsyncHazard, 1, 32, |memory, right| {
        let tile = shared![u32; 256];
        let mut pipeline = Pipeline::<3>::new();
        for stage in 0..2 {
            let to = if right { 128 * stage } else { 0 };
            tile.copy(&mut pipeline, to + 4 * me(), memory.input.source(), 0);
            pipeline.commit();
        }
        pipeline.wait_prior::<0>();
    });
}

#[test]
fn a_source_that_changes() {
    let found = twins(AsyncHazard, 1, 32, |memory, right| {
        let tile = shared![u32; 128];
        let mut pipeline = Pipeline::<2>::new();
        tile.copy(&mut pipeline, 4 * me(), memory.input.source(), 4 * me());
        pipeline.commit();
        if right {
            pipeline.consumer_wait();
        }
        memory.input.set(4 * me(), 9);
        pipeline.wait_prior::<0>();
    });
    assert!(found.message.contains("source"), "{found}");
    assert!(found.related[0].location.is_some(), "{found}");
}

#[test]
fn never_waited_for() {
    let found = twins(AsyncHazard, 1, 32, |memory, right| {
        let tile = shared![u32; 128];
        let mut pipeline = Pipeline::<2>::new();
        tile.copy(&mut pipeline, 4 * me(), memory.input.source(), 0);
        pipeline.commit();
        if right {
            pipeline.consumer_wait();
        }
    });
    assert!(found.message.contains("never waited for"), "{found}");
    assert!(found.location.is_some(), "{found}");
}

/// A rolling prefetch without its wait reads the slot while its copy is in flight.
#[test]
fn a_rolling_prefetch_that_does_not_wait() {
    twins(AsyncHazard, 1, 32, |memory, right| {
        let tile = shared![u32; 256];
        let mut pipeline = Pipeline::<2>::new();
        for stage in 0..2 {
            let at = 128 * stage + 4 * me();
            tile.copy(&mut pipeline, at, memory.input.source(), at);
            pipeline.commit();
        }
        for round in 0..4 {
            if right || round == 0 {
                pipeline.consumer_wait_full();
            }
            let at = 128 * (round % 2) + 4 * me();
            let _ = tile.get(at);
            tile.copy(&mut pipeline, at, memory.input.source(), at);
            pipeline.commit();
        }
        pipeline.wait_prior::<0>();
    });
}
