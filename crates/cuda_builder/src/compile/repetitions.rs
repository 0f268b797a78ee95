//! Modules that have the same code as one for an older architecture.

use super::pipeline::Module;
use crate::arch::Arch;

/// Removes modules whose code equals that of the nearest older architecture for the same kernel: newer devices run
/// that one.
///
/// The modules are those of kernels, oldest architecture first.
pub(super) fn without_repetitions(modules: Vec<(Arch, Module)>) -> Vec<(Arch, Module)> {
    let mut kept: Vec<(Arch, Module)> = Vec::with_capacity(modules.len());
    for (arch, module) in modules {
        let older = kept.iter().rev();
        let nearest = older
            .filter(|(older, _)| *older < arch && arch.runs(*older))
            .find(|(_, it)| it.name == module.name);
        if !nearest.is_some_and(|(_, it)| code(&it.ptx).eq(code(&module.ptx))) {
            kept.push((arch, module));
        }
    }
    kept
}

/// The lines of a module except the one that names its architecture.
fn code(ptx: &str) -> impl Iterator<Item = &str> {
    ptx.lines().filter(|line| !line.starts_with(".target "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(arch: Arch, name: &str, code: &str) -> (Arch, Module) {
        let module = Module {
            name: name.to_owned(),
            ptx: format!(".version 7.0\n.target {arch}\n{code}\n"),
            kernels: vec![name.to_owned()],
        };
        (arch, module)
    }

    #[test]
    fn a_kernel_has_one_module_for_architectures_with_the_same_code() {
        let modules = vec![
            module(Arch::Sm75, "copy", "ld;"),
            module(Arch::Sm75, "sum", "add;"),
            module(Arch::Sm80, "copy", "cp.async;"),
            module(Arch::Sm80, "product", "add;"),
            module(Arch::Sm80, "sum", "add;"),
            module(Arch::Sm90a, "copy", "cp.async;"),
            module(Arch::Sm90a, "product", "wgmma;"),
            // Its code is that for 9.0a, which 10.0 cannot run.
            module(Arch::Sm100, "product", "wgmma;"),
            // The nearest one differs from the oldest.
            module(Arch::Sm100, "copy", "ld;"),
        ];
        let kept = without_repetitions(modules);
        let kept: Vec<_> = kept.iter().map(|(arch, it)| (*arch, &*it.name)).collect();
        assert_eq!(
            kept,
            [
                (Arch::Sm75, "copy"),
                (Arch::Sm75, "sum"),
                (Arch::Sm80, "copy"),
                (Arch::Sm80, "product"),
                (Arch::Sm90a, "product"),
                (Arch::Sm100, "product"),
                (Arch::Sm100, "copy"),
            ]
        );
    }
}
