//! Small programs, as other compilers write them.

#[path = "../common/mod.rs"]
mod common;
mod constants;
mod names;
mod operands;

use common::{Buffer, Shape, options, ptx_body, run, storing_kernel as kernel};
use ptx::{Kernel, Module, Program};
use simt::Defect;

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

fn program(text: &str) -> Result<Program, ptx::ProgramError> {
    let text = format!("{HEAD}{text}");
    let module: Module = text.parse().unwrap_or_else(|it| panic!("{it}"));
    Program::new(&module, "test")
}

/// The 64 words that a kernel `test(out)` of 64 threads has stored, in a launch with all checks.
fn words(text: &str) -> Vec<u32> {
    launch(text).unwrap_or_else(|it| panic!("{it}"))
}

fn launch(text: &str) -> Result<Vec<u32>, Box<Defect>> {
    let program = program(text).unwrap_or_else(|it| panic!("{it}"));
    let kernel = Kernel::new(program).unwrap();
    let out = Buffer::<u32>::uninitialised(64);
    let [address, _] = out.view();
    let shape = Shape {
        grid: 1,
        block: 64,
        dynamic_shared_bytes: 0,
    };
    let body = ptx_body(&kernel, &[&address]);
    run("test", shape, &options(), &body)?;
    Ok(out.values())
}

fn expect(body: &str, value: impl Fn(u32) -> u32) {
    let expected: Vec<u32> = (0..64).map(value).collect();
    assert_eq!(words(&kernel(body)), expected, "{body}");
}

#[test]
fn functions_with_parameters_in_memory() {
    let function = "
        .func (.param .b32 value) weighted(.param .b32 a, .param .align 8 .b8 pair[16])
        {
            .reg .b32 %r<5>; .reg .b64 %rd<3>;
            ld.param.b32 %r1, [a];
            ld.param.b64 %rd1, [pair];
            ld.param.u32 %r2, [pair+8];
            cvt.u32.u64 %r3, %rd1;
            mad.lo.s32 %r4, %r1, %r2, %r3;
            st.param.b32 [value+0], %r4;
            ret;
        }";
    let call = "
        mov.b64 %rd1, 1000;
        {
            .param .b32 first;
            st.param.b32 [first], %t;
            .param .align 8 .b8 second[16];
            st.param.b64 [second], %rd1;
            st.param.b32 [second+8], 3;
            .param .b32 back;
            call.uni (back), weighted, (first, second);
            ld.param.b32 %result, [back];
        }";
    let text = format!("{function}\n{}", kernel(call));
    let expected: Vec<u32> = (0..64).map(|thread| 3 * thread + 1000).collect();
    assert_eq!(words(&text), expected);
}

#[test]
fn functions_with_parameters_in_registers() {
    let function = "
        .func (.reg .b32 %sum) add(.reg .b32 %a, .reg .b32 %b) { add.s32 %sum, %a, %b; ret; }
        .func (.reg .b32 %sum) twice(.reg .b32 %a) { call (%sum), add, (%a, %a); ret; }";
    let body = "call (%r1), twice, (%t); call (%result), add, (%r1, 5);";
    let text = format!("{function}\n{}", kernel(body));
    let expected: Vec<u32> = (0..64).map(|thread| 2 * thread + 5).collect();
    assert_eq!(words(&text), expected);
}

/// What `ptxas` makes of each.
#[test]
fn constants_have_the_types_of_their_operands() {
    let functions = "
        .func (.reg .b32 %o) shifted(.reg .b32 %i) { shr.u32 %o, %i, 28; ret; }
        .func (.reg .f32 %o) doubled(.reg .f32 %i) { add.f32 %o, %i, %i; ret; }";
    for (body, expected) in [
        (
            "mad.wide.s32 %rd1, 3, 4, -8; shr.u64 %rd1, %rd1, 1; cvt.u32.u64 %result, %rd1;",
            2,
        ),
        (
            "mad.wide.u32 %rd1, 3, 4, 0x100000000; shr.u64 %rd1, %rd1, 32; cvt.u32.u64 %result, %rd1;",
            1,
        ),
        ("mad.wide.s16 %result, 3, 5, -1;", 14),
        ("mad.wide.u16 %result, 3, 5, 100000;", 100_015),
        ("slct.u32.s32 %result, 1, 2, -1;", 2),
        ("slct.u32.f32 %result, 1, 2, -1.5;", 2),
        (
            "slct.f32.s32 %f1, 1.0, 2.0, -1; mov.b32 %result, %f1;",
            0x4000_0000,
        ),
        (
            "mov.u16 %h1, 5; shl.b16 %h1, %h1, 65536; cvt.u32.u16 %result, %h1;",
            0,
        ),
        (
            "mov.u16 %h1, 5; shr.u16 %h1, %h1, 65537; cvt.u32.u16 %result, %h1;",
            0,
        ),
        (
            "mov.b64 %rd1, {-1, 1}; shr.u64 %rd1, %rd1, 32; cvt.u32.u64 %result, %rd1;",
            1,
        ),
        ("mov.b32 %result, {-1, 2};", 0x2_ffff),
        ("call (%result), shifted, (-1);", 15),
        (
            "call (%f1), doubled, (1.5); mov.b32 %result, %f1;",
            0x4040_0000,
        ),
        (
            "mov.b64 %rd1, -1; bfe.s64 %rd1, %rd1, -1, -1; cvt.u32.u64 %result, %rd1;",
            u32::MAX,
        ),
    ] {
        let text = format!("{functions}\n{}", kernel(body));
        assert_eq!(words(&text), [expected; 64], "{body}");
    }
    for refused in [
        "mov.f32 %f1, 1;",
        "mov.b32 %r1, 1.5;",
        "add.f32 %f1, %f1, 1;",
        "add.s32 %r1, %r1, 1.0;",
        "setp.gt.f32 %p1, %f1, 0;",
        "call (%f1), doubled, (1);",
    ] {
        let text = format!(
            "{functions}\n{}",
            kernel(&format!("{refused} mov.u32 %result, 0;"))
        );
        assert!(program(&text).is_err(), "{refused}");
    }
}

/// Rows are filled up with zeros, and a number has the type of the variable.
#[test]
fn initial_values_lie_as_in_c() {
    for (variable, expected) in [
        (".global .s32 g[2][2] = {{1}, {2}};", [1, 0, 2, 0]),
        (".global .s32 g[][2] = {{1, 2}, {3}};", [1, 2, 3, 0]),
        (".global .s32 g[][2] = {1, 2, 3};", [1, 2, 3, 0]),
        (".global .s32 g[2][2] = {1, 2, 3};", [1, 2, 3, 0]),
        (
            ".const .f32 g[4] = {1.5, 0f3f800000};",
            [0x3fc0_0000, 0x3f80_0000, 0, 0],
        ),
        (
            ".global .align 16 .s32 g[2][1][2] = {{{1}}, {{2}}};",
            [1, 0, 2, 0],
        ),
        (".global .v2 .u32 g[2] = {{1, 2}, {3, 4}};", [1, 2, 3, 4]),
        (".global .v4 .s32 g = {1, 2, 3, 4};", [1, 2, 3, 4]),
        (".global .v2 .b64 g[] = {{1 << 32, 3}};", [0, 1, 3, 0]),
        (
            ".global .b32 g[4] = {1.0, 0f40000000, 3};",
            [0x3f80_0000, 0x4000_0000, 3, 0],
        ),
        (
            ".global .align 8 .b32 g[4] = {(2 + 3) * 4, -7 / 2, 0 ? 1 : 2, ~0U >> 60};",
            [20, -3_i32 as u32, 2, 15],
        ),
    ] {
        let space = &variable[..variable.find(' ').unwrap()];
        let body = format!(
            "mov.u64 %rd1, g; and.b32 %r1, %t, 3; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
            ld{space}.u32 %result, [%rd1];"
        );
        let text = format!("{variable}\n{}", kernel(&body));
        let expected: Vec<u32> = expected.into_iter().cycle().take(64).collect();
        assert_eq!(words(&text), expected, "{variable}");
    }
}

#[test]
fn a_vector_of_atomic_operations_takes_its_values_before_it_returns_others() {
    let body = "
        mov.u64 %rd1, g;
        mov.f32 %f1, 1.0;
        mov.f32 %f2, 2.0;
        setp.eq.u32 %p1, %t, 0;
        @%p1 atom.global.add.v2.f32 {%f1, %f2}, [%rd1], {%f2, %f1};
        bar.sync 0;
        ld.global.f32 %f3, [%rd1+4];
        cvt.rzi.u32.f32 %result, %f3;";
    let text = format!(
        ".global .align 8 .f32 g[2] = {{10.0, 20.0}};\n{}",
        kernel(body)
    );
    assert_eq!(words(&text), [21; 64]);
}

#[test]
fn local_memory_by_its_own_and_by_generic_addresses() {
    let body = "
        .local .align 8 .b8 depot[16];
        mov.u64 %rd1, depot;
        st.local.u32 [%rd1+4], %t;
        cvta.local.u64 %rd2, %rd1;
        ld.u32 %r1, [%rd2+4];
        st.u16 [%rd2], 7;
        ld.local.u16 %h1, [depot];
        cvt.u32.u16 %r2, %h1;
        add.u32 %result, %r1, %r2;";
    expect(body, |thread| thread + 7);
}

#[test]
fn loops_and_guards() {
    let body = "
        mov.u32 %result, 0;
        mov.u32 %r1, 0;
    again:
        setp.ge.u32 %p1, %r1, %t;
        @%p1 bra done;
        add.u32 %result, %result, %r1;
        add.u32 %r1, %r1, 1;
        bra again;
    done:
        setp.gt.u32 %p2|%p3, %t, 31;
        @%p2 add.u32 %result, %result, 1000;
        @!%p3 add.u32 %result, %result, 5000;";
    expect(body, |thread| {
        thread * thread.saturating_sub(1) / 2 + if thread > 31 { 6000 } else { 0 }
    });
}

#[test]
fn shared_memory_and_barriers() {
    let body = "
        .shared .align 4 .b32 tile[64];
        mul.lo.u32 %r1, %t, 4;
        mov.u32 %r2, tile;
        add.u32 %r3, %r2, %r1;
        st.shared.u32 [%r3], %t;
        bar.sync 0;
        sub.u32 %r4, 63, %t;
        mad.lo.u32 %r5, %r4, 4, %r2;
        ld.shared.u32 %result, [%r5];
        barrier.red.popc.u32 %r6, 0, %p1;
        add.u32 %result, %result, %r6;";
    expect(body, |thread| 63 - thread);
}

#[test]
fn votes_and_shuffles() {
    let body = "
        and.b32 %r1, %t, 1;
        setp.eq.u32 %p1, %r1, 1;
        vote.sync.ballot.b32 %r2, %p1, 0xffffffff;
        shfl.sync.down.b32 %r3|%p2, %t, 1, 31, -1;
        selp.u32 %r4, 1, 0, %p2;
        popc.b32 %r5, %r2;
        mad.lo.u32 %result, %r3, 100, %r5;
        mad.lo.u32 %result, %r4, 100000, %result;";
    expect(body, |thread| match thread % 32 {
        31 => 100 * thread + 16,
        _ => 100_000 + 100 * (thread + 1) + 16,
    });
}

#[test]
fn numbers_of_each_kind() {
    let body = "
        cvt.rn.f32.u32 %f1, %t;
        fma.rn.f32 %f2, %f1, 0f40000000, 0f3F000000;
        cvt.rni.s32.f32 %r1, %f2;
        ld.const.u32 %r2, [table+4];
        add.s32 %result, %r1, %r2;";
    let text = format!(
        ".const .align 4 .u32 table[3] = {{1, 50, 3}};\n{}",
        kernel(body)
    );
    // Ties to even: 2 t + 1/2 becomes 2 t.
    let expected: Vec<u32> = (0..64).map(|thread| 2 * thread + 50).collect();
    assert_eq!(words(&text), expected);
}

#[test]
fn variables_that_point_to_others() {
    let variables = "
        .global .align 4 .u32 numbers[4] = {10, 20, 30, 40};
        .global .align 8 .u64 pointers[2] = {5, generic(numbers)+8};
        .shared .align 4 .b8 of_another_kernel[1000000];";
    let body = "
        ld.global.u64 %rd1, [pointers+8];
        ld.u32 %r1, [%rd1+4];
        ld.global.u64 %rd2, [pointers];
        cvt.u32.u64 %r2, %rd2;
        add.u32 %result, %r1, %r2;";
    let expected = vec![45; 64];
    assert_eq!(words(&format!("{variables}\n{}", kernel(body))), expected);
}

#[test]
fn carries() {
    let body = "
        mov.b64 %rd1, -1;
        cvt.u64.u32 %rd2, %t;
        add.cc.u64 %rd3, %rd1, %rd2;
        addc.u64 %rd4, 0, 5;
        sub.cc.u32 %r1, %t, 10;
        subc.u32 %r2, 100, 0;
        cvt.u32.u64 %r3, %rd4;
        mad.lo.u32 %result, %r3, 1000, %r2;";
    expect(body, |thread| {
        1000 * (5 + u32::from(thread > 0)) + 100 - u32::from(thread < 10)
    });
}

/// Each block stores its rank in the other's memory, by a generic address and by shared ones.
#[test]
fn generic_addresses_reach_the_other_blocks_of_a_cluster() {
    let program = program(
        ".visible .entry test(.param .u64 out)
        {
            .reg .b32 %rank; .reg .b32 %other; .reg .b32 %place; .reg .b32 %r<4>; .reg .b64 %rd<4>;
            .shared .align 16 .b8 words[16];
            mov.u32 %rank, %cluster_ctarank;
            xor.b32 %other, %rank, 1;
            mov.u32 %place, words;
            cvt.u64.u32 %rd1, %place;
            cvta.shared.u64 %rd1, %rd1;
            mapa.u64 %rd2, %rd1, %other;
            st.u32 [%rd2], %rank;
            cvta.to.shared::cluster.u64 %rd2, %rd2;
            cvt.u32.u64 %place, %rd2;
            st.shared::cluster.u32 [%place+4], %rank;
            mapa.u64 %rd2, %rd1, %other;
            cvta.to.shared.u64 %rd2, %rd2;
            cvt.u32.u64 %place, %rd2;
            st.shared::cluster.u32 [%place+8], %rank;
            barrier.cluster.arrive;
            barrier.cluster.wait;
            ld.u32 %r1, [%rd1];
            ld.shared.u32 %r2, [words+4];
            ld.shared.u32 %r3, [words+8];
            mad.lo.u32 %r2, %r3, 10, %r2;
            ld.param.u64 %rd3, [out];
            mul.wide.u32 %rd1, %rank, 8;
            add.s64 %rd3, %rd3, %rd1;
            st.global.u32 [%rd3], %r1;
            st.global.u32 [%rd3+4], %r2;
            barrier.cluster.arrive;
            barrier.cluster.wait;
            ret;
        }",
    );
    let kernel = Kernel::new(program.unwrap()).unwrap();
    let out = Buffer::<u32>::uninitialised(4);
    let [address, _] = out.view();
    let options = options();
    let launch = simt::Launch {
        cluster: 2.into(),
        ..simt::Launch::new("test", 2, 1, &options)
    };
    simt::run(&launch, &ptx_body(&kernel, &[&address])).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(out.values(), [1, 11, 0, 0]);
}
