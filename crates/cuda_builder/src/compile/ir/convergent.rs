//! Marks calls of inline assembly as convergent.

use super::text::{bracketed_length, find_code, pieces};

/// Adds `convergent` to the call if `line` calls inline assembly with side effects.
///
/// rustc does not mark it. Without the mark, LLVM may move or duplicate a barrier, a shuffle or a matrix instruction
/// across a branch, so that threads of one warp reach it at different times.
pub(super) fn mark_convergent(line: &str) -> Option<String> {
    let assembly = find_code(line, " asm sideeffect ")?;
    let arguments = arguments_offset(&line[assembly..])? + assembly;
    let end = arguments + bracketed_length(&line[arguments..])?;
    Some(format!("{} convergent{}", &line[..end], &line[end..]))
}

/// The offset of the argument list: the first bracket after the two strings with the instructions and the
/// constraints.
fn arguments_offset(assembly: &str) -> Option<usize> {
    let mut offset = 0;
    for piece in pieces(assembly) {
        let text = piece.as_str();
        if let super::text::Piece::Code(code) = piece
            && let Some(position) = code.find('(')
        {
            return Some(offset + position);
        }
        offset += text.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_with_side_effects_become_convergent() {
        let line = r#"  call void asm sideeffect "bar.sync 0;", "~{memory}"(), !srcloc !4"#;
        let expected =
            r#"  call void asm sideeffect "bar.sync 0;", "~{memory}"() convergent, !srcloc !4"#;
        assert_eq!(mark_convergent(line).unwrap(), expected);
    }

    #[test]
    fn brackets_in_strings_and_arguments_do_not_confuse() {
        let line = r#"  %1 = call { i32, i32 } asm sideeffect alignstack "f ($0);", "=r,=r,r"(ptr addrspacecast (ptr addrspace(3) @x to ptr)) #5"#;
        let marked = mark_convergent(line).unwrap();
        assert!(marked.ends_with("@x to ptr)) convergent #5"), "{marked}");
    }

    #[test]
    fn pure_assembly_and_other_lines_stay() {
        assert_eq!(
            mark_convergent(r#"%1 = call i32 asm "mov $0;", "=r"() #5"#),
            None
        );
        assert_eq!(
            mark_convergent(r#"@x = constant [20 x i8] c" asm sideeffect  ()  ""#),
            None
        );
    }
}
