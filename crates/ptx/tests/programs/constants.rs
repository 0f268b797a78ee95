//! Constant expressions, with the values that `ptxas` 13.0 gives them.

use super::{HEAD, kernel, program, words};
use ptx::Module;

/// The 64 bits of a variable that begins with this expression.
fn value(of: &str, expression: &str) -> u64 {
    let text = |shift: u32| {
        let body = format!(
            "ld.global.b64 %rd1, [g]; shr.b64 %rd1, %rd1, {shift}; cvt.u32.u64 %result, %rd1;"
        );
        format!(
            ".global .align 8 .{of} g[2] = {{{expression}}};\n{}",
            kernel(&body)
        )
    };
    u64::from(words(&text(0))[0]) | u64::from(words(&text(32))[0]) << 32
}

#[test]
fn integers() {
    for (expression, expected) in [
        ("1 << 3", 8),
        ("-(2 + 3) * 4", -20),
        ("-1 >> 60", -1),
        ("-1U >> 60", 15),
        ("0xffffffffffffffff >> 60", 15),
        ("0x7fffffffffffffff >> 60", 7),
        ("((.s64)0xffffffffffffffff) >> 60", -1),
        ("(.u64)-1 >> 60", 15),
        ("-7 / 2", -3),
        ("-7 % 3", 0),
        ("9 % -4", 9),
        ("-8 / 2U", i64::MAX - 3),
        ("1 << 64", 1),
        ("1 << -1", i64::MIN),
        ("1 >> 70", 0),
        ("!5 + !0", 1),
        ("~5", -6),
        ("~0 >> 63", 1),
        ("~0 / 2", i64::MAX),
        ("1 < ~3", 1),
        ("1 ? 2 : 3", 2),
        ("0 ? 2 : 1 ? 4 : 5", 4),
        ("(1 ? -1 : 2U) >> 60", -1),
        ("1 < 2 < 3", 1),
        ("-1 < 1U", 0),
        ("-1 < 1", 1),
        ("3 >= 3 && 2 <= 1 || 4 > 5", 0),
        ("5&3|8^1", 9),
        ("1 == 1 == 1", 1),
        ("1 != 1", 0),
        ("1 | 2 && 0", 0),
        ("5 - 3 - 1", 1),
        ("1 << 2 + 1", 8),
        ("--5", 5),
        ("+5", 5),
        ("-9223372036854775808", i64::MIN),
        ("9223372036854775807 + 1", i64::MIN),
        ("-9223372036854775808 >> 60", 8),
        ("1.0 < 2.0", 1),
        ("(1.0 < 2.0) ? 3 : 4", 3),
        ("WARP_SZ", 32),
        ("WARP_SZ * 2 - 1", 63),
    ] {
        assert_eq!(value("s64", expression) as i64, expected, "{expression}");
    }
}

#[test]
fn floating_point() {
    for (expression, expected) in [
        ("1.0 / 3.0", 1.0 / 3.0),
        ("-1.0 * -2.0 + 3.0", 5.0),
        ("-(-1.0) - +0.5", 0.5),
        ("0d3ff0000000000000 + 1.0", 2.0),
        ("1.0e308 * 10.0", f64::INFINITY),
        ("0.0e5", 0.0),
        (".5 + .25", 0.75),
    ] {
        assert_eq!(value("f64", expression), expected.to_bits(), "{expression}");
    }
    assert_eq!(value("f64", "-0.0"), (-0.0_f64).to_bits());
    assert_eq!(value("f64", "0f3f800000"), 0x3f80_0000);
    assert_eq!(value("f32", "1.0 + 2.0, 1e39") as u32, 3.0_f32.to_bits());
}

#[test]
fn in_instructions() {
    for (body, expected) in [
        ("mov.u32 %result, (1 + 2) * 3;", 9),
        ("mov.u32 %result, !0;", 1),
        ("mov.u32 %result, -1 < 0;", 1),
        ("ld.global.u32 %result, [g + 8 + ~3];", 2),
        ("mov.u32 %result, 32*WARP_SZ-1;", 1023),
        ("mov.f32 %f1, 1.0 + 2.0; mov.b32 %result, %f1;", 0x4040_0000),
        ("ld.global.u32 %result, [g + 4*2];", 3),
        (
            "mov.u64 %rd1, g + 2*8; ld.global.u32 %result, [%rd1 + -4*(1+2)];",
            2,
        ),
        (
            "mov.u64 %rd1, h; ld.global.u64 %rd1, [%rd1]; ld.u32 %result, [%rd1];",
            4,
        ),
    ] {
        let text = format!(
            ".global .align 8 .u32 g[4] = {{1, 2, 3, 4}};\n.global .u64 h = generic(g) + 3*4;\n{}",
            kernel(body)
        );
        assert_eq!(words(&text), [expected; 64], "{body}");
    }
}

#[test]
fn what_ptxas_refuses() {
    for (of, expression, part) in [
        ("s64", "7 / 0", "a division by 0"),
        ("f64", "1.0 / 0.0", "a division by 0"),
        ("s64", "1.0 == 1", "two kinds"),
        ("f64", "1.0 + 1", "two kinds"),
        ("s64", "1.0 & 1", "two kinds"),
        ("f64", "1.0 % 2.0", "integers"),
        ("s64", "!1.0", "no integer"),
        ("s64", "1.0 && 1", "no integer"),
        ("s64", "1.0 ? 1 : 2", "no integer"),
        ("f64", "1 ? 1.0 : 2.0", "integers"),
        ("f64", "(.u64)1.5", "integers"),
        ("f32", "0f3f800000 + 0f3f800000", "two kinds"),
        ("f64", "1e400", "1e400"),
        ("f64", "1e-400", "1e-400"),
        ("f64", "4e-324", "4e-324"),
        ("s64", "1 < < 2", "expected an operand"),
        ("s64", "(1 + 2", "expected `)`"),
        ("s64", "1 ? 2", "expected `:`"),
    ] {
        let text = format!("{HEAD}.global .{of} g[2] = {{{expression}}};");
        let error = text.parse::<Module>().unwrap_err().to_string();
        assert!(error.contains(part), "{expression}: {error}");
    }
    let nested = format!("{HEAD}.global .s64 g = {}1;", "-".repeat(100_000));
    assert!(nested.parse::<Module>().is_err());
}

#[test]
fn initial_values_have_the_type_of_the_variable() {
    for variable in [
        ".f32 g = 1",
        ".f64 g = 3",
        ".u32 g = 1.0",
        ".u64 g = 1.0",
        ".u32 g = 0f3f800000",
        ".v2 .f32 g = 1.0",
        ".v2 .u32 g[2] = {1, 2, 3, 4}",
        ".v4 .f32 g[2] = {{1.0}, {2.0, 3.0}}",
        ".v2 .u32 g = {{1}, {2}}",
    ] {
        let body = "ld.global.u32 %result, [g];";
        let text = format!(".global .align 16 {variable};\n{}", kernel(body));
        assert!(program(&text).is_err(), "{variable}");
    }
}
