//! The pass over the linked module, before any optimisation.

use std::collections::{BTreeMap, BTreeSet};

use super::annotation::{Annotation, SECTION};
use super::convergent::mark_convergent;
use super::global::{Global, Memory, unexpected, without_used};
use super::kernel::{annotate, defined_kernel};
use super::remainder::{REMAINDERS, replace_remainder};
use super::text::{bare_name, replace_globals};
use crate::error::BuildError;

/// The module, ready for LLVM's optimiser.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The textual IR.
    pub(crate) ir: String,
    /// The names of the kernels, sorted.
    pub(crate) kernels: Vec<String>,
    /// The symbols that the host looks up by name: the kernels and the named statics.
    pub(crate) public_symbols: Vec<String>,
    /// The architecture that each kernel states, by the kernel's name.
    stated: BTreeMap<String, String>,
}

impl Prepared {
    /// Keeps only the kernels that state the architecture `arch`. The optimiser removes the others, and everything
    /// that only they use, because nothing refers to them by name any more.
    pub(crate) fn keep_kernels_that_state(&mut self, arch: &str) {
        let states = |kernel: &str| self.stated.get(kernel).is_some_and(|stated| stated == arch);
        self.public_symbols.retain(|symbol| {
            let kernel = symbol.strip_prefix(SIGNATURE_OF).unwrap_or(symbol);
            states(kernel) || !self.kernels.iter().any(|known| known == kernel)
        });
        self.kernels.retain(|kernel| states(kernel));
    }
}

/// The prefix of the static with a kernel's signature.
const SIGNATURE_OF: &str = "__signature_of_";

/// Prepares the module for the optimiser.
///
/// It moves statics to the memories that their sections name, gives kernels the attributes of their annotations,
/// marks inline assembly convergent, and makes float remainders exact.
pub(crate) fn prepare(ir: &str) -> Result<Prepared, BuildError> {
    let plan = Plan::of(ir)?;
    let mut prepared = String::with_capacity(ir.len() + ir.len() / 8);
    let mut has_remainders = false;
    for line in ir.lines() {
        if let Some(line) = plan.rewrite(line)? {
            let exact = replace_remainder(&line);
            has_remainders |= exact.is_some();
            prepared.push_str(exact.as_deref().unwrap_or(&line));
            prepared.push('\n');
        }
    }
    if has_remainders {
        prepared.push_str(REMAINDERS);
    }
    let kernels: Vec<String> = plan
        .kernels
        .iter()
        .map(|name| bare_name(name).to_owned())
        .collect();
    let mut public_symbols = kernels.clone();
    public_symbols.extend(plan.symbols);
    let stated = |(kernel, annotation): (String, Annotation)| Some((kernel, annotation.arch?));
    Ok(Prepared {
        ir: prepared,
        kernels,
        public_symbols,
        stated: plan.annotations.into_iter().filter_map(stated).collect(),
    })
}

/// The findings of the first pass over the module.
#[derive(Default)]
struct Plan<'a> {
    kernels: BTreeSet<&'a str>,
    annotations: BTreeMap<String, Annotation>,
    /// The statics that hold the annotations.
    annotation_statics: BTreeSet<&'a str>,
    symbols: Vec<String>,
    /// The globals that move, each with the expression that replaces it.
    moved: BTreeMap<&'a str, String>,
}

impl<'a> Plan<'a> {
    fn of(ir: &'a str) -> Result<Plan<'a>, BuildError> {
        let mut plan = Plan::default();
        for line in ir.lines() {
            if line.starts_with('@') {
                plan.add_global(line)?;
            } else if let Some(kernel) = defined_kernel(line) {
                plan.kernels.insert(kernel);
            }
        }
        plan.check_annotations()?;
        Ok(plan)
    }

    fn add_global(&mut self, line: &'a str) -> Result<(), BuildError> {
        let Some(global) = Global::parse(line) else {
            return Ok(());
        };
        let section = global.section.unwrap_or_default();
        if section == SECTION {
            self.add_annotation(&global, line)?;
        } else if let Some(memory) = Memory::of_section(section) {
            let pointer = memory.generic_pointer(global.name);
            self.moved.insert(global.name, pointer);
            if global.is_symbol() {
                self.symbols.push(bare_name(global.name).to_owned());
            }
        }
        Ok(())
    }

    fn add_annotation(&mut self, global: &Global<'a>, line: &str) -> Result<(), BuildError> {
        let text = global.text().ok_or_else(|| unexpected(line))?;
        let annotation = Annotation::parse(&text)?;
        self.annotation_statics.insert(global.name);
        let kernel = annotation.kernel.clone();
        match self.annotations.insert(kernel.clone(), annotation) {
            None => Ok(()),
            Some(_) => Err(BuildError::InvalidKernel {
                kernel,
                reason: "it is annotated twice".to_owned(),
            }),
        }
    }

    fn check_annotations(&self) -> Result<(), BuildError> {
        let is_missing = |name: &&String| !self.kernels.contains(format!("@{name}").as_str());
        match self.annotations.keys().find(is_missing) {
            None => Ok(()),
            Some(kernel) => Err(BuildError::InvalidKernel {
                kernel: kernel.clone(),
                reason: "it is annotated, but no `#[unsafe(no_mangle)] extern \"ptx-kernel\"` \
                         function of this name is in the kernel crate itself; kernels of \
                         dependencies are not exported"
                    .to_owned(),
            }),
        }
    }

    /// The new form of a line; `None` if the line is removed.
    fn rewrite(&self, line: &str) -> Result<Option<String>, BuildError> {
        if line.starts_with("@llvm.used ") || line.starts_with("@llvm.compiler.used ") {
            return without_used(line, |name| self.is_not_kept(name));
        }
        if line.starts_with('@')
            && let Some(global) = Global::parse(line)
        {
            return Ok(self.rewrite_global(line, &global));
        }
        if let Some(kernel) = defined_kernel(line) {
            let annotation = self.annotations.get(bare_name(kernel));
            return annotation
                .map_or(Ok(line.to_owned()), |it| annotate(line, it))
                .map(Some);
        }
        let line = self.with_moved_globals(line);
        Ok(Some(mark_convergent(&line).unwrap_or(line)))
    }

    /// `#[used]` must not keep an annotation or an unused shared array.
    fn is_not_kept(&self, name: &str) -> bool {
        self.annotation_statics.contains(name) || self.moved.contains_key(name)
    }

    fn rewrite_global(&self, line: &str, global: &Global<'_>) -> Option<String> {
        if self.annotation_statics.contains(global.name) {
            return None;
        }
        let memory = global.section.and_then(Memory::of_section);
        match memory {
            Some(memory) => Some(global.moved_to(memory)),
            None => Some(self.with_moved_globals(line)),
        }
    }

    fn with_moved_globals(&self, line: &str) -> String {
        replace_globals(line, |name| self.moved.get(name).map(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"target triple = "nvptx64-nvidia-cuda"
@NOTE = constant [15 x i8] c"scale|maxntid=8", section ".tilewright.kernel", align 1
@TILE = internal global [64 x i8] zeroinitializer, section ".shared", align 16
@TABLE = constant [4 x i8] zeroinitializer, section ".constant", align 4
@BOTH = constant { ptr, ptr } { ptr @TABLE, ptr @text }, align 8
@text = private constant [5 x i8] c"@TILE"
@llvm.used = appending global [1 x ptr] [ptr @NOTE], section "llvm.metadata"

define ptx_kernel void @scale(ptr noundef %0) unnamed_addr #1 {
  %2 = icmp eq ptr %0, @TILE
  %3 = getelementptr inbounds i8, ptr @TILE, i64 4
  call void asm sideeffect "bar.sync 0;", "~{memory}"()
  ret void
}
"#;

    #[test]
    fn the_whole_module_is_rewritten() {
        let prepared = prepare(MODULE).unwrap();
        let expected = r#"target triple = "nvptx64-nvidia-cuda"
@TILE = internal addrspace(3) global [64 x i8] poison, align 16
@TABLE = addrspace(4) externally_initialized constant [4 x i8] zeroinitializer, align 4
@BOTH = constant { ptr, ptr } { ptr addrspacecast (ptr addrspace(4) @TABLE to ptr), ptr @text }, align 8
@text = private constant [5 x i8] c"@TILE"

define ptx_kernel void @scale(ptr noundef %0) unnamed_addr "nvvm.maxntid"="8" #1 {
  %2 = icmp eq ptr %0, addrspacecast (ptr addrspace(3) @TILE to ptr)
  %3 = getelementptr inbounds i8, ptr addrspacecast (ptr addrspace(3) @TILE to ptr), i64 4
  call void asm sideeffect "bar.sync 0;", "~{memory}"() convergent
  ret void
}
"#;
        assert_eq!(prepared.ir, expected);
        assert_eq!(prepared.kernels, ["scale"]);
        assert_eq!(prepared.public_symbols, ["scale", "TABLE"]);
    }

    #[test]
    fn kernels_are_kept_by_the_architecture_that_they_state() {
        let module = MODULE
            .replace(
                "[15 x i8] c\"scale|maxntid=8\"",
                "[17 x i8] c\"scale|arch=sm_90a\"",
            )
            .replace(
                "define",
                "define ptx_kernel void @other() {\n  ret void\n}\ndefine",
            );
        let mut prepared = prepare(&module).unwrap();
        prepared
            .public_symbols
            .push("__signature_of_other".to_owned());
        assert_eq!(prepared.kernels, ["other", "scale"]);
        prepared.keep_kernels_that_state("sm_90a");
        assert_eq!(prepared.kernels, ["scale"]);
        assert_eq!(prepared.public_symbols, ["scale", "TABLE"]);
        prepared.keep_kernels_that_state("sm_90");
        assert!(prepared.kernels.is_empty());
    }

    #[test]
    fn a_module_with_remainders_has_their_functions() {
        assert!(!prepare(MODULE).unwrap().ir.contains("__cuda_std_remainder"));
        let module = MODULE.replace("ret void", "%4 = frem float 5.0, 3.0\n  ret void");
        let ir = prepare(&module).unwrap().ir;
        assert!(ir.contains("%4 = call float @__cuda_std_remainder_f32(float 5.0, float 3.0)"));
        assert!(ir.contains("define float @__cuda_std_remainder_f32("));
    }

    #[test]
    fn an_annotation_needs_its_kernel() {
        let orphan = MODULE.replace("ptx_kernel", "fastcc");
        let message = prepare(&orphan).unwrap_err().to_string();
        assert!(
            message.starts_with("kernel `scale`: it is annotated, but"),
            "{message}"
        );
    }

    #[test]
    fn a_kernel_is_annotated_once() {
        let note = MODULE.lines().nth(1).unwrap();
        let twice = MODULE.replace(
            note,
            &format!("{note}\n{}", note.replace("@NOTE", "@OTHER")),
        );
        let message = prepare(&twice).unwrap_err().to_string();
        assert_eq!(message, "kernel `scale`: it is annotated twice");
    }
}
