//! Kernels that differ in the order, the scope or the memory that one instruction names: with the weaker one, there is a
//! finding.

mod mbarriers;

use tilewright_check::{
    Argument, Buffer, Contents, DefectKind, Element, Launch, Report, TensorShape,
};

/// Runs `body` in two blocks of `threads` threads: one cluster, if `is_cluster`. Its first parameter is a buffer.
fn run(threads: u32, is_cluster: bool, body: &str) -> Report {
    let ptx = format!(
        "
    .version 8.6
    .target sm_90
    .address_size 64
    .const .align 16 .b8 constants[64];
    .visible .entry one(.param .u64 to, .param .align 64 .b8 map[128])
    {{
        .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
        .shared .align 8 .b8 barrier[8]; .shared .align 16 .b8 s[32];
        ld.param.u64 %rd1, [to];
        mov.u32 %r1, %tid.x;
        {body}
    end:
        ret;
    }}
"
    );
    let mut launch = Launch::new("order.ptx", &ptx, "one");
    let zeros = Buffer::new(Element::U32, 4096, Contents::Constant(0.into()));
    launch.buffers.insert("b".to_owned(), zeros.clone());
    launch.buffers.insert("x".to_owned(), zeros);
    let map = TensorShape {
        buffer: "x".to_owned(),
        sizes: vec![64, 64],
        box_sizes: vec![32, 8],
        strides: Vec::new(),
        swizzle: 0,
    };
    launch.arguments = vec![Argument::buffer("b"), Argument::TensorMap(map)];
    launch.block = [threads, 1, 1];
    if is_cluster {
        (launch.grid, launch.cluster) = ([2, 1, 1], [2, 1, 1]);
    }
    launch.run().unwrap_or_else(|it| panic!("{it}\n{body}"))
}

/// Fails unless the launch has a finding of this kind; with none, unless it has no finding.
#[track_caller]
fn expect(report: &Report, kind: Option<DefectKind>, case: &str) {
    let kinds: Vec<DefectKind> = report.findings.iter().map(|it| it.defect.kind).collect();
    match kind {
        Some(kind) => assert!(kinds.contains(&kind), "{case}: {kinds:?}"),
        None => assert!(report.is_clean(), "{case}: {kinds:?}"),
    }
}

const RACE: Option<DefectKind> = Some(DefectKind::DataRace);

#[test]
fn fences_order_in_the_directions_that_they_name() {
    for (first, second, kind) in [
        ("release", "acquire", None),
        ("acq_rel", "acq_rel", None),
        ("sc", "sc", None),
        ("release", "release", RACE),
        ("acquire", "acquire", RACE),
        ("acquire", "release", RACE),
    ] {
        let report = run(
            64,
            false,
            &format!(
                "setp.ge.u32 %p1, %r1, 32;
                @%p1 bra reader;
                setp.ne.u32 %p2, %r1, 0; @%p2 bra end;
                st.global.u32 [%rd1+64], 42;
                fence.{first}.gpu;
                st.relaxed.gpu.global.u32 [%rd1+128], 1;
                bra end;
            reader:
                setp.ne.u32 %p2, %r1, 32; @%p2 bra end;
            again:
                ld.relaxed.gpu.global.u32 %r5, [%rd1+128];
                setp.eq.u32 %p2, %r5, 0; @%p2 bra again;
                fence.{second}.gpu;
                ld.global.u32 %r5, [%rd1+64]; st.global.u32 [%rd1], %r5;"
            ),
        );
        expect(&report, kind, &format!("{first} and {second}"));
    }
}

#[test]
fn relaxed_arrivals_at_the_barrier_of_a_cluster_order_what_fences_release() {
    for (arrival, kind) in [
        ("barrier.cluster.arrive;", None),
        ("barrier.cluster.arrive.release;", None),
        (
            "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed;",
            None,
        ),
        ("barrier.cluster.arrive.relaxed;", RACE),
        ("fence.acq_rel.cta; barrier.cluster.arrive.relaxed;", RACE),
    ] {
        let report = run(
            1,
            true,
            &format!(
                "mov.u32 %r2, s; mov.u32 %r3, %cluster_ctarank;
                st.shared.u32 [%r2], %r3;
                {arrival} barrier.cluster.wait.acquire;
                xor.b32 %r5, %r3, 1; mapa.shared::cluster.u32 %r6, %r2, %r5;
                ld.shared::cluster.u32 %r7, [%r6];
                mul.wide.u32 %rd2, %r3, 4; add.u64 %rd2, %rd2, %rd1;
                st.global.u32 [%rd2], %r7;
                barrier.cluster.arrive; barrier.cluster.wait;"
            ),
        );
        expect(&report, kind, arrival);
    }
}

#[test]
fn a_proxy_fence_of_global_memory_is_none_of_shared_memory() {
    for (fence, is_enough) in [
        ("fence.proxy.async;", true),
        ("fence.proxy.async.shared::cta;", true),
        ("fence.proxy.async.global;", false),
    ] {
        let report = run(
            1,
            false,
            &format!(
                "mov.u32 %r2, s;
                st.shared.v4.u32 [%r2], {{%r1, %r1, %r1, %r1}};
                {fence}
                cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16;
                cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
            ),
        );
        assert_eq!(report.is_clean(), is_enough, "{fence}");
    }
}

#[test]
fn bulk_stores_to_constants_are_found() {
    let report = run(
        1,
        false,
        "mov.u32 %r2, s; mov.u64 %rd2, constants; cvta.const.u64 %rd2, %rd2;
        st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1};
        fence.proxy.async;
        cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 16;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
    );
    let kind = Some(DefectKind::InvalidArgument);
    expect(&report, kind, "a bulk store to constant memory");
}

#[test]
fn a_box_ends_with_the_last_array() {
    // 1024 bytes to where there are 32.
    let report = run(
        1,
        false,
        "mov.u32 %r2, barrier; mov.u32 %r3, s; mov.b64 %rd3, map; cvta.param.u64 %rd3, %rd3;
        mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 1024;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd3, {0, 0}], [%r2];
    again:
        mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0;
        @!%p3 bra again;",
    );
    expect(&report, Some(DefectKind::OutOfBounds), "a box");
}

#[test]
fn a_bulk_copy_to_another_block_says_that_it_is_not_supported() {
    let report = run(
        1,
        true,
        "mov.u32 %r2, barrier; mov.u32 %r3, s;
        mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster;
        barrier.cluster.arrive; barrier.cluster.wait;
        mapa.shared::cluster.u32 %r2, %r2, 0; mapa.shared::cluster.u32 %r3, %r3, 0;
        mov.u32 %r4, %cluster_ctarank; setp.eq.u32 %p1, %r4, 1;
        @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 16, [%r2];
        barrier.cluster.arrive; barrier.cluster.wait;",
    );
    let message = report.findings[0].defect.to_string();
    assert!(message.contains("as a multicast alone"), "{message}");
}

#[test]
fn lanes_meet_at_one_operation() {
    for (one, other, kind) in [
        (
            "vote.sync.any.pred %p3, %p2, -1;",
            "vote.sync.any.pred %p3, %p2, -1;",
            None,
        ),
        (
            "vote.sync.any.pred %p3, %p2, -1;",
            "vote.sync.all.pred %p3, %p2, -1;",
            Some(DefectKind::WarpDivergence),
        ),
        (
            "redux.sync.min.u32 %r2, %r1, -1;",
            "redux.sync.add.u32 %r2, %r1, -1;",
            Some(DefectKind::WarpDivergence),
        ),
    ] {
        let report = run(
            32,
            false,
            &format!(
                "setp.lt.u32 %p1, %r1, 16; setp.eq.u32 %p2, %r1, 3;
                @%p1 bra others;
                {one} bra end;
            others:
                {other}"
            ),
        );
        expect(&report, kind, &format!("{one} {other}"));
    }
}

#[test]
fn lanes_of_a_warp_come_to_aligned_barriers_together() {
    for (barrier, is_aligned) in [
        ("bar.sync 0;", true),
        ("barrier.sync.aligned 0;", true),
        ("bar.red.popc.u32 %r3, 0, %p1;", true),
        ("barrier.sync 0;", false),
    ] {
        for (odd, kind) in [
            // Odd lanes, and a warp.
            (1, is_aligned.then_some(DefectKind::BarrierDivergence)),
            (32, None),
        ] {
            let report = run(
                64,
                false,
                &format!(
                    "and.b32 %r2, %r1, {odd}; setp.eq.u32 %p1, %r2, 0;
                    @%p1 bra others;
                    {barrier}
                    bra end;
                others:
                    {barrier}"
                ),
            );
            expect(&report, kind, &format!("{barrier} {odd}"));
        }
    }
}

#[test]
fn a_block_has_sixteen_barriers() {
    let report = run(
        64,
        false,
        "setp.lt.u32 %p1, %r1, 32;
        @%p1 bar.arrive 15, 64;
        @!%p1 bar.sync 15, 64;
        barrier.red.popc.u32 %r2, 14, %p1;
        barrier.red.popc.u32 %r3, 15, 64, %p1;
        add.u32 %r2, %r2, %r3; sub.u32 %r2, %r2, 64;
        mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1;
        st.global.u32 [%rd2], %r2;",
    );
    expect(&report, None, "barrier 15");
    assert_eq!(report.outputs[0].bytes[..256], [0; 256]);
    let sixteen = run(32, false, "bar.sync 16;");
    let message = sixteen.findings[0].defect.to_string();
    assert!(message.contains("a block that has 0 to 15"), "{message}");
}

#[test]
fn both_halves_of_a_clock_are_read() {
    let report = run(
        1,
        false,
        "again: mov.u32 %r2, %clock_hi; mov.u32 %r3, %clock; mov.u32 %r4, %clock_hi;
        setp.ne.u32 %p1, %r2, %r4; @%p1 bra again;",
    );
    expect(&report, None, "a clock");
}

#[test]
fn data_of_one_address_for_a_warp_is_not_written() {
    for load in ["ldu.global.u32", "ld.global.nc.u32"] {
        for (store, kind) in [
            ("", None),
            ("st.global.u32 [%rd1], 5;", Some(DefectKind::StaleRead)),
        ] {
            let report = run(1, false, &format!("{store} {load} %r2, [%rd1];"));
            expect(&report, kind, &format!("{store} {load}"));
        }
    }
}

#[test]
fn barriers_of_one_line_are_two() {
    let barriers =
        "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bar.sync 0; @!%p1 bar.sync 0;";
    let report = run(64, false, barriers);
    expect(&report, Some(DefectKind::BarrierDivergence), "two");
    let text = &report.findings[0].text;
    assert!(text.contains("\n  at order.ptx:12:72\n"), "{text}");
    assert!(
        text.contains("block barrier 0, order.ptx:12:55\n"),
        "{text}"
    );
}

#[test]
fn an_mbarrier_ends_when_it_is_invalidated() {
    const MISUSE: Option<DefectKind> = Some(DefectKind::BarrierMisuse);
    for (first, kind) in [
        ("@%p1 mbarrier.init.shared.b64 [s], 64;", None),
        ("", MISUSE),
        ("@%p1 mbarrier.init.shared.b64 [s+8], 64;", MISUSE),
        ("@%p1 st.shared.u32 [s], 64;", MISUSE),
    ] {
        let report = run(
            64,
            false,
            &format!(
                "setp.eq.u32 %p1, %r1, 0;
                @%p1 mbarrier.init.shared.b64 [s], 64;
                bar.sync 0;
                @%p1 mbarrier.inval.shared.b64 [s];
                {first}
                bar.sync 0;
                mbarrier.arrive.shared.b64 %rd2, [s];"
            ),
        );
        expect(&report, kind, first);
    }
    let store = "mbarrier.init.shared.b64 [s], 1; mbarrier.inval.shared.b64 [s];
        st.shared.u32 [s], 0;";
    expect(&run(1, false, store), None, "a store");
}
