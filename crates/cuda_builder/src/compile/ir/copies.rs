//! Turns small aligned copies into vector loads and stores.

use std::fmt::Write as _;

use super::text::{bracketed_length, find_code, split_at_commas};

/// The widest access of a thread, in bytes, such as `ld.global.v4.b32`.
const VECTOR: u64 = 16;
/// Larger copies stay calls, for which LLVM generates loops.
const LARGEST: u64 = 128;

/// Rewrites a `memcpy` of a few aligned 16-byte units, as in Rust's moves of structs between memories.
///
/// LLVM's code generator would move 8 bytes at a time, and not through the read-only path. This works on optimised
/// IR, because the optimiser handles a `memcpy` better than vectors. `number` distinguishes the values of one module.
pub(super) fn vectorise_copy(line: &str, number: usize) -> Option<String> {
    let copy = Copy::parse(line)?;
    let mut loads = String::new();
    let mut stores = String::new();
    for unit in 0..copy.bytes / VECTOR {
        let offset = unit * VECTOR;
        let value = format!("%copy.{number}.{unit}");
        let source = address(&copy.source, &format!("{value}.from"), offset, &mut loads);
        writeln!(loads, "  {value} = load <4 x i32>, {source}, align 16").ok()?;
        let target = address(&copy.target, &format!("{value}.to"), offset, &mut stores);
        writeln!(stores, "  store <4 x i32> {value}, {target}, align 16").ok()?;
    }
    Some((loads + &stores).trim_end().to_owned())
}

/// The typed pointer `offset` bytes after `pointer`, computed by an instruction if needed.
fn address(pointer: &Pointer<'_>, name: &str, offset: u64, code: &mut String) -> String {
    let Pointer {
        pointer_type,
        value,
    } = pointer;
    if offset == 0 {
        return format!("{pointer_type} {value}");
    }
    writeln!(
        code,
        "  {name} = getelementptr inbounds nuw i8, {pointer_type} {value}, i64 {offset}"
    )
    .expect("writing to a String cannot fail");
    format!("{pointer_type} {name}")
}

struct Copy<'a> {
    target: Pointer<'a>,
    source: Pointer<'a>,
    bytes: u64,
}

/// An argument such as `ptr align 16 %7`.
struct Pointer<'a> {
    pointer_type: &'a str,
    value: &'a str,
}

impl<'a> Copy<'a> {
    fn parse(line: &'a str) -> Option<Copy<'a>> {
        let call = line.trim_start();
        let is_call = ["call void ", "tail call void "]
            .iter()
            .any(|start| call.starts_with(start));
        if !is_call || !line.contains(" @llvm.memcpy.p") {
            return None;
        }
        let open = find_code(line, "(")?;
        let close = open + bracketed_length(&line[open..])?;
        let arguments = split_at_commas(&line[open + 1..close - 1]);
        let [target, source, bytes, "i1 false"] = arguments[..] else {
            return None;
        };
        let bytes: u64 = bytes.strip_prefix("i64 ")?.parse().ok()?;
        let fits = bytes > 0 && bytes <= LARGEST && bytes.is_multiple_of(VECTOR);
        fits.then_some(Copy {
            target: Pointer::parse(target)?,
            source: Pointer::parse(source)?,
            bytes,
        })
    }
}

impl<'a> Pointer<'a> {
    /// `None` if the pointer is not known to be aligned to a vector.
    fn parse(argument: &'a str) -> Option<Pointer<'a>> {
        let starts = [" %", " @", " addrspacecast (", " getelementptr "];
        let value = starts
            .iter()
            .filter_map(|start| argument.find(start))
            .min()?
            + 1;
        let (attributes, value) = argument.split_at(value);
        let (_, alignment) = attributes.split_once(" align ")?;
        let alignment: u64 = alignment.split(' ').next()?.parse().ok()?;
        // A pointer's type may name its address space: `ptr addrspace(3)`.
        let space = attributes
            .strip_prefix("ptr addrspace(")
            .and_then(|rest| rest.find(')'));
        let type_length = space.map_or("ptr".len(), |end| "ptr addrspace(".len() + end + 1);
        let is_aligned = alignment.is_multiple_of(VECTOR) && attributes.starts_with("ptr ");
        is_aligned.then_some(Pointer {
            pointer_type: &attributes[..type_length],
            value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(target: &str, source: &str, bytes: u64, is_volatile: bool) -> String {
        format!(
            "  tail call void @llvm.memcpy.p0.p3.i64({target}, {source}, i64 {bytes}, i1 {is_volatile}), !tbaa !2"
        )
    }

    const TARGET: &str = "ptr noundef nonnull align 16 dereferenceable(32) %7";
    const SOURCE: &str = "ptr addrspace(3) align 32 @tile";

    #[test]
    fn aligned_structs_are_copied_by_vectors() {
        let expected = "  %copy.4.0 = load <4 x i32>, ptr addrspace(3) @tile, align 16
  %copy.4.1.from = getelementptr inbounds nuw i8, ptr addrspace(3) @tile, i64 16
  %copy.4.1 = load <4 x i32>, ptr addrspace(3) %copy.4.1.from, align 16
  store <4 x i32> %copy.4.0, ptr %7, align 16
  %copy.4.1.to = getelementptr inbounds nuw i8, ptr %7, i64 16
  store <4 x i32> %copy.4.1, ptr %copy.4.1.to, align 16";
        assert_eq!(
            vectorise_copy(&call(TARGET, SOURCE, 32, false), 4).unwrap(),
            expected
        );
    }

    #[test]
    fn constant_expressions_are_values() {
        let target = "ptr nonnull align 16 addrspacecast (ptr addrspace(3) @x to ptr)";
        let copied = vectorise_copy(&call(target, SOURCE, 16, false), 0).unwrap();
        let store =
            "store <4 x i32> %copy.0.0, ptr addrspacecast (ptr addrspace(3) @x to ptr), align 16";
        assert!(copied.ends_with(store), "{copied}");
    }

    #[test]
    fn other_copies_stay() {
        for line in [
            call(TARGET, SOURCE, 24, false),
            call(TARGET, SOURCE, 256, false),
            call(TARGET, SOURCE, 16, true),
            call("ptr align 8 %1", SOURCE, 16, false),
            call("ptr %1", SOURCE, 16, false),
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1 immarg)".to_owned(),
        ] {
            assert_eq!(vectorise_copy(&line, 0), None, "{line}");
        }
    }
}
