//! The pass over the optimised module.

use super::copies::vectorise_copy;
use super::names::new_names;
use super::text::replace_globals;

/// Gives internal symbols names that do not vary, and copies aligned structs in vectors.
pub(crate) fn finish(ir: &str) -> String {
    let renamed = new_names(ir);
    let mut finished = String::with_capacity(ir.len());
    for (number, line) in ir.lines().enumerate() {
        let line = replace_globals(line, |name| renamed.get(name).map(String::as_str));
        finished.push_str(&vectorise_copy(&line, number).unwrap_or(line));
        finished.push('\n');
    }
    finished
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_copies_change_together() {
        let ir = r#"@_RNvCsbvwVQVIEKnQ_5probe4TILE = internal addrspace(3) global [16 x i8] poison
  call void @llvm.memcpy.p3.p0.i64(ptr addrspace(3) align 16 @_RNvCsbvwVQVIEKnQ_5probe4TILE, ptr align 16 %0, i64 16, i1 false)
"#;
        let expected = r#"@probe_TILE_0 = internal addrspace(3) global [16 x i8] poison
  %copy.1.0 = load <4 x i32>, ptr %0, align 16
  store <4 x i32> %copy.1.0, ptr addrspace(3) @probe_TILE_0, align 16
"#;
        assert_eq!(finish(ir), expected);
    }
}
