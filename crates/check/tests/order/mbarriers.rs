//! Arrivals at mbarriers.

use super::{RACE, expect, run};
use tilewright_check::DefectKind;

#[test]
fn a_relaxed_arrival_passes_on_that_barriers_are_initialised() {
    let report = run(
        1,
        true,
        "mov.u32 %r2, barrier;
        mbarrier.init.shared::cta.b64 [%r2], 2; fence.mbarrier_init.release.cluster;
        barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire;
        mapa.shared::cluster.u32 %r6, %r2, 0;
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];
        mapa.shared::cluster.u32 %r6, %r2, 1;
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];
    again:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r2], 0;
        @!%p3 bra again;
        barrier.cluster.arrive; barrier.cluster.wait;",
    );
    expect(&report, None, "initialised barriers");
}

#[test]
fn arrivals_at_mbarriers_order_as_they_say() {
    for (arrival, kind) in [
        ("mbarrier.arrive.shared::cta.b64 %rd5, [%r2];", None),
        (
            "mbarrier.arrive.release.cta.shared::cta.b64 _, [%r2];",
            None,
        ),
        (
            "fence.acq_rel.cta; mbarrier.arrive.relaxed.cta.shared::cta.b64 %rd5, [%r2];",
            None,
        ),
        (
            "mbarrier.arrive.relaxed.cta.shared::cta.b64 %rd5, [%r2];",
            RACE,
        ),
        (
            "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r2];",
            RACE,
        ),
    ] {
        let report = run(
            64,
            false,
            &format!(
                "mov.u32 %r2, barrier; mov.u32 %r3, s;
                setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 32;
                @%p1 mbarrier.init.shared::cta.b64 [%r2], 1;
                bar.sync 0;
                @!%p1 bra reader;
                st.shared.u32 [%r3], 42;
                {arrival}
                bra end;
            reader:
                @!%p2 bra end;
            again:
                mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [%r2], 0;
                @!%p3 bra again;
                ld.shared.u32 %r5, [%r3]; st.global.u32 [%rd1], %r5;"
            ),
        );
        expect(&report, kind, arrival);
    }
}

#[test]
fn a_phase_lacks_the_arrivals_that_a_thread_counts() {
    for (count, kind) in [
        ("2", None),
        ("%r3", None),
        ("3", Some(DefectKind::BarrierMisuse)),
    ] {
        for state in ["_", "%rd5"] {
            let report = run(
                1,
                false,
                &format!(
                    "mov.u32 %r2, barrier; mov.u32 %r3, 2;
                    mbarrier.init.shared::cta.b64 [%r2], 2;
                    mbarrier.arrive.shared::cta.b64 {state}, [%r2], {count};
                again:
                    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0;
                    @!%p3 bra again;"
                ),
            );
            expect(&report, kind, &format!("{state} {count}"));
        }
        // Another block's.
        let report = run(
            1,
            true,
            &format!(
                "mov.u32 %r2, barrier; mov.u32 %r3, 2; mov.u32 %r4, %cluster_ctarank; xor.b32 %r4, %r4, 1;
                mbarrier.init.shared::cta.b64 [%r2], 2; fence.mbarrier_init.release.cluster;
                barrier.cluster.arrive; barrier.cluster.wait;
                mapa.shared::cluster.u32 %r6, %r2, %r4;
                mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6], {count};
            again:
                mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r2], 0;
                @!%p3 bra again;
                barrier.cluster.arrive; barrier.cluster.wait;"
            ),
        );
        expect(&report, kind, &format!("of another block, {count}"));
    }
}

#[test]
fn an_arrival_for_its_block_orders_nothing_for_another() {
    for (scope, kind) in [("cluster", None), ("cta", RACE)] {
        let report = run(
            1,
            true,
            &format!(
                "mov.u32 %r2, barrier; mov.u32 %r3, %cluster_ctarank;
                setp.eq.u32 %p1, %r3, 0;
                mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster;
                barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
                @%p1 bra again;
                st.global.u32 [%rd1+64], 42;
                mapa.shared::cluster.u32 %r6, %r2, 0;
                mbarrier.arrive.release.{scope}.shared::cluster.b64 _, [%r6];
                bra met;
            again:
                mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r2], 0;
                @!%p3 bra again;
                ld.global.u32 %r5, [%rd1+64]; st.global.u32 [%rd1], %r5;
            met:
                barrier.cluster.arrive.release; barrier.cluster.wait.acquire;"
            ),
        );
        expect(&report, kind, scope);
    }
}
