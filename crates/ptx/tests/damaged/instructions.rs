//! Instructions of CUDA C++ that no compiler would write.

use super::{kernel, outcome, refused};

#[test]
fn functions_have_their_operands_and_no_others() {
    let part = "not supported";
    refused(&[
        (kernel("add.f16x2 %r1, %r2;"), part),
        (kernel("fma.rn.relu.f16x2 %r1, %r2, %r3;"), part),
        (kernel("ex2.approx.f32 %f1, %f2, %f3;"), part),
        (kernel("mad24.lo.u32 %r1, %r2, %r3;"), part),
        (kernel("set.eq.and.u32.f32 %r1, %f1, %f2;"), part),
        (kernel("cvt.rn.f16x2.f32 %r1, %f1;"), part),
        (kernel("cvt.pack.sat.u64.s32 %rd1, %r1, %r2;"), part),
        (
            kernel(
                "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
                    {%f1, %f2, %f3, %f4}, {%r1}, {%r2}, {%f1, %f2, %f3, %f4};",
            ),
            part,
        ),
        (
            kernel(
                "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32
                    {%f1, %f2}, {%r1, %r2, %r3, %r4, %r1, %r2, %r3, %r4},
                    {%r1, %r2, %r3, %r4, %r1, %r2, %r3, %r4}, {%f1, %f2};",
            ),
            part,
        ),
    ]);
    // A register may have more bits than the instruction's type.
    let body = "mov.b64 %rd1, -1; mov.b64 %r1, %rd1; bfind.u32 %r2, %r1; mov.b32 %result, %r2;";
    assert_eq!(outcome(&kernel(body), 1).unwrap()[0], 31);
}

#[test]
fn atomic_operations_that_there_are_not() {
    let part = "not supported";
    refused(&[
        (kernel("atom.global.add.u16 %h1, [%rd1], %h2;"), part),
        (kernel("atom.global.max.noftz.f16 %h1, [%rd1], %h2;"), part),
        (
            kernel("atom.global.add.v2.f32 {%f1, %f2}, [%rd1], {%f3, %f4, %f5};"),
            part,
        ),
        (
            kernel("red.global.add.v2.f32 [%rd1], {%f3, %f4, %f5};"),
            part,
        ),
    ]);
}

#[test]
fn atomic_operations_of_halves_end_with_their_memory() {
    let array =
        ".shared .align 2 .b16 s[3]; mov.u64 %rd1, s; mov.b16 %h1, 0x3c00; st.shared.u16 [s+4], 0;";
    let last = format!(
        "{array} atom.shared.add.noftz.f16 %h2, [s+4], %h1; ld.shared.u16 %h3, [s+4];
        cvt.u32.u16 %result, %h3;"
    );
    assert_eq!(outcome(&kernel(&last), 1).unwrap()[0], 0x3c00);
    let behind = format!("{array} atom.shared.add.noftz.f16 %h2, [s+6], %h1;");
    refused(&[(
        kernel(&behind),
        "2 bytes at byte 6 of 6 bytes of shared memory",
    )]);
}

#[test]
fn fragments_and_copies_end_with_their_memory() {
    let array = ".shared .align 16 .b8 s[16]; mov.u64 %rd1, s; cvta.shared.u64 %rd2, %rd1;
        .shared .align 8 .b64 bar; mov.u32 %r8, bar;";
    let with = |rest: &str| kernel(&format!("{array}{rest}"));
    let fragment = "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}";
    let parameter = "mov.u64 %rd1, out; cvta.param.u64 %rd2, %rd1;";
    refused(&[
        (
            with(
                "cvt.u32.u64 %r1, %rd1; mbarrier.init.shared::cta.b64 [%r8], 1;
                cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd2], 4096, [%r8];",
            ),
            "4096 bytes at byte",
        ),
        (
            kernel(&format!(
                "{parameter} wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd2], {fragment}, 0;"
            )),
            "a store to a parameter of the kernel, which is constant",
        ),
        (
            kernel(&format!(
                "mov.u64 %rd2, -4; wmma.load.c.sync.aligned.row.m16n16k16.f32 {fragment}, [%rd2], 4294967295;"
            )),
            "in no buffer of the program",
        ),
        (
            with(
                "mbarrier.init.shared::cta.b64 [%r8], 1;
                mbarrier.arrive.shared::cta.b64 %rd3, [%r8], 4294967295;",
            ),
            "4294967295 arrivals at an mbarrier",
        ),
    ]);
}

#[test]
fn prints_of_anything() {
    let print = |format: &str, values: &str| {
        format!(
            ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
            .global .b8 text[64] = {{{format}, 0}};
            {}",
            kernel(&format!(
                ".param .b64 f; .param .b64 v; .param .b32 r;
                mov.u64 %rd1, text; st.param.b64 [f], %rd1; st.param.b64 [v], {values};
                call (r), vprintf, (f, v); ld.param.b32 %result, [r];"
            ))
        )
    };
    let bytes = |text: &str| {
        let bytes: Vec<String> = text.bytes().map(|it| it.to_string()).collect();
        bytes.join(", ")
    };
    assert_eq!(outcome(&print(&bytes("100%%"), "0"), 1).unwrap()[0], 0);
    let part = "in no buffer of the program";
    refused(&[
        (print(&bytes("%d"), "18446744073709551615"), part),
        (print(&bytes("%99999999d"), "8"), part),
        (print(&bytes("%s"), "%rd1"), part),
    ]);
    let small = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);";
    let call = kernel(".param .b8 f; .param .b64 v; .param .b32 r; call (r), vprintf, (f, v);");
    refused(&[(
        format!("{small}{call}"),
        "`f` has 1 bytes, not 8 as the function says",
    )]);
}

#[test]
fn calls_by_address_have_an_end() {
    let functions: String = (0..600)
        .map(|number| format!(".func f{number}() {{ ret; }}\n"))
        .collect();
    let calls = "call %rd1, (), p;\n".repeat(600);
    let text = format!(
        "{functions}{}",
        kernel(&format!("p: .callprototype _ ();\n{calls}"))
    );
    refused(&[(text, "more than 65536 registers and constants")]);
}
