//! Splits one kernel, with everything that it reaches, from the optimised module.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::global::{keeps_what_is_written, without_used};
use super::text::{bare_name, first_global, metadata_nodes, names};
use crate::error::BuildError;

/// The prefix that `#[kernel]` puts before a kernel's name for the array with its signature, which the host reads
/// beside the entry (`cuda_std::signature`).
const SIGNATURE_PREFIX: &str = "__signature_of_";

/// The static of `cuda_std::output` through which the host finds the kernels' output. The host gives each module its
/// own.
const OUTPUT: &str = "@__tilewright_output";

/// The optimised module, from which each kernel can be split into a module of its own.
pub(crate) struct Splitter<'a> {
    items: Vec<Item<'a>>,
    /// The index of each named item.
    by_name: HashMap<&'a str, usize>,
    /// The indices of the named items that each item uses.
    used: Vec<Vec<usize>>,
}

/// A function with its body, or a line outside of functions.
struct Item<'a> {
    /// The name that it defines or declares, with the `@`, or the number of a metadata node, such as `!12`. `None`
    /// for attributes, lists of nodes and the like.
    name: Option<&'a str>,
    lines: Vec<&'a str>,
    /// All names and numbers in it, including its own.
    uses: HashSet<&'a str>,
}

impl<'a> Splitter<'a> {
    pub(crate) fn new(ir: &'a str) -> Splitter<'a> {
        let items = items(ir);
        let by_name: HashMap<&str, usize> = items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| Some((item.name?, index)))
            .collect();
        let used = |item: &Item<'a>| {
            let uses = item.uses.iter();
            uses.filter_map(|name| by_name.get(name).copied()).collect()
        };
        Splitter {
            used: items.iter().map(used).collect(),
            items,
            by_name,
        }
    }

    /// The text of a module with the entry `kernel`, its signature, and everything that both reach. Function bodies
    /// are unchanged.
    pub(crate) fn module_of(&self, kernel: &str) -> Result<String, BuildError> {
        let kept = self.reached_by(kernel);
        let mut module = String::new();
        for (index, item) in self.items.iter().enumerate() {
            if item.lists_used_symbols() {
                let is_removed = |name: &str| !self.is_kept(name, &kept);
                if let Some(line) = without_used(item.lines[0], is_removed)? {
                    push_line(&mut module, &line);
                }
            } else if item.name.is_none() || kept[index] {
                for line in &item.lines {
                    push_line(&mut module, line);
                }
            }
        }
        Ok(module)
    }

    /// Fails if two of the `kernels` reach the same static that keeps written values. Each of their modules would
    /// have a copy, and a kernel would not see what another kernel or the host wrote.
    pub(crate) fn check_nothing_is_shared(&self, kernels: &[String]) -> Result<(), BuildError> {
        let mut first_users: BTreeMap<usize, &String> = BTreeMap::new();
        for kernel in kernels {
            let reached = self.reached_by(kernel);
            for (index, item) in self.items.iter().enumerate() {
                if !reached[index] || !item.keeps_what_is_written() {
                    continue;
                }
                if let Some(first) = first_users.insert(index, kernel) {
                    let name = bare_name(item.name.unwrap_or_default());
                    return Err(BuildError::SharedStatic {
                        symbol: super::names::demangled(name),
                        kernels: [first.clone(), kernel.clone()],
                    });
                }
            }
        }
        Ok(())
    }

    /// Whether the entry `kernel` and its signature reach each item.
    fn reached_by(&self, kernel: &str) -> Vec<bool> {
        let roots = [format!("@{kernel}"), format!("@{SIGNATURE_PREFIX}{kernel}")];
        let roots = roots.iter().map(String::as_str);
        let lists = self.items.iter().filter(|item| item.name.is_none());
        let of_lists = lists.flat_map(|list| list.uses.iter().copied());
        let roots = roots.chain(of_lists.filter(|name| name.starts_with('!')));
        let mut open: Vec<usize> = roots
            .filter_map(|root| self.by_name.get(root).copied())
            .collect();
        let mut reached = vec![false; self.items.len()];
        while let Some(index) = open.pop() {
            if !reached[index] {
                reached[index] = true;
                open.extend(&self.used[index]);
            }
        }
        reached
    }

    fn is_kept(&self, name: &str, kept: &[bool]) -> bool {
        self.by_name.get(name).is_some_and(|&it| kept[it])
    }
}

impl<'a> Item<'a> {
    fn of_line(line: &'a str) -> Item<'a> {
        let defines = ["@", "define ", "declare "];
        let is_named = defines.iter().any(|start| line.starts_with(start));
        let node = || {
            metadata_nodes(line)
                .next()
                .filter(|node| line.starts_with(node))
        };
        let mut item = Item {
            name: first_global(line).filter(|_| is_named).or_else(node),
            lines: Vec::new(),
            uses: HashSet::new(),
        };
        item.push(line);
        item
    }

    fn push(&mut self, line: &'a str) {
        self.lines.push(line);
        self.uses.extend(names(line));
    }

    /// `@llvm.used` and `@llvm.compiler.used`.
    fn lists_used_symbols(&self) -> bool {
        matches!(self.name, Some("@llvm.used" | "@llvm.compiler.used"))
    }

    /// Whether it is a variable that a kernel or the host writes, and that outlives a launch.
    fn keeps_what_is_written(&self) -> bool {
        let is_for_each_module = self.lists_used_symbols() || self.name == Some(OUTPUT);
        !is_for_each_module && keeps_what_is_written(self.lines[0])
    }
}

fn items(ir: &str) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = Vec::new();
    let mut in_function = false;
    for line in ir.lines() {
        match items.last_mut() {
            Some(function) if in_function => function.push(line),
            _ => items.push(Item::of_line(line)),
        }
        in_function = (in_function || line.starts_with("define ")) && line != "}";
    }
    items
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"target triple = "nvptx64-nvidia-cuda"
@__signature_of_scale = addrspace(1) externally_initialized global [1 x i8] c"s"
@__signature_of_shift = addrspace(1) externally_initialized global [1 x i8] c"t"
@smem = external addrspace(3) global [0 x i8], align 128
@tile = internal addrspace(3) global [4 x i8] poison
@text = private constant [6 x i8] c"@tile\00"
@place = private constant { ptr } { ptr @text }
@llvm.used = appending global [2 x ptr] [ptr @text, ptr addrspacecast (ptr addrspace(3) @tile to ptr)], section "llvm.metadata"

define ptx_kernel void @scale(ptr %0) #0 {
  call void @help(ptr @place)
  ret void
}

define ptx_kernel void @shift(ptr %0) #0 {
  store i8 0, ptr addrspace(3) @tile
  ret void
}

define internal void @help(ptr %0) {
  store i8 1, ptr addrspace(3) @tile
  call void @llvm.trap()
  ret void
}

declare void @llvm.trap()

attributes #0 = { nounwind }
"#;

    #[test]
    fn a_kernel_takes_what_it_reaches_along() {
        let expected = r#"target triple = "nvptx64-nvidia-cuda"
@__signature_of_shift = addrspace(1) externally_initialized global [1 x i8] c"t"
@tile = internal addrspace(3) global [4 x i8] poison
@llvm.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(3) @tile to ptr)], section "llvm.metadata"


define ptx_kernel void @shift(ptr %0) #0 {
  store i8 0, ptr addrspace(3) @tile
  ret void
}



attributes #0 = { nounwind }
"#;
        let splitter = Splitter::new(MODULE);
        let shift = splitter.module_of("shift").unwrap();
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.is_empty());
            lines.map(str::to_owned).collect()
        };
        assert_eq!(lines(&shift), lines(expected));
        let scale = splitter.module_of("scale").unwrap();
        for name in ["@help(", "@place", "@text", "@tile", "@llvm.trap"] {
            assert!(scale.contains(name), "{name}: {scale}");
        }
        assert!(!scale.contains("@shift") && !scale.contains("@smem"));
    }

    #[test]
    fn a_kernel_takes_the_metadata_that_it_reaches_along() {
        let module = r#"define void @scale(ptr %0) {
  %1 = load i32, ptr %0, !range !2, !noundef !1
  ret void
}
define void @shift(ptr %0) {
  %1 = load i32, ptr %0, !alias.scope !4
  ret void
}
!llvm.ident = !{!0}
!0 = !{!"a compiler"}
!1 = !{}
!2 = !{i32 0, i32 8}
!3 = distinct !{!3, !"a domain"}
!4 = !{!5}
!5 = distinct !{!5, !3}
"#;
        let splitter = Splitter::new(module);
        let nodes = |kernel: &str| -> Vec<String> {
            let module = splitter.module_of(kernel).unwrap();
            let lines = module.lines().filter(|line| line.starts_with('!'));
            lines.map(|line| line[..2].to_owned()).collect()
        };
        assert_eq!(nodes("scale"), ["!l", "!0", "!1", "!2"]);
        assert_eq!(nodes("shift"), ["!l", "!0", "!3", "!4", "!5"]);
    }

    #[test]
    fn each_module_has_the_static_of_printed_lines() {
        let kernels = ["scale".to_owned(), "shift".to_owned()];
        let written = MODULE
            .replace("@tile = internal addrspace(3)", "@tile = addrspace(1)")
            .replace("@tile", OUTPUT);
        let splitter = Splitter::new(&written);
        splitter.check_nothing_is_shared(&kernels).unwrap();
        for kernel in kernels {
            assert!(
                splitter
                    .module_of(&kernel)
                    .unwrap()
                    .contains(&format!("{OUTPUT} = "))
            );
        }
    }

    #[test]
    fn constants_and_shared_memory_are_copied_but_nothing_that_is_written() {
        let kernels = ["scale".to_owned(), "shift".to_owned()];
        Splitter::new(MODULE)
            .check_nothing_is_shared(&kernels)
            .unwrap();
        for written in [
            "@tile = addrspace(1) externally_initialized global",
            "@tile = addrspace(4) externally_initialized constant",
            "@tile = internal unnamed_addr global",
        ] {
            let shared = MODULE.replace("@tile = internal addrspace(3) global", written);
            let error = Splitter::new(&shared)
                .check_nothing_is_shared(&kernels)
                .unwrap_err();
            assert!(
                matches!(&error, BuildError::SharedStatic { symbol, kernels: [a, b] }
                    if symbol == "tile" && a == "scale" && b == "shift"),
                "{error}"
            );
        }
    }
}
