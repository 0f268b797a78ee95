//! The text of PTX modules.

use cuda_std::signature;
use std::collections::BTreeMap;

/// How often each instruction, with its modifiers, stands in one kernel of one module.
pub struct Instructions(BTreeMap<String, usize>);

impl Instructions {
    /// Those of `kernel` in the text of a module.
    pub fn of(module: &str, kernel: &str) -> Self {
        let (_, entry) = module
            .split_once(&format!(".entry {kernel}("))
            .unwrap_or_else(|| panic!("there is no kernel {kernel}"));
        let body = entry.split("\n}").next().unwrap_or_default();
        let mut counts = BTreeMap::new();
        for line in body.lines() {
            let instruction = line.split_whitespace().find(|word| !word.starts_with('@'));
            *counts
                .entry(instruction.unwrap_or_default().to_owned())
                .or_default() += 1;
        }
        Self(counts)
    }

    /// How many instructions start with `prefix`.
    pub fn count(&self, prefix: &str) -> usize {
        self.0
            .iter()
            .filter(|(instruction, _)| instruction.starts_with(prefix))
            .map(|(_, count)| count)
            .sum()
    }
}

/// The names of a module's kernels.
pub fn entries(module: &str) -> Vec<&str> {
    let entries = module.split(".entry ").skip(1);
    entries
        .filter_map(|entry| entry.split('(').next())
        .collect()
}

/// The signature that a module has beside the entry `kernel`.
pub fn signature_in(module: &str, kernel: &str) -> String {
    let (_, declaration) = module
        .split_once(&format!(" {}[", signature::symbol(kernel)))
        .unwrap_or_else(|| panic!("{kernel} has no signature"));
    let (_, bytes) = declaration.split_once('{').expect("the array has values");
    let (bytes, _) = bytes.split_once('}').expect("the values end");
    let bytes = bytes.split(", ").map(|byte| byte.parse().expect("a byte"));
    String::from_utf8(bytes.collect()).expect("a signature is text")
}

/// Fails unless each kernel of a module has a signature, whose path begins with `path`.
pub fn assert_signatures(module: &str, path: &str) {
    let names = entries(module);
    assert!(!names.is_empty());
    for name in names {
        let found = signature_in(module, name);
        assert!(found.starts_with(path), "{found}");
        assert!(found.contains(&format!("::{name}(")), "{found}");
    }
}
