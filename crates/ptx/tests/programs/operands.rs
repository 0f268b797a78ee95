//! Operands that are left out, negated, vectors or tables.

use super::{expect, kernel, launch, program, words};
use simt::DefectKind;

#[test]
fn atomic_operations_on_vectors_are_aligned() {
    let at = |offset: u32| {
        let body = format!(
            "mov.u64 %rd1, g; mov.b32 %f1, 0f3f800000;
            red.global.add.v4.f32 [%rd1+{offset}], {{%f1, %f1, %f1, %f1}};
            bar.sync 0; ld.relaxed.gpu.global.u32 %result, [%rd1+{offset}];"
        );
        launch(&format!(".global .align 16 .f32 g[8];\n{}", kernel(&body)))
    };
    assert_eq!(
        at(16).unwrap_or_else(|it| panic!("{it}")),
        [64_f32.to_bits(); 64]
    );
    let defect = at(8).unwrap_err();
    assert_eq!(defect.kind, DefectKind::Misaligned, "{defect}");
}

#[test]
fn branches_of_one_table_share_its_targets() {
    // 4 MB of targets for each of 2,000 branches.
    let targets = vec!["last"; 1 << 20].join(", ");
    let branches = "brx.idx %r1, table;\n".repeat(2000);
    let body = format!(
        "mov.u32 %r1, 1048575; mov.u32 %result, 1; bra first;
        table: .branchtargets {targets};
        first: {branches}
        last: add.u32 %result, %result, %t;"
    );
    expect(&body, |thread| thread + 1);
}

#[test]
fn results_that_are_dropped_leave_the_others_whole() {
    let of_memory = |body: &str| format!(".global .align 8 .u32 g[64];\n{}", kernel(body));
    // A signed element is widened to its own register's width.
    let widened = of_memory(
        "mov.u64 %rd1, g; mov.u32 %r2, -16; st.volatile.global.v2.u32 [%rd1], {%r2, %r2}; bar.sync 0;
        ld.volatile.global.v2.s32 {_, %r3}, [%rd1]; shr.u32 %result, %r3, 4;",
    );
    assert_eq!(words(&widened), [0x0fff_ffff; 64]);
    let selected = "setp.lt.u32 %p1|_, %t, 9; setp.lt.u32 _|%p2, %t, 20; selp.u32 %r1, 1, 0, %p1;
        selp.u32 %r2, 10, 0, %p2; add.u32 %result, %r1, %r2;";
    expect(selected, |thread| {
        u32::from(thread < 9) + if thread < 20 { 0 } else { 10 }
    });
    expect("shfl.sync.idx.b32 %result|_, %t, 5, 31, -1;", |thread| {
        thread / 32 * 32 + 5
    });
}

#[test]
fn a_copy_ignores_its_source_under_a_predicate() {
    let body = "
        .shared .align 4 .b8 tile[256];
        mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 4, %r1;
        setp.lt.u32 %p1, %t, 32; mov.u64 %rd1, g;
        cp.async.ca.shared.global [%r1], [%rd1], 4, %p1;
        cp.async.wait_all;
        ld.shared.u32 %result, [%r1];";
    let with_source =
        |body: &str| format!(".global .align 4 .u32 g[1] = {{77}};\n{}", kernel(body));
    let expected = |ignores: fn(u32) -> bool| -> Vec<u32> {
        (0..64)
            .map(|thread| if ignores(thread) { 0 } else { 77 })
            .collect()
    };
    assert_eq!(words(&with_source(body)), expected(|thread| thread < 32));
    let negated = body.replace("4, %p1;", "4, !%p1;");
    assert_eq!(
        words(&with_source(&negated)),
        expected(|thread| thread >= 32)
    );
}

#[test]
fn constant_predicates_are_true_unless_they_are_0() {
    for (constant, expected) in [(0, 7), (1, 3), (2, 3), (-2, 3)] {
        let set = format!("mov.pred %p1, {constant}; selp.u32 %result, 3, 7, %p1;");
        expect(&set, |_| expected);
        expect(&format!("selp.u32 %result, 3, 7, {constant};"), |_| {
            expected
        });
        let compared = format!(
            "setp.eq.and.u32 %p1, %t, %t, {constant}; selp.f32 %f1, 3.0, 7.0, %p1; cvt.rzi.u32.f32 %result, %f1;"
        );
        expect(&compared, |_| expected);
    }
}

/// Values and refusals are those of `ptxas`.
#[test]
fn minima_and_maxima_of_three_and_of_magnitudes() {
    let (infinity, two, one, three) = ("0fff800000", "0fc0000000", "0fbf800000", "0f40400000");
    for (instruction, operands, expected) in [
        ("max.abs.f32", [infinity, "0f00000000", one], f32::INFINITY),
        (
            "max.ftz.NaN.abs.f32",
            [infinity, "0f00000000", one],
            f32::INFINITY,
        ),
        ("min.NaN.abs.f32", [two, one, three], 1.0),
        ("min.f32", [two, one, three], -2.0),
        ("max.ftz.f32", [two, one, three], 3.0),
    ] {
        let [a, b, c] = operands;
        let body = format!("{instruction} %f1, {a}, {b}, {c}; mov.b32 %result, %f1;");
        expect(&body, |_| expected.to_bits());
    }
    for refused in [
        "max.abs.f32 %f1, %f1, %f1;",
        "max.xorsign.f32 %f1, %f1, %f1;",
        "max.xorsign.abs.f32 %f1, %f1, %f1, %f1;",
        "max.f16 %h1, %h1, %h1, %h1;",
    ] {
        assert!(program(&kernel(refused)).is_err(), "{refused}");
    }
}

#[test]
fn averages_of_negative_numbers_are_rounded_away_from_zero() {
    let body = "mov.u32 %r1, 0xfffefffd; mov.u32 %r2, 0xffff0000; mov.u32 %r3, 0;
        vavrg2.s32.s32.s32 %result, %r1, %r2, %r3;";
    expect(body, |_| 0xfffe_fffe);
}

#[test]
fn a_constant_of_a_combining_predicate_is_true_unless_it_is_0() {
    for (instruction, expected) in [
        ("set.eq.and.u32.u32 %result, %r1, 5, 2;", u32::MAX),
        ("set.eq.and.u32.u32 %result, %r1, 5, 1;", u32::MAX),
        ("set.eq.and.u32.u32 %result, %r1, 5, 0;", 0),
        ("set.eq.xor.u32.u32 %result, %r1, 5, 2;", 0),
        (
            "set.lt.or.u32.f32 %result, 0f3f800000, 0f00000000, 2;",
            u32::MAX,
        ),
    ] {
        expect(&format!("mov.u32 %r1, 5; {instruction}"), |_| expected);
    }
}

#[test]
fn a_register_and_a_distance_have_the_width_of_the_register() {
    for (body, expected) in [
        ("mov.u32 %r1, -1; shr.u32 %result, %r1+1, 1;", 0),
        (
            "mov.u32 %r1, -1; mov.u32 %r2, %r1+1; cnot.b32 %result, %r2;",
            1,
        ),
        (
            "mov.u32 %r1, -1; mov.u32 %r2, %r1+1; popc.b32 %result, %r2;",
            0,
        ),
        (
            "mov.u16 %h1, -1; mov.u16 %h2, %h1+1; shr.u16 %h2, %h2, 1; cvt.u32.u16 %result, %h2;",
            0,
        ),
        (
            "mov.u64 %rd1, -1; shr.u64 %rd1, %rd1+1, 1; cvt.u32.u64 %result, %rd1;",
            0,
        ),
    ] {
        expect(body, |_| expected);
    }
    let floats = "mov.f32 %f1, 0f3f800000; add.f32 %f1, %f1+1, %f1; mov.b32 %result, %f1;";
    assert!(program(&kernel(floats)).is_err());
}

/// As on devices, on which the carry of a difference is set where nothing is borrowed.
#[test]
fn carries_of_sums_and_differences_are_one_flag() {
    for (body, expected) in [
        ("add.cc.u32 %r1, -1, 1; subc.u32 %result, 10, 3;", 7),
        ("add.cc.u32 %r1, 1, 1; subc.u32 %result, 10, 3;", 6),
        ("sub.cc.u32 %r1, 0, 1; addc.u32 %result, 10, 3;", 13),
        ("sub.cc.u32 %r1, 1, 0; addc.u32 %result, 10, 3;", 14),
    ] {
        expect(body, |_| expected);
    }
}

#[test]
fn an_arrival_of_copies_needs_an_mbarrier() {
    let with = |body: &str| {
        let body = format!("mov.u32 %r1, b; {body} mov.u32 %result, 0;");
        launch(&format!(
            ".shared .align 8 .b8 b[16];\n.global .align 8 .b8 g[8];\n{}",
            kernel(&body)
        ))
    };
    let arrive = "cp.async.mbarrier.arrive.shared.b64 [%r1];";
    let on_first = |body: &str| format!("setp.eq.u32 %p1, %t, 0; @!%p1 bra past; {body} past:");
    let init = "mbarrier.init.shared.b64 [%r1], 1;";
    with(&on_first(&format!("{init} {arrive}"))).unwrap_or_else(|it| panic!("{it}"));
    for (body, part) in [
        (arrive.to_owned(), "there is no mbarrier"),
        (
            format!("{init} mbarrier.inval.shared.b64 [%r1]; {arrive}"),
            "invalidated",
        ),
        (format!("{init} add.u32 %r1, %r1, 4; {arrive}"), "mbarrier"),
        (
            "mov.u64 %rd1, g; cp.async.mbarrier.arrive.b64 [%rd1];".to_owned(),
            "not in shared memory",
        ),
    ] {
        let defect = with(&on_first(&body)).expect_err(&body);
        assert!(defect.to_string().contains(part), "{body}: {defect}");
    }
}

/// Each element of a vector is an access of its own, and the vector has its alignment.
#[test]
fn volatile_and_relaxed_vectors() {
    let with = |body: &str| {
        launch(&format!(
            ".global .align 16 .u32 g[8] = {{1, 2, 3, 4, 5}};\n{}",
            kernel(body)
        ))
    };
    let load = "ld.volatile.global.v4.u32 {%r1, %r2, %r3, %result}, [g];";
    let on_first = "setp.eq.u32 %p1, %t, 0;";
    for (body, expected) in [
        (load.to_owned(), 4),
        (
            format!(
                "{on_first} @%p1 st.relaxed.gpu.global.v4.u32 [g+16], {{6, 7, 8, 9}};
                bar.sync 0; ld.relaxed.gpu.global.v2.u32 {{%r1, %result}}, [g+24];"
            ),
            9,
        ),
    ] {
        let found = with(&body).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(found, [expected; 64], "{body}");
    }
    let defect = with(&load.replace("[g]", "[g+4]")).unwrap_err();
    assert_eq!(defect.kind, DefectKind::Misaligned, "{defect}");
}

#[test]
fn spaces_of_generic_addresses() {
    let of = |address: &str| {
        [
            "global",
            "shared",
            "shared::cluster",
            "local",
            "const",
            "param",
        ]
        .map(|space| {
            let body = format!(
                "{{ .local .b32 l; .const .b32 c; .shared .b32 s; {address}
                isspacep.{space} %p1, %rd1; selp.u32 %result, 1, 0, %p1; }}"
            );
            let found = words(&format!(".global .u32 g;\n{}", kernel(&body)));
            assert_eq!(found, [found[0]; 64], "{address}");
            found[0]
        })
    };
    for (address, expected) in [
        ("mov.u64 %rd1, g;", [1, 0, 0, 0, 0, 0]),
        (
            "mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1;",
            [0, 1, 1, 0, 0, 0],
        ),
        (
            "mov.u64 %rd1, l; cvta.local.u64 %rd1, %rd1;",
            [0, 0, 0, 1, 0, 0],
        ),
        (
            "mov.u64 %rd1, c; cvta.const.u64 %rd1, %rd1;",
            [0, 0, 0, 0, 1, 0],
        ),
        (
            "mov.u64 %rd1, out; cvta.param.u64 %rd1, %rd1;",
            [1, 0, 0, 0, 0, 1],
        ),
    ] {
        assert_eq!(of(address), expected, "{address}");
    }
}

#[test]
fn registers_and_constants_are_arguments_in_memory() {
    let function = ".func (.param .b32 r) f(.param .b32 a)
        { .reg .b32 t; ld.param.b32 t, [a]; add.u32 t, t, 1; st.param.b32 [r], t; ret; }";
    for call in [
        "mov.u32 %r2, 5; call (%result), f, (%r2);",
        "call (%result), f, (5);",
        "call (%result), f, (2 + 3);",
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 5; call (b), f, (a); ld.param.b32 %result, [b]; }",
    ] {
        assert_eq!(
            words(&format!("{function}\n{}", kernel(call))),
            [6; 64],
            "{call}"
        );
    }
    let wide = format!("{function}\n{}", kernel("call (%result), f, (%rd1);"));
    let error = program(&wide).unwrap_err().to_string();
    assert!(error.contains("`%rd1` has 8 bytes, not 4"), "{error}");
}
