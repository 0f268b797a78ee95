//! Moves statics into shared, constant and named global memory.

use super::text::{
    Piece, bare_name, bracketed_length, decode_string, first_global, pieces, split_at_commas,
};
use crate::error::BuildError;

/// The definition of a global variable:
/// `@name = linkage.. (global|constant) type initializer, section "..", align N`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Global<'a> {
    /// The name with its `@`.
    pub(super) name: &'a str,
    /// Whether other modules see it.
    is_external: bool,
    value_type: &'a str,
    initializer: &'a str,
    /// The section without its quotes.
    pub(super) section: Option<&'a str>,
    /// `align N`.
    alignment: Option<&'a str>,
}

/// A memory of the GPU that a section stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// One copy for each block: LLVM's address space 3.
    Shared,
    /// Written by the host before the launch: LLVM's address space 4.
    Constant,
    /// Written by the host and by kernels: LLVM's address space 1.
    Global,
}

impl Memory {
    pub(super) fn of_section(section: &str) -> Option<Memory> {
        match section {
            ".shared" => Some(Memory::Shared),
            ".constant" => Some(Memory::Constant),
            ".global" => Some(Memory::Global),
            _ => None,
        }
    }

    fn address_space(self) -> u32 {
        match self {
            Memory::Global => 1,
            Memory::Shared => 3,
            Memory::Constant => 4,
        }
    }

    /// The generic pointer that replaces each use of `global`, whose type stays `ptr`.
    pub(super) fn generic_pointer(self, global: &str) -> String {
        let space = self.address_space();
        format!("addrspacecast (ptr addrspace({space}) {global} to ptr)")
    }
}

impl<'a> Global<'a> {
    /// Reads a line that starts with `@`; `None` if it is not a variable with an initializer, such as an alias or an
    /// external declaration.
    pub(super) fn parse(line: &'a str) -> Option<Global<'a>> {
        let name = first_global(line).filter(|_| line.starts_with('@'))?;
        let definition = line[name.len()..].strip_prefix(" = ")?;
        let (prefix, rest) = split_at_kind(definition)?;
        if has_word(prefix, "external") || has_word(prefix, "extern_weak") {
            return None;
        }
        let mut parts = split_at_commas(rest).into_iter();
        let (value_type, initializer) = split_type(parts.next()?)?;
        let properties: Vec<&str> = parts.collect();
        let property = |prefix: &str| properties.iter().find(|text| text.starts_with(prefix));
        Some(Global {
            name,
            is_external: !has_word(prefix, "internal") && !has_word(prefix, "private"),
            value_type,
            initializer,
            section: property("section ").map(|text| text["section ".len()..].trim_matches('"')),
            alignment: property("align ").copied(),
        })
    }

    /// Whether the host reaches this static by name: it was declared `no_mangle`.
    pub(super) fn is_symbol(&self) -> bool {
        let memory = self.section.and_then(Memory::of_section);
        let outlives_launches = matches!(memory, Some(Memory::Constant | Memory::Global));
        let name = bare_name(self.name);
        let is_mangled = name.starts_with("_R") || name.starts_with("_ZN");
        outlives_launches && self.is_external && !is_mangled
    }

    /// The definition in the address space of `memory`.
    pub(super) fn moved_to(&self, memory: Memory) -> String {
        let space = memory.address_space();
        let internal = if self.is_symbol() { "" } else { "internal " };
        let (linkage, kind, initializer) = match memory {
            // Shared memory has no initial value, and may be written even if Rust's static is not `mut`.
            Memory::Shared => ("internal ", "global", "poison"),
            // No kernel writes it, even if Rust's static has cells: those are for the host.
            Memory::Constant => (internal, "constant", self.initializer),
            Memory::Global => (internal, "global", self.initializer),
        };
        // Keeps LLVM from using the initializer's value, because the host may have replaced it.
        let written_by_host = if self.is_symbol() {
            "externally_initialized "
        } else {
            ""
        };
        let alignment = self
            .alignment
            .map(|text| format!(", {text}"))
            .unwrap_or_default();
        format!(
            "{} = {linkage}addrspace({space}) {written_by_host}{kind} {} {initializer}{alignment}",
            self.name, self.value_type
        )
    }

    /// The bytes of the first string in the initializer, as text.
    pub(super) fn text(&self) -> Option<String> {
        let string = pieces(self.initializer).find_map(|piece| match piece {
            Piece::Quoted(string) => Some(string),
            _ => None,
        })?;
        String::from_utf8(decode_string(string.trim_matches('"'))?).ok()
    }
}

/// Whether `line` defines a variable that a kernel or the host writes, in memory that outlives a launch.
pub(super) fn keeps_what_is_written(line: &str) -> bool {
    let definition = first_global(line)
        .filter(|_| line.starts_with('@'))
        .and_then(|name| line[name.len()..].strip_prefix(" = "));
    let Some((prefix, _)) = definition.and_then(split_at_kind) else {
        return false;
    };
    let is_constant = definition.is_some_and(|text| text[prefix.len()..].starts_with("constant "));
    let is_written = !is_constant || has_word(prefix, "externally_initialized");
    is_written && !has_word(prefix, "addrspace(3)")
}

/// Splits at the word `global` or `constant`, which ends the linkage and similar words.
fn split_at_kind(definition: &str) -> Option<(&str, &str)> {
    let mut offset = 0;
    for word in definition.split(' ') {
        let end = offset + word.len();
        if word == "global" || word == "constant" {
            return Some((&definition[..offset], definition.get(end + 1..)?));
        }
        offset = end + 1;
    }
    None
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(' ').any(|candidate| candidate == word)
}

/// Splits `[4 x i8] c"abcd"` into its type and its value.
fn split_type(text: &str) -> Option<(&str, &str)> {
    let end = match text.as_bytes().first()? {
        b'[' | b'{' | b'<' => bracketed_length(text)?,
        _ => text.find(' ')?,
    };
    Some((&text[..end], text[end..].trim()))
}

/// Removes the entries for which `is_removed` holds from a line that defines `@llvm.used` or `@llvm.compiler.used`;
/// `None` if no entry is left.
pub(super) fn without_used(
    line: &str,
    is_removed: impl Fn(&str) -> bool,
) -> Result<Option<String>, BuildError> {
    let global = Global::parse(line).ok_or_else(|| unexpected(line))?;
    let list = global
        .initializer
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .ok_or_else(|| unexpected(line))?;
    let kept: Vec<&str> = split_at_commas(list)
        .into_iter()
        .filter(|entry| !first_global(entry).is_some_and(&is_removed))
        .collect();
    if kept.is_empty() {
        return Ok(None);
    }
    Ok(Some(format!(
        "{} = appending global [{} x ptr] [{}], section \"llvm.metadata\"",
        global.name,
        kept.len(),
        kept.join(", ")
    )))
}

pub(super) fn unexpected(line: &str) -> BuildError {
    BuildError::UnexpectedIr {
        reason: "cannot read the definition of a global variable".to_owned(),
        line: line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_statics_move_and_lose_their_initializer() {
        let line = r#"@TILE = internal unnamed_addr constant <{ [16 x i8], [4 x i8] }> <{ [16 x i8] undef, [4 x i8] c"a,b\00" }>, section ".shared", align 16"#;
        let global = Global::parse(line).unwrap();
        assert_eq!(global.section, Some(".shared"));
        assert_eq!(
            global.moved_to(Memory::Shared),
            "@TILE = internal addrspace(3) global <{ [16 x i8], [4 x i8] }> poison, align 16"
        );
    }

    #[test]
    fn named_constants_stay_visible_and_keep_their_initializer() {
        let line =
            r#"@COEFFICIENTS = constant [4 x i8] c"\00\01\02\03", section ".constant", align 4"#;
        let global = Global::parse(line).unwrap();
        assert!(global.is_symbol());
        assert_eq!(
            global.moved_to(Memory::Constant),
            r#"@COEFFICIENTS = addrspace(4) externally_initialized constant [4 x i8] c"\00\01\02\03", align 4"#
        );
    }

    #[test]
    fn mangled_constants_are_internal() {
        let line = r#"@_RNvC5probe4TABL = hidden global [4 x i8] zeroinitializer, section ".constant", align 4"#;
        let global = Global::parse(line).unwrap();
        assert!(!global.is_symbol());
        assert_eq!(
            global.moved_to(Memory::Constant),
            "@_RNvC5probe4TABL = internal addrspace(4) constant [4 x i8] zeroinitializer, align 4"
        );
    }

    #[test]
    fn named_globals_may_be_written_by_kernels_and_host() {
        let line = r#"@SEEN = global <{ [16 x i8] }> zeroinitializer, section ".global", align 16"#;
        let global = Global::parse(line).unwrap();
        assert!(global.is_symbol());
        assert_eq!(
            global.moved_to(Memory::Global),
            "@SEEN = addrspace(1) externally_initialized global <{ [16 x i8] }> zeroinitializer, align 16"
        );
    }

    #[test]
    fn declarations_and_aliases_are_no_definitions() {
        assert_eq!(
            Global::parse("@x = external addrspace(3) global [0 x i8], align 128"),
            None
        );
        assert_eq!(Global::parse("@x = alias i8, ptr @y"), None);
        assert_eq!(Global::parse("store ptr @x, ptr %1"), None);
    }

    #[test]
    fn used_lists_shrink_and_vanish() {
        let line = r#"@llvm.used = appending global [2 x ptr] [ptr @a, ptr @"b c"], section "llvm.metadata""#;
        let one = without_used(line, |name| name == "@a").unwrap().unwrap();
        assert_eq!(
            one,
            r#"@llvm.used = appending global [1 x ptr] [ptr @"b c"], section "llvm.metadata""#
        );
        assert_eq!(without_used(line, |_| true).unwrap(), None);
    }
}
