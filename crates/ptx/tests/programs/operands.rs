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
