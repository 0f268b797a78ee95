//! Results that an H200 has stored, of operands for which they are easily wrong.

mod common;

use common::{Buffer, Shape, options, ptx_body, run};
use ptx::{Kernel, Module, Program};

/// For each kind of result, lines as `INSTRUCTION OPERAND OPERAND OPERAND = RESULT`, in hexadecimal.
///
/// Operand `n` is in `%dn`, its lower bits in `%rn` and `%hn`. The result is in the register 3.
const RESULTS: &str = include_str!("gpu_results.txt");

/// A kernel `test(in, out)` of one thread.
fn kernel(instruction: &str) -> String {
    let stored = match instruction.split_once("%").map(|it| &it.1[..2]) {
        Some("p3") => "selp.u64 %d3, 1, 0, %p3;",
        Some("h3") => "cvt.u64.u16 %d3, %h3;",
        Some("r3") => "cvt.u64.u32 %d3, %r3;",
        _ => "",
    };
    format!(
        ".version 8.3
        .target sm_90
        .address_size 64
        .visible .entry test(.param .u64 in, .param .u64 out)
        {{
            .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %d<6>;
            ld.param.u64 %d4, [in];
            ld.param.u64 %d5, [out];
            ld.global.u64 %d0, [%d4]; cvt.u32.u64 %r0, %d0; cvt.u16.u64 %h0, %d0;
            ld.global.u64 %d1, [%d4+8]; cvt.u32.u64 %r1, %d1; cvt.u16.u64 %h1, %d1;
            ld.global.u64 %d2, [%d4+16]; cvt.u32.u64 %r2, %d2; cvt.u16.u64 %h2, %d2;
            {instruction}
            {stored}
            st.global.u64 [%d5], %d3;
            ret;
        }}"
    )
}

fn stored(instruction: &str, operands: &[u64]) -> u64 {
    let module: Module = kernel(instruction).parse().unwrap();
    let kernel = Kernel::new(Program::new(&module, "test").unwrap()).unwrap();
    let (input, output) = (Buffer::new(operands), Buffer::<u64>::uninitialised(1));
    let ([from, _], [to, _]) = (input.view(), output.view());
    let shape = Shape {
        grid: 1,
        block: 1,
        dynamic_shared_bytes: 0,
    };
    let body = ptx_body(&kernel, &[&from, &to]);
    run("test", shape, &options(), &body).unwrap();
    output.values()[0]
}

/// Compares the results of a kind.
fn expect(kind: &str) {
    let (_, behind) = RESULTS.split_once(&format!("[{kind}]\n")).unwrap();
    let lines = behind.lines().take_while(|it| !it.is_empty());
    let wrong: Vec<String> = lines.filter_map(difference).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong in a line.
fn difference(line: &str) -> Option<String> {
    let (instruction, numbers) = line.split_once("; ").unwrap();
    let (operands, expected) = numbers.split_once(" = ").unwrap();
    let number = |text| u64::from_str_radix(text, 16).unwrap();
    let operands: Vec<u64> = operands.split(' ').map(number).collect();
    let found = stored(&format!("{instruction};"), &operands);
    (found != number(expected)).then(|| format!("{line}, but here {found:x}"))
}

#[test]
fn signed_bytes_fill_their_register() {
    expect("signed_bytes_fill_their_register");
}

#[test]
fn fields_of_64_bits_use_all_bits_of_their_operands() {
    expect("fields_of_64_bits_use_all_bits_of_their_operands");
}

#[test]
fn remainders_by_zero_are_ones() {
    expect("remainders_by_zero_are_ones");
}

#[test]
fn a_nan_in_tf32_has_no_lower_bits() {
    expect("a_nan_in_tf32_has_no_lower_bits");
}

#[test]
fn rectified_conversions_have_no_negative_zero() {
    expect("rectified_conversions_have_no_negative_zero");
}

#[test]
fn roots_of_subnormal_numbers_are_rounded_once() {
    expect("roots_of_subnormal_numbers_are_rounded_once");
}

#[test]
fn zeros_are_normal() {
    expect("zeros_are_normal");
}

#[test]
fn results_are_flushed_before_they_are_rounded() {
    expect("results_are_flushed_before_they_are_rounded");
}

#[test]
fn halves_are_rounded_once() {
    expect("halves_are_rounded_once");
}
