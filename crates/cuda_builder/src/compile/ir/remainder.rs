//! Replaces float remainders by exact ones.

use super::text::find_code;

/// The functions that [`replace_remainder`] calls.
pub(super) const REMAINDERS: &str = include_str!("remainder.ll");

/// The line with a call of one of [`REMAINDERS`], if it has a `frem` of f32 or f64.
///
/// For NVPTX, LLVM computes the remainder of `frem` correctly only if the quotient is small. Rust's `%` is exact on
/// the host, and so in the simulator.
pub(super) fn replace_remainder(line: &str) -> Option<String> {
    const INSTRUCTION: &str = " = frem ";
    let start = find_code(line, INSTRUCTION)?;
    let operation = &line[start + INSTRUCTION.len()..];
    // Flags, such as `nnan`, may be between them.
    let (name, ty, operands) =
        [("f32", "float"), ("f64", "double")]
            .into_iter()
            .find_map(|(name, ty)| {
                let (flags, operands) = operation.split_once(ty)?;
                let are_flags = flags.chars().all(|it| it.is_ascii_lowercase() || it == ' ');
                are_flags.then_some((name, ty, operands.trim_start()))
            })?;
    let end = operands.find(", !").unwrap_or(operands.len());
    let (operands, metadata) = operands.split_at(end);
    let (x, y) = operands.split_once(", ")?;
    Some(format!(
        "{} = call {ty} @__cuda_std_remainder_{name}({ty} {x}, {ty} {y}){metadata}",
        &line[..start]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_become_calls() {
        let line = "  %7 = frem float %5, %6, !dbg !12";
        let expected = "  %7 = call float @__cuda_std_remainder_f32(float %5, float %6), !dbg !12";
        assert_eq!(replace_remainder(line).unwrap(), expected);
        let line = "  %x.i = frem nnan nsz double %x, 1.000000e+00";
        let expected =
            "  %x.i = call double @__cuda_std_remainder_f64(double %x, double 1.000000e+00)";
        assert_eq!(replace_remainder(line).unwrap(), expected);
    }

    #[test]
    fn other_lines_stay() {
        for line in [
            "  %7 = urem i32 %5, %6",
            "  %7 = frem <2 x half> %5, %6",
            r#"@text = private constant [20 x i8] c" = frem float %5, %6""#,
        ] {
            assert_eq!(replace_remainder(line), None, "{line}");
        }
    }
}
