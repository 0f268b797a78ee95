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
