//! PTX that no compiler would write ends in an error or in a report of the launch: never in a panic or an abort of the
//! process, and never in memory that is not the launch's.

#[path = "../common/mod.rs"]
mod common;
mod instructions;

use common::{Buffer, Shape, options, run, storing_kernel};
use ptx::{Kernel, Module, Program};
use simt::Options;
use std::time::Duration;

const HEAD: &str = ".version 8.0\n.target sm_90a\n.address_size 64\n";

/// What a launch of `threads` threads of the kernel `test(out)` ends with.
fn outcome(text: &str, threads: u32) -> Result<Vec<u32>, String> {
    let text = format!("{HEAD}{text}");
    let module: Module = text.parse().map_err(|it: ptx::ReadError| it.to_string())?;
    let program = Program::new(&module, "test").map_err(|it| it.to_string())?;
    let kernel = Kernel::new(program).map_err(|it| it.to_string())?;
    let out = Buffer::<u32>::uninitialised(256);
    let [address, _] = out.view();
    let shape = Shape {
        grid: 1,
        block: threads,
        dynamic_shared_bytes: 0,
    };
    // SAFETY: the launch refuses memory that is not registered, and `out` outlives it.
    let body = unsafe { kernel.body(&[&address]) }.map_err(|it| it.to_string())?;
    let options = Options {
        time_limit: Some(Duration::from_secs(5)),
        ..options()
    };
    run("test", shape, &options, &body).map_err(|it| it.to_string())?;
    Ok(out.values())
}

/// A kernel whose thread stores `%result`, which is zero before `body`.
fn kernel(body: &str) -> String {
    storing_kernel(&format!("mov.u32 %result, 0; {body}"))
}

/// Each text is refused, or its launch reported, with a message that has the part.
fn refused(cases: &[(String, &str)]) {
    for (text, part) in cases {
        let found = outcome(text, 1).expect_err(part);
        assert!(found.contains(part), "{found}\nfor {part}");
        assert!(
            found.len() < 1000 && !found.contains("crates/"),
            "{found:.2000}"
        );
    }
}

#[test]
fn brackets_within_brackets() {
    let nested = |open: &str, close: &str| {
        let count = 200_000;
        format!("{}{}", open.repeat(count), close.repeat(count))
    };
    let part = "more than 64 brackets within each other";
    refused(&[
        (kernel(&nested("{", "}")), part),
        (
            kernel(&format!("mov.b64 %rd1, {};", nested("{", "}"))),
            part,
        ),
        (kernel(&format!("call {};", nested("(", ")"))), part),
        (format!(".global .b32 x[1] = {};", nested("{", "}")), part),
    ]);
    let deep = kernel(&format!("{}{}", "{".repeat(50), "}".repeat(50)));
    assert_eq!(outcome(&deep, 1).unwrap()[0], 0);
}

#[test]
fn sizes_that_no_device_has() {
    let part = "a size, an alignment, a type or an initial value that is not supported";
    let of_kernel = |parameters: &str| format!(".visible .entry test({parameters}) {{ ret; }}");
    refused(&[
        (kernel(".local .b8 x[1099511627776];"), part),
        (kernel(".local .b8 x[524000]; .local .b8 y[524000];"), part),
        (
            kernel(".local .b8 x[9223372036854775808]; .local .b16 y[9223372036854775808];"),
            part,
        ),
        (
            kernel(".local .b8 x; .local .align 9223372036854775808 .b8 y;"),
            part,
        ),
        (kernel(".shared .align 1099511627776 .b8 x[16];"), part),
        (
            kernel(".shared .b8 x[1099511627776]; st.shared.u8 [x], 1;"),
            "a block can have 49152",
        ),
        (format!(".global .align 4096 .b8 x[4];{}", kernel("")), part),
        (format!(".global .b8 x[1] = {{1, 2}};{}", kernel("")), part),
        (
            format!(".global .b8 x[9223372036854775807];{}", kernel("")),
            "no memory left",
        ),
        (
            of_kernel(".param .b8 out[18446744073709551615], .param .b64 x"),
            part,
        ),
        (
            of_kernel(".param .b8 x, .param .align 9223372036854775808 .u64 y"),
            part,
        ),
        (
            kernel(".reg .b64 %x<16000000>;"),
            "more than 65536 registers and constants",
        ),
    ]);
}

/// The process would end if the system gave it no memory when it touches what was allocated.
#[cfg(target_os = "linux")]
#[test]
fn variables_that_nothing_touches_take_no_memory() {
    let resident_pages = || {
        let sizes = std::fs::read_to_string("/proc/self/statm").unwrap();
        let resident = sizes.split(' ').nth(1).unwrap();
        resident.parse::<usize>().unwrap()
    };
    let before = resident_pages();
    let text = format!(
        ".global .b8 x[4294967296]; .global .b8 y[4294967296];{}",
        kernel("")
    );
    let module: Module = format!("{HEAD}{text}").parse().unwrap();
    match Kernel::new(Program::new(&module, "test").unwrap()) {
        // Other tests of the program take less.
        Ok(_kernel) => assert!(resident_pages().saturating_sub(before) < 1 << 18),
        Err(error) => assert!(error.to_string().contains("no memory left"), "{error}"),
    }
}

#[test]
fn variables_are_where_they_ask_to_be() {
    let body = "
        .local .b8 w; .local .align 512 .b8 x[8]; .reg .b64 %x;
        mov.u64 %rd1, x; cvta.local.u64 %rd1, %rd1; mov.u64 %rd2, y;
        or.b64 %rd1, %rd1, %rd2; cvt.u32.u64 %result, %rd1; and.b32 %result, %result, 511;";
    let text = format!(".global .align 512 .b8 y[8];{}", kernel(body));
    assert_eq!(outcome(&text, 1).unwrap()[0], 0);
}

#[test]
fn arguments_and_results_of_other_sizes() {
    let takes = ".func f(.param .b8 a[100000]) { ret; }";
    let returns = ".func (.param .b8 a[100000]) f() { ret; }";
    let part = "`s` has 1 bytes, not 100000 as the function says";
    refused(&[
        (
            format!("{takes}{}", kernel("{ .param .b8 s[1]; call f, (s); }")),
            part,
        ),
        (
            format!("{returns}{}", kernel("{ .param .b8 s[1]; call (s), f; }")),
            part,
        ),
    ]);
}

#[test]
fn parameters_are_constant() {
    let generic = "mov.u64 %rd1, out; cvta.param.u64 %rd2, %rd1; st.u64 [%rd2], 1;";
    refused(&[
        (
            kernel("st.param.u64 [out], 1;"),
            "the operand `[out]` has no meaning there",
        ),
        (
            kernel(generic),
            "a store to a parameter of the kernel, which is constant",
        ),
    ]);
}

#[test]
fn shared_memory_ends_with_its_last_array() {
    let array = ".shared .align 16 .b8 s[16]; mov.u64 %rd1, s; cvta.shared.u64 %rd2, %rd1;";
    let part = "at byte 16 of 16 bytes of shared memory";
    let with = |rest: &str| kernel(&format!("{array}{rest}"));
    refused(&[
        (with("st.shared.u32 [s+16], 1;"), part),
        (with("st.u32 [%rd2+16], 1;"), part),
        (with("atom.shared.add.u32 %r1, [s+16], 1;"), part),
        (with("st.shared::cluster.u32 [s+16], 1;"), part),
        (
            with(
                "cvt.u32.u64 %r1, %rd1; mov.u64 %rd3, 0; cp.async.ca.shared.global [%r1+16], [%rd3], 4;",
            ),
            part,
        ),
        (
            with("cvt.u32.u64 %r1, %rd1; mapa.shared::cluster.u32 %r2, %r1, 4294967295;"),
            "block 4294967295 of a cluster of 1",
        ),
        (
            with("cvt.u32.u64 %r1, %rd1; mapa.shared::cluster.u32 %r2, %r1, 256;"),
            "block 256 of a cluster of 1",
        ),
    ]);
}

#[test]
fn instructions_that_there_are_not() {
    let part = "not supported";
    let eight = "{%rd1,%rd1,%rd1,%rd1,%rd1,%rd1,%rd1,%rd1}";
    refused(&[
        (kernel("mov.b64 %rd1, {%rd2};"), part),
        (kernel("mov.b64 {%r1, %r2, %r3}, %rd1;"), part),
        (kernel(&format!("ld.global.v8.b64 {eight}, [%rd1];")), part),
        (
            kernel("mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p1, [%r1], 0;"),
            part,
        ),
        (
            kernel(
                "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
                [%r1], [%rd1, {0, 0, 0}], [%r2], {%h1};",
            ),
            part,
        ),
        (kernel("ld.release.gpu.u32 %r1, [%rd1];"), part),
        (kernel("st.acquire.gpu.u32 [%rd1], 0;"), part),
        (kernel("atom.global.max.f32 %f1, [%rd1], %f2;"), part),
        (kernel("a: a:"), "`a` is declared twice"),
        (kernel(".reg .b64 %r<9>;"), "`%r` is declared twice"),
        (kernel(".reg .b64 %t;"), "`%t` is declared twice"),
    ]);
}

#[test]
fn long_lines_have_short_messages() {
    let long = format!("{}#", "x ".repeat(1 << 18));
    let operands = "%r1, ".repeat(1 << 16);
    refused(&[
        (kernel(&long), "begins nothing"),
        (kernel(&format!("vadd.s32 {operands}%r1;")), "not supported"),
        (
            kernel(&format!("mov.u32 %r1, {};", "9".repeat(5000))),
            "no number",
        ),
        (
            kernel(&format!("mov.u32 %r1 {}", "a".repeat(5000))),
            "expected `;`",
        ),
        (
            kernel(&format!("mov.u32 %r1, {};", "a".repeat(5000))),
            "there is no",
        ),
    ]);
}

#[test]
fn registers_with_more_bits_than_their_type() {
    let body = "
        mov.b64 %rd1, -1; mov.b64 %r1, %rd1; mov.b64 %h1, %rd1;
        add.cc.u32 %r2, %r1, 1; addc.u32 %r3, 0, 0; clz.b32 %r4, %r1;
        add.u32 %result, %r3, %r4;";
    assert_eq!(outcome(&kernel(body), 1).unwrap()[0], 1);
}

#[test]
fn tags_of_accumulators_that_a_kernel_makes_itself() {
    for place in [3, 4, 0x7fff] {
        let tag = 1_u64 << 63 | place << 32 | 0x7fff_dead;
        let body = format!(
            ".reg .f32 %a<4>; .shared .align 1024 .b32 s[8192];
            mul.lo.u32 %r1, %t, 256; mov.u32 %r2, 0; mov.u32 %r3, s; add.u32 %r3, %r3, %r1;
            again: st.shared.u32 [%r3], 0; add.u32 %r3, %r3, 4; add.u32 %r2, %r2, 1;
            setp.lt.u32 %p1, %r2, 64; @%p1 bra again;
            fence.proxy.async; bar.sync 0;
            mov.f32 %a0, 0.0; mov.f32 %a1, 0.0; mov.f32 %a2, 0.0; mov.f32 %a3, 0.0; mov.b64 %rd1, 0;
            wgmma.fence.sync.aligned;
            wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16
                {{%a0, %a1, %a2, %a3}}, %rd1, %rd1, 1, 1, 1, 0, 0;
            wgmma.commit_group.sync.aligned;
            mov.b64 %rd6, {tag};
            wgmma.wait_group.sync.aligned 0;"
        );
        let found = outcome(&kernel(&body), 128);
        assert!(found.is_ok_and(|words| words[..128] == [0; 128]));
    }
}

#[test]
fn tensor_maps_that_a_kernel_makes_itself() {
    let load = |address: i64, size: i64, stride: i64, view: (i64, i64)| {
        kernel(&format!(
            ".local .align 64 .b64 m[16]; .shared .align 128 .b8 s[1024]; .shared .b64 bar;
            mov.u64 %rd1, m;
            st.local.b64 [%rd1], {address}; st.local.b64 [%rd1+8], {size}; st.local.b64 [%rd1+16], {size};
            st.local.b64 [%rd1+48], {stride};
            st.local.b64 [%rd1+80], {}; st.local.b64 [%rd1+88], {};
            st.local.b32 [%rd1+96], 1; st.local.b32 [%rd1+100], 2;
            st.local.b32 [%rd1+104], 16; st.local.b32 [%rd1+108], 4;
            cvta.local.u64 %rd2, %rd1;
            mov.u32 %r1, s; mov.u32 %r2, bar; mov.u32 %r3, 0; mov.u32 %r4, 5;
            mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster;
            mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 64;
            cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
                [%r1], [%rd2, {{%r3, %r4}}], [%r2];
            mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;",
            view.0, view.1
        ))
    };
    let part = "in no buffer of the program";
    refused(&[
        (load(4096, 1 << 20, 64, (0, -1)), part),
        (load(-4096, 1 << 20, 64, (0, -1)), part),
        (load(4096, 1 << 20, i64::MAX, (0, -1)), part),
        (load(4096, i64::MAX, i64::MAX, (0, -1)), part),
        (load(-1, i64::MAX, -1, (-1, -1)), part),
    ]);
}
