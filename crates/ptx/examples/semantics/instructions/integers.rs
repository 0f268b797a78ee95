//! Instructions on integers and bits.

use super::instruction::Width::{self, Bits16, Bits32, Bits64};
use super::instruction::{Comparison, List};

pub(super) const INTEGERS: [(&str, Width); 6] = [
    ("u16", Bits16),
    ("s16", Bits16),
    ("u32", Bits32),
    ("s32", Bits32),
    ("u64", Bits64),
    ("s64", Bits64),
];

pub(super) fn integers(list: &mut List) {
    for (of, width) in INTEGERS {
        for name in ["add", "sub", "mul.lo", "mul.hi", "min", "max", "div", "rem"] {
            list.add(&format!("{name}.{of}"), width, &[width; 2]);
        }
        for name in ["mad.lo", "mad.hi", "sad"] {
            list.add(&format!("{name}.{of}"), width, &[width; 3]);
        }
        if of.starts_with('s') {
            list.add(&format!("abs.{of}"), width, &[width]);
            list.add(&format!("neg.{of}"), width, &[width]);
        }
    }
    for (of, from, to) in [
        ("u16", Bits16, Bits32),
        ("s16", Bits16, Bits32),
        ("u32", Bits32, Bits64),
        ("s32", Bits32, Bits64),
    ] {
        list.add(&format!("mul.wide.{of}"), to, &[from; 2]);
        list.add(&format!("mad.wide.{of}"), to, &[from, from, to]);
    }
    for of in ["u32", "s32"] {
        for half in ["lo", "hi"] {
            list.add(&format!("mul24.{half}.{of}"), Bits32, &[Bits32; 2]);
            list.add(&format!("mad24.{half}.{of}"), Bits32, &[Bits32; 3]);
        }
    }
    list.add("add.sat.s32", Bits32, &[Bits32; 2]);
    list.add("sub.sat.s32", Bits32, &[Bits32; 2]);
    list.add("mad.hi.sat.s32", Bits32, &[Bits32; 3]);
    for (of, width) in [("u32", Bits32), ("u64", Bits64)] {
        for text in [
            format!("add.cc.{of} {{d}}, {{a}}, {{b}}; addc.{of} {{d}}, {{b}}, {{c}};"),
            format!("sub.cc.{of} {{d}}, {{a}}, {{b}}; subc.{of} {{d}}, {{b}}, {{c}};"),
            format!(
                "mad.lo.cc.{of} {{d}}, {{a}}, {{b}}, {{c}}; madc.hi.{of} {{d}}, {{a}}, {{b}}, {{c}};"
            ),
        ] {
            list.written(&text, width, &[width; 3], Comparison::Exact);
        }
    }
    for of in ["u16x2", "s16x2"] {
        for name in ["add", "min", "max"] {
            list.add(&format!("{name}.{of}"), Bits32, &[Bits32; 2]);
        }
    }
    for name in ["min", "max"] {
        list.add(&format!("{name}.relu.s16x2"), Bits32, &[Bits32; 2]);
        list.add(&format!("{name}.relu.s32"), Bits32, &[Bits32; 2]);
    }
    for a in ["u32", "s32"] {
        for b in ["u32", "s32"] {
            list.add(&format!("dp4a.{a}.{b}"), Bits32, &[Bits32; 3]);
            list.add(&format!("dp2a.lo.{a}.{b}"), Bits32, &[Bits32; 3]);
            list.add(&format!("dp2a.hi.{a}.{b}"), Bits32, &[Bits32; 3]);
        }
    }
}

pub(super) fn bits(list: &mut List) {
    for (of, width) in [("b16", Bits16), ("b32", Bits32), ("b64", Bits64)] {
        for name in ["and", "or", "xor"] {
            list.add(&format!("{name}.{of}"), width, &[width; 2]);
        }
        list.add(&format!("not.{of}"), width, &[width]);
        list.add(&format!("cnot.{of}"), width, &[width]);
    }
    for (of, width) in [("b32", Bits32), ("b64", Bits64)] {
        for name in ["clz", "popc"] {
            list.add(&format!("{name}.{of}"), Bits32, &[width]);
        }
        list.add(&format!("brev.{of}"), width, &[width]);
    }
    // Amounts of 0 to 127, and any.
    for (name, width) in [
        ("shl.b16", Bits16),
        ("shl.b32", Bits32),
        ("shl.b64", Bits64),
        ("shr.u16", Bits16),
        ("shr.s16", Bits16),
        ("shr.u32", Bits32),
        ("shr.s32", Bits32),
        ("shr.u64", Bits64),
        ("shr.s64", Bits64),
    ] {
        list.add(name, width, &[width, Bits32]);
        let text = format!("and.b32 {{t}}, {{b}}, 127; {name} {{d}}, {{a}}, {{t}};");
        list.written(&text, width, &[width, Bits32], Comparison::Exact);
    }
    for direction in ["l", "r"] {
        for range in ["wrap", "clamp"] {
            let name = format!("shf.{direction}.{range}.b32");
            list.add(&name, Bits32, &[Bits32; 3]);
            let text = format!("and.b32 {{t}}, {{c}}, 127; {name} {{d}}, {{a}}, {{b}}, {{t}};");
            list.written(&text, Bits32, &[Bits32; 3], Comparison::Exact);
        }
    }
    for table in [0x80, 0x96, 0xe8, 0xca, 0x1e, 0x57] {
        let text = format!("lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table};");
        list.written(&text, Bits32, &[Bits32; 3], Comparison::Exact);
    }
}

pub(super) fn fields(list: &mut List) {
    for of in ["u32", "s32", "u64", "s64"] {
        let width = if of.ends_with("64") { Bits64 } else { Bits32 };
        list.add(&format!("bfind.{of}"), Bits32, &[width]);
        list.add(&format!("bfind.shiftamt.{of}"), Bits32, &[width]);
        list.add(&format!("bfe.{of}"), width, &[width, Bits32, Bits32]);
        let text = format!(
            "and.b32 {{t}}, {{b}}, 127; and.b32 {{u}}, {{c}}, 127; bfe.{of} {{d}}, {{a}}, {{t}}, {{u}};"
        );
        list.written(&text, width, &[width, Bits32, Bits32], Comparison::Exact);
        let text = format!(
            "and.b32 {{t}}, {{b}}, 31; and.b32 {{u}}, {{c}}, 31; bfe.{of} {{d}}, {{a}}, {{t}}, {{u}};"
        );
        list.written(&text, width, &[width, Bits32, Bits32], Comparison::Exact);
    }
    for (of, width) in [("b32", Bits32), ("b64", Bits64)] {
        for limit in [31, 127] {
            let text = format!(
                "and.b32 {{t}}, {{c}}, {limit}; shr.u32 {{u}}, {{c}}, 8; and.b32 {{u}}, {{u}}, {limit}; \
                 bfi.{of} {{d}}, {{a}}, {{b}}, {{t}}, {{u}};"
            );
            list.written(&text, width, &[width, width, Bits32], Comparison::Exact);
        }
    }
    for mode in ["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"] {
        list.add(&format!("prmt.b32{mode}"), Bits32, &[Bits32; 3]);
    }
    for range in ["clamp", "wrap"] {
        list.add(&format!("bmsk.{range}.b32"), Bits32, &[Bits32; 2]);
        for of in ["u32", "s32"] {
            list.add(&format!("szext.{range}.{of}"), Bits32, &[Bits32; 2]);
            let text = format!("and.b32 {{t}}, {{b}}, 63; szext.{range}.{of} {{d}}, {{a}}, {{t}};");
            list.written(&text, Bits32, &[Bits32; 2], Comparison::Exact);
        }
    }
    let text = "and.b32 {t}, {b}, 31; shr.s32 {u}, {c}, 27; fns.b32 {d}, {a}, {t}, {u};";
    list.written(text, Bits32, &[Bits32; 3], Comparison::Exact);
}
