//! The pass over the optimised module: missing definitions, and names that do not vary.

use std::collections::{BTreeMap, BTreeSet};

use rustc_demangle::try_demangle;

use super::text::{bare_name, first_global};

/// Symbols that CUDA's driver defines for every module, and the dynamic shared memory of the prelude.
const DEFINED_ELSEWHERE: [&str; 6] = [
    "smem",
    "smem_of_tiles",
    "vprintf",
    "malloc",
    "free",
    "__assertfail",
];

/// The longest name of an internal symbol; longer names are cut.
const NAME_LIMIT: usize = 64;

/// The symbols, demangled, that the module uses but nothing defines.
pub(crate) fn undefined_symbols(ir: &str) -> Vec<String> {
    let mut symbols: Vec<String> = ir
        .lines()
        .filter(|line| is_declaration(line))
        .filter_map(first_global)
        .map(bare_name)
        .filter(|name| !name.starts_with("llvm.") && !DEFINED_ELSEWHERE.contains(name))
        .map(demangled)
        .collect();
    symbols.sort();
    symbols
}

fn is_declaration(line: &str) -> bool {
    let is_external_global = || {
        let definition = first_global(line).map_or("", |name| &line[name.len()..]);
        definition.starts_with(" = external ") || definition.starts_with(" = extern_weak ")
    };
    line.starts_with("declare ") || (line.starts_with('@') && is_external_global())
}

/// A new name, with its `@`, for each internal symbol, made from its Rust path and a number.
///
/// rustc's own names contain crate hashes, which differ from machine to machine.
pub(super) fn new_names(ir: &str) -> BTreeMap<&str, String> {
    let mut taken: BTreeSet<String> = ir
        .lines()
        .filter_map(first_global)
        .map(str::to_owned)
        .collect();
    let mut renamed = BTreeMap::new();
    for name in ir.lines().filter_map(internal_definition) {
        let stem = stem(bare_name(name));
        let new = (0_u64..)
            .map(|number| format!("@{stem}_{number}"))
            .find(|candidate| !taken.contains(candidate))
            .expect("some number is free");
        taken.insert(new.clone());
        renamed.insert(name, new);
    }
    renamed
}

fn internal_definition(line: &str) -> Option<&str> {
    let is_internal = if line.starts_with('@') {
        let definition = first_global(line).map_or("", |name| &line[name.len()..]);
        definition.starts_with(" = internal ") || definition.starts_with(" = private ")
    } else {
        line.starts_with("define internal ") || line.starts_with("define private ")
    };
    first_global(line).filter(|_| is_internal)
}

/// A readable name without hashes: `kernels::tile::TILE` becomes `kernels_tile_TILE`.
fn stem(name: &str) -> String {
    let path = match try_demangle(name) {
        Ok(path) => format!("{path:#}"),
        Err(_) => without_hashes(name),
    };
    let mut stem = String::new();
    for character in path.chars() {
        if character.is_ascii_alphanumeric() {
            stem.push(character);
        } else if !stem.is_empty() && !stem.ends_with('_') {
            stem.push('_');
        }
    }
    stem.truncate(NAME_LIMIT);
    let stem = stem.trim_end_matches('_');
    let starts_well = stem.starts_with(|first: char| first.is_ascii_alphabetic());
    if starts_well {
        stem.to_owned()
    } else {
        format!("item_{stem}")
    }
}

/// The part before the hash in names such as `anon.0123abcd.7` and `switch.table._RNvC..`.
fn without_hashes(name: &str) -> String {
    let end = name
        .find("_R")
        .or_else(|| name.find("_ZN"))
        .unwrap_or(name.len());
    if name.starts_with("anon.") {
        "anon".to_owned()
    } else {
        name[..end].to_owned()
    }
}

pub(super) fn demangled(name: &str) -> String {
    let path = try_demangle(name).map_or_else(|_| name.to_owned(), |path| format!("{path:#}"));
    if path.ends_with("rust_begin_unwind") {
        return format!("{path} (the crate has no `#[panic_handler]`)");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"@smem = external addrspace(3) global [0 x i8], align 128
@lost = external global i32
@_RNvCsbvwVQVIEKnQ_5probe4TILE = internal addrspace(3) global [4 x i8] poison
@anon.533dabd30f7f6c97555c3c62c6259bec.0 = private constant [11 x i8] c"@smem\00"
@anon.533dabd30f7f6c97555c3c62c6259bec.1 = private constant { ptr } { ptr @anon.533dabd30f7f6c97555c3c62c6259bec.0 }

define ptx_kernel void @anon_0() {
  call void @_RNvCsbvwVQVIEKnQ_5probe7missing()
  ret void
}
declare void @_RNvCsbvwVQVIEKnQ_5probe7missing()
declare void @llvm.trap()
declare i32 @vprintf(ptr, ptr)
"#;

    #[test]
    fn missing_symbols_are_demangled() {
        assert_eq!(undefined_symbols(MODULE), ["lost", "probe::missing"]);
        let handler = "declare void @_RNvCsfgHYwM92fyn_7___rustc17rust_begin_unwind(ptr)";
        let symbols = undefined_symbols(handler);
        let expected = "__rustc::rust_begin_unwind (the crate has no `#[panic_handler]`)";
        assert_eq!(symbols, [expected]);
    }

    #[test]
    fn internal_names_lose_their_hashes_and_stay_unique() {
        let names = new_names(MODULE);
        let new = |old: &str| names.get(old).map(String::as_str);
        assert_eq!(new("@_RNvCsbvwVQVIEKnQ_5probe4TILE"), Some("@probe_TILE_0"));
        // `anon_0` is a kernel.
        assert_eq!(
            new("@anon.533dabd30f7f6c97555c3c62c6259bec.0"),
            Some("@anon_1")
        );
        assert_eq!(
            new("@anon.533dabd30f7f6c97555c3c62c6259bec.1"),
            Some("@anon_2")
        );
        assert_eq!(new("@anon_0"), None);
        assert_eq!(new("@smem"), None);
    }

    #[test]
    fn stems_are_identifiers() {
        assert_eq!(
            stem("switch.table._RNvCsbvwVQVIEKnQ_5probe4TILE"),
            "switch_table"
        );
        assert_eq!(stem("0"), "item_0");
        assert!(stem(&"x".repeat(200)).len() <= NAME_LIMIT);
    }
}
