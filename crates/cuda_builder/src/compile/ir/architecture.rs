//! Renames the architecture of functions that were compiled for another one.

use std::borrow::Cow;

use crate::arch::Arch;

/// Gives every function the architecture `arch`. `core` is compiled once, for the oldest one, and LLVM does not
/// inline a function into one for another architecture.
pub(crate) fn for_architecture(ir: &str, arch: Arch) -> Cow<'_, str> {
    let attribute = |arch: Arch| format!("\"target-cpu\"=\"{arch}\"");
    let compiled_for = attribute(Arch::ALL[0]);
    if arch == Arch::ALL[0] || !ir.contains(&compiled_for) {
        return ir.into();
    }
    let lines = ir.split_inclusive('\n');
    let renamed = lines.map(|line| match line.starts_with("attributes #") {
        true => line.replace(&compiled_for, &attribute(arch)),
        false => line.to_owned(),
    });
    Cow::Owned(renamed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_renamed_and_nothing_else() {
        let ir = "@a = constant [2 x i8] c\"\"target-cpu\"=\"sm_75\"\"\n\
                  attributes #0 = { nounwind \"target-cpu\"=\"sm_75\" }\n\
                  attributes #1 = { \"target-cpu\"=\"sm_90a\" }\n";
        let renamed = for_architecture(ir, Arch::Sm90a);
        let expected = ir.replace(
            "nounwind \"target-cpu\"=\"sm_75\"",
            "nounwind \"target-cpu\"=\"sm_90a\"",
        );
        assert_eq!(renamed, expected);
        assert_eq!(for_architecture(ir, Arch::Sm75), ir);
    }
}
