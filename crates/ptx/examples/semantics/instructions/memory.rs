//! Stores, and loads of what was stored, in other widths; atomic operations; vectors in registers.
//!
//! A thread has 16 bytes of local and of shared memory, and 8 of global memory, at `{local}`, `{shared}`, `{global}`.

use super::instruction::Width::{Bits16, Bits32, Bits64};
use super::instruction::{Comparison, List};

const SPACES: [&str; 3] = ["local", "shared", "global"];

pub(super) fn memory(list: &mut List) {
    for space in SPACES {
        // Bytes behind the first that the second store and the load access.
        for (stored, width, at) in [
            ("b8", Bits32, 3),
            ("b16", Bits16, 2),
            ("b32", Bits32, 4),
            ("b64", Bits64, 0),
        ] {
            for (loaded, result, from) in [
                ("u8", Bits32, 3),
                ("s8", Bits32, 5),
                ("s8", Bits16, 3),
                ("u16", Bits16, 2),
                ("s16", Bits32, 2),
                ("u32", Bits32, 0),
                ("s32", Bits64, 4),
                ("u64", Bits64, 0),
            ] {
                let text = format!(
                    "st.{space}.b64 [{{{space}}}], {{a}}; st.{space}.{stored} [{{{space}}}+{at}], {{b}}; \
                     ld.{space}.{loaded} {{d}}, [{{{space}}}+{from}];"
                );
                list.written(&text, result, &[Bits64, width], Comparison::Exact);
            }
        }
        let text = format!(
            "st.{space}.v2.b32 [{{{space}}}], {{{{b}}, {{a}}}}; ld.{space}.b64 {{d}}, [{{{space}}}];"
        );
        list.written(&text, Bits64, &[Bits32; 2], Comparison::Exact);
        let text = format!(
            "st.{space}.b64 [{{{space}}}], {{a}}; ld.{space}.v2.u16 {{{{t}}, {{u}}}}, [{{{space}}}+4]; \
             sub.u32 {{d}}, {{u}}, {{t}};"
        );
        list.written(&text, Bits32, &[Bits64], Comparison::Exact);
    }
    for (text, width) in [
        ("mov.b64 {{t}, {u}}, {a}; mov.b64 {d}, {{u}, {t}};", Bits64),
        ("cvt.u32.u64 {t}, {a}; mov.b64 {d}, {{t}, {b}};", Bits64),
    ] {
        list.written(text, width, &[Bits64, Bits32], Comparison::Exact);
    }
}

pub(super) fn atomics(list: &mut List) {
    for space in ["shared", "global"] {
        for (of, width) in [
            ("u32", Bits32),
            ("s32", Bits32),
            ("u64", Bits64),
            ("s64", Bits64),
        ] {
            for name in ["add", "min", "max"] {
                // There is no signed addition of 64 bits.
                if (name, of) != ("add", "s64") {
                    atomic(list, space, name, of, width);
                }
            }
        }
        for (of, width) in [("b32", Bits32), ("b64", Bits64)] {
            for name in ["and", "or", "xor", "exch"] {
                atomic(list, space, name, of, width);
            }
            let text = format!(
                "st.{space}.{of} [{{{space}}}], {{a}}; atom.{space}.cas.{of} {{d}}, [{{{space}}}], {{b}}, {{c}}; \
                 ld.{space}.{of} {{d}}, [{{{space}}}];"
            );
            list.written(&text, width, &[width; 3], Comparison::Exact);
        }
        for name in ["inc", "dec"] {
            atomic(list, space, name, "u32", Bits32);
        }
        atomic(list, space, "add", "f32", Bits32);
        atomic(list, space, "add", "f64", Bits64);
        for (of, width) in [
            ("f16", Bits16),
            ("f16x2", Bits32),
            ("bf16", Bits16),
            ("bf16x2", Bits32),
        ] {
            atomic(list, space, "add.noftz", of, width);
        }
    }
}

/// An atomic operation on `{a}` in memory; the result is what is there behind it.
fn atomic(list: &mut List, space: &str, name: &str, of: &str, width: super::Width) {
    let bits = match width {
        Bits16 => "b16",
        Bits32 => "b32",
        _ => "b64",
    };
    let loaded = if of.contains('f') { bits } else { of };
    // NVIDIA's compiler adds the wrong upper half if the operand is the lower half of a 64-bit register: PRMT takes
    // it from bits 32 to 47. Another instruction between them hides that.
    let (before, operand) = match (space, of) {
        ("shared", "f16x2" | "bf16x2") => ("xor.b32 {t}, {b}, 0x80008000; ", "{t}"),
        _ => ("", "{b}"),
    };
    let text = format!(
        "st.{space}.{bits} [{{{space}}}], {{a}}; {before}atom.{space}.{name}.{of} {{d}}, [{{{space}}}], {operand}; \
         ld.{space}.{loaded} {{d}}, [{{{space}}}];"
    );
    let comparison = match of.contains('f') {
        true => Comparison::AnyNan,
        false => Comparison::Exact,
    };
    list.written(&text, width, &[width; 2], comparison);
}
