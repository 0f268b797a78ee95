//! What names stand for, and what may not have one name or be written.

use super::{kernel, launch, program, words};

#[test]
fn stores_to_constants_and_parameters_of_one_name_are_refused() {
    let text = format!(
        ".const .u32 g[4];\n{}",
        kernel("st.const.u32 [g], 5; mov.u32 %result, 0;")
    );
    assert!(program(&text).is_err());
    let twice = ".visible .entry test(.param .u64 out, .param .u64 out) { ret; }";
    assert!(program(twice).is_err());
}

#[test]
fn writes_to_constants_by_generic_addresses_are_found() {
    let with_constant = |body: &str| format!(".const .align 16 .u32 g[4];\n{}", kernel(body));
    let writes = [
        "st.u32 [%rd1], 5;",
        "st.relaxed.gpu.u32 [%rd1], 5;",
        "st.global.u32 [%rd1+12], 5;",
        "red.add.u32 [%rd1+4], 5;",
    ];
    for write in writes {
        let body =
            format!("mov.u64 %rd2, g; cvta.const.u64 %rd1, %rd2; {write} mov.u32 %result, 0;");
        let defect = launch(&with_constant(&body)).expect_err(write);
        assert!(defect.to_string().contains("constant memory"), "{defect}");
    }
    let reads = "mov.u64 %rd2, g; cvta.const.u64 %rd1, %rd2; ld.u32 %result, [%rd1+12];";
    assert_eq!(words(&with_constant(reads)), [0; 64]);
}

#[test]
fn a_function_that_calls_itself_is_refused() {
    let functions = ".func one() { call two; ret; } .func two() { call one; ret; }";
    let error = program(&format!(
        "{functions}\n{}",
        kernel("call one; mov.u32 %result, 0;")
    ));
    assert!(error.unwrap_err().to_string().contains("calls itself"));
}

#[test]
fn functions_of_one_name_are_refused() {
    let call = kernel("call one; mov.u32 %result, 0;");
    let one = ".func one() { ret; }";
    assert_eq!(words(&format!(".func one();\n{one}\n{call}")), [0; 64]);
    let error = program(&format!("{one}\n{one}\n{call}")).unwrap_err();
    assert!(
        error.to_string().contains("`one` is declared twice"),
        "{error}"
    );
    let error = program(&format!("{call}\n{call}\n{one}")).unwrap_err();
    assert!(
        error.to_string().contains("`test` is declared twice"),
        "{error}"
    );
}

#[test]
fn registers_of_one_name_are_refused() {
    let declared = |registers: &str| program(&kernel(&format!("{registers} mov.u32 %result, 0;")));
    for (registers, name) in [
        (".reg .b32 q<12>; .reg .b32 q1;", "q1"),
        (".reg .b32 q1; .reg .b32 q<12>;", "q1"),
        (".reg .b32 q<12>; .reg .b32 q1<4>;", "q10"),
        (".reg .b32 q1<4>; .reg .b32 q<12>;", "q10"),
    ] {
        let error = declared(registers).unwrap_err().to_string();
        assert!(
            error.contains(&format!("`{name}` is declared twice")),
            "{error}"
        );
    }
    declared(".reg .b32 q<10>; .reg .b32 q1<4>; .reg .b32 q10000; .reg .b32 q;").unwrap();
}

#[test]
fn functions_do_not_see_the_parameters_of_the_kernel() {
    let function = ".global .u32 out = 7;
        .func (.reg .u32 r) of_module() { ld.global.u32 r, [out]; ret; }";
    let text = format!("{function}\n{}", kernel("call (%result), of_module;"));
    assert_eq!(words(&text), [7; 64]);
}

#[test]
fn a_name_is_known_from_its_declaration_on() {
    let of_function = ".func (.reg .b32 r) f(.reg .b32 a)
        { .reg .b32 t; add.u32 t, a, 1; { mov.u32 r, t; .reg .b32 t; mov.u32 t, 100; } ret; }";
    for (module, body, expected) in [
        (
            "",
            ".reg .u32 a; mov.u32 a, 1; { add.u32 a, a, 1; .reg .u32 a; mov.u32 a, 50; } mov.u32 %result, a;",
            2,
        ),
        (
            "",
            "mov.u32 %r1, 1; { add.u32 %r1, %r1, 1; .reg .b32 %r<4>; mov.u32 %r1, 50; } mov.u32 %result, %r1;",
            2,
        ),
        (of_function, "mov.u32 %r2, 5; call (%result), f, (%r2);", 6),
        (
            ".global .u32 y[2] = {4, 5};",
            "{ ld.global.u32 %result, [y+4]; .global .u32 y = 9; ld.global.u32 %r1, [y]; }",
            5,
        ),
    ] {
        assert_eq!(
            words(&format!("{module}\n{}", kernel(body))),
            [expected; 64],
            "{body}"
        );
    }
    let error = program(&kernel("mov.u32 a, 1; .reg .u32 a; mov.u32 %result, a;")).unwrap_err();
    assert!(error.to_string().contains("there is no `a`"), "{error}");
}

#[test]
fn variables_of_functions_and_blocks_are_their_own() {
    let function = ".func f() { .global .u32 y = 1; st.relaxed.gpu.global.u32 [y], 77; ret; }";
    for (body, expected) in [
        (".global .u32 y = 2; call f, (); ld.global.u32 %result, [y];", 2),
        (
            ".const .u32 y = 2; { .const .u32 y = 3; ld.const.u32 %r1, [y]; } ld.const.u32 %r2, [y];
            mad.lo.u32 %result, %r1, 10, %r2;",
            32,
        ),
        (
            ".global .u32 y = 2; { .global .u32 y[4] = {5, 6, 7, 8}; ld.global.u32 %result, [y+12]; }",
            8,
        ),
        (
            ".global .u32 y = 2; { .global .u32 y = 3; .global .u64 p = generic(y); ld.global.u64 %rd1, [p]; }
            ld.u32 %result, [%rd1];",
            3,
        ),
    ] {
        assert_eq!(words(&format!("{function}\n{}", kernel(body))), [expected; 64], "{body}");
    }
}

#[test]
fn a_definition_serves_earlier_and_later_declarations() {
    let read = kernel("mov.u64 %rd1, x; ld.global.u32 %result, [%rd1+4];");
    let defined = ".visible .global .u32 x[2] = {5, 6};";
    let declared = ".extern .global .u32 x[];";
    for module in [
        format!("{declared}\n{defined}"),
        format!("{defined}\n{declared}"),
        format!("{declared}\n.global .u64 p = generic(x);\n{defined}"),
    ] {
        assert_eq!(words(&format!("{module}\n{read}")), [6; 64], "{module}");
    }
    let of_virtual = format!(
        ".extern .func __cxa_pure_virtual ();\n.global .u64 t[2] = {{0, __cxa_pure_virtual}};\n{defined}\n{read}"
    );
    assert_eq!(words(&of_virtual), [6; 64]);
    for (module, part) in [
        (declared.to_owned(), "there is no `x`"),
        (format!("{defined}\n{defined}"), "`x` is declared twice"),
        (
            format!("{defined}\n{}", defined.replace("visible", "weak")),
            "`x` is declared twice",
        ),
        (
            format!("{defined}\n.global .u64 p = nowhere;"),
            "there is no `nowhere`",
        ),
        (
            format!("{defined}\n.shared .u32 s;\n.global .u64 p = s;"),
            "there is no `s`",
        ),
    ] {
        let error = program(&format!("{module}\n{read}")).unwrap_err();
        assert!(error.to_string().contains(part), "{module}: {error}");
    }
}
