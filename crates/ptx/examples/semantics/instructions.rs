//! Instructions to compare with a GPU, by family.

/// A register's width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    Predicate,
    Bits16,
    Bits32,
    Bits64,
}

use Width::{Bits16, Bits32, Bits64, Predicate};

/// How a result is compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Comparison {
    /// Bit by bit.
    Exact,
    /// Bit by bit, but any NaN of this many bits is like any other. The report counts those with other bits.
    AnyNan,
    /// An f32 within so many units in the last place.
    Units(u32),
    /// An f32 within this distance.
    Absolute(f64),
    /// A float of 16 bits (two of them in 32), or an f64, within so many units.
    HalfUnits(u32),
    /// The upper half of an f64, within so many units of it.
    UpperUnits(u32),
}

/// An instruction with its operands: `{d}`, `{a}`, `{b}` and `{c}` stand for registers.
#[derive(Clone, PartialEq, Debug)]
pub struct Instruction {
    pub text: String,
    pub result: Width,
    pub operands: Vec<Width>,
    pub comparison: Comparison,
    /// Whether chains of instructions may have it.
    pub is_exact: bool,
}

/// Collects instructions.
#[derive(Default)]
struct List(Vec<Instruction>);

impl List {
    /// `name {d}, {a}, ..`.
    fn add(&mut self, name: &str, result: Width, operands: &[Width]) {
        self.compared(name, result, operands, Comparison::Exact);
    }

    fn compared(&mut self, name: &str, result: Width, operands: &[Width], comparison: Comparison) {
        let places = &["{a}", "{b}", "{c}"][..operands.len()];
        let text = format!("{name} {{d}}, {};", places.join(", "));
        self.written(&text, result, operands, comparison);
    }

    fn written(&mut self, text: &str, result: Width, operands: &[Width], comparison: Comparison) {
        self.0.push(Instruction {
            text: text.to_owned(),
            result,
            operands: operands.to_vec(),
            comparison,
            is_exact: matches!(comparison, Comparison::Exact | Comparison::AnyNan),
        });
    }
}

/// The families, each with a name.
pub fn families() -> Vec<(&'static str, Vec<Instruction>)> {
    let families: [(&str, fn(&mut List)); 11] = [
        ("integers", integers),
        ("bits", bits),
        ("fields", fields),
        ("f32", single),
        ("f64", double),
        ("halves", halves),
        ("comparisons", comparisons),
        ("approximations", approximations),
        ("integer_conversions", integer_conversions),
        ("float_conversions", float_conversions),
        ("small_conversions", small_conversions),
    ];
    let listed = families.into_iter().map(|(name, add)| {
        let mut list = List::default();
        add(&mut list);
        (name, list.0)
    });
    listed.collect()
}

const INTEGERS: [(&str, Width); 6] = [
    ("u16", Bits16),
    ("s16", Bits16),
    ("u32", Bits32),
    ("s32", Bits32),
    ("u64", Bits64),
    ("s64", Bits64),
];

fn integers(list: &mut List) {
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

fn bits(list: &mut List) {
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

fn fields(list: &mut List) {
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

const ROUNDINGS: [&str; 4] = ["rn", "rz", "rm", "rp"];

fn single(list: &mut List) {
    let three = [Bits32; 3];
    for rounding in ROUNDINGS {
        for ftz in ["", ".ftz"] {
            for sat in ["", ".sat"] {
                for name in ["add", "sub", "mul"] {
                    list.add(
                        &format!("{name}.{rounding}{ftz}{sat}.f32"),
                        Bits32,
                        &three[..2],
                    );
                }
                list.add(&format!("fma.{rounding}{ftz}{sat}.f32"), Bits32, &three);
            }
            list.add(&format!("div.{rounding}{ftz}.f32"), Bits32, &three[..2]);
            list.add(&format!("rcp.{rounding}{ftz}.f32"), Bits32, &three[..1]);
            list.add(&format!("sqrt.{rounding}{ftz}.f32"), Bits32, &three[..1]);
        }
    }
    for name in ["min", "max"] {
        for modifiers in [
            "",
            ".ftz",
            ".NaN",
            ".ftz.NaN",
            ".xorsign.abs",
            ".NaN.xorsign.abs",
        ] {
            list.add(&format!("{name}{modifiers}.f32"), Bits32, &three[..2]);
        }
    }
    for name in ["abs", "neg"] {
        // The payload of a NaN has no meaning.
        for ftz in ["", ".ftz"] {
            list.compared(
                &format!("{name}{ftz}.f32"),
                Bits32,
                &three[..1],
                Comparison::AnyNan,
            );
        }
    }
    list.add("copysign.f32", Bits32, &three[..2]);
}

fn double(list: &mut List) {
    let three = [Bits64; 3];
    for rounding in ROUNDINGS {
        for name in ["add", "sub", "mul", "div"] {
            let name = format!("{name}.{rounding}.f64");
            list.compared(&name, Bits64, &three[..2], Comparison::AnyNan);
        }
        list.compared(
            &format!("fma.{rounding}.f64"),
            Bits64,
            &three,
            Comparison::AnyNan,
        );
        for name in ["rcp", "sqrt"] {
            let name = format!("{name}.{rounding}.f64");
            list.compared(&name, Bits64, &three[..1], Comparison::AnyNan);
        }
    }
    for name in ["min", "max"] {
        list.compared(
            &format!("{name}.f64"),
            Bits64,
            &three[..2],
            Comparison::AnyNan,
        );
    }
    for name in ["abs", "neg"] {
        list.compared(
            &format!("{name}.f64"),
            Bits64,
            &three[..1],
            Comparison::AnyNan,
        );
    }
    list.add("copysign.f64", Bits64, &three[..2]);
}

fn halves(list: &mut List) {
    for (of, width) in [
        ("f16", Bits16),
        ("f16x2", Bits32),
        ("bf16", Bits16),
        ("bf16x2", Bits32),
    ] {
        let three = [width; 3];
        let is_half = of.starts_with('f');
        let modifiers: &[&str] = match is_half {
            true => &["", ".ftz", ".sat", ".ftz.sat"],
            false => &[""],
        };
        for modifiers in modifiers {
            for name in ["add", "sub", "mul"] {
                list.add(&format!("{name}.rn{modifiers}.{of}"), width, &three[..2]);
            }
            list.add(&format!("fma.rn{modifiers}.{of}"), width, &three);
        }
        list.add(&format!("fma.rn.relu.{of}"), width, &three);
        let modifiers: &[&str] = match is_half {
            true => &[
                "",
                ".ftz",
                ".NaN",
                ".ftz.NaN",
                ".xorsign.abs",
                ".NaN.xorsign.abs",
            ],
            false => &["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"],
        };
        for name in ["min", "max"] {
            for modifiers in modifiers {
                list.add(&format!("{name}{modifiers}.{of}"), width, &three[..2]);
            }
        }
        for name in ["abs", "neg"] {
            list.compared(
                &format!("{name}.{of}"),
                width,
                &three[..1],
                Comparison::AnyNan,
            );
            if is_half {
                let name = format!("{name}.ftz.{of}");
                list.compared(&name, width, &three[..1], Comparison::AnyNan);
            }
        }
        let (exponential, tangent) = match is_half {
            true => (format!("ex2.approx.{of}"), format!("tanh.approx.{of}")),
            false => (format!("ex2.approx.ftz.{of}"), format!("tanh.approx.{of}")),
        };
        list.compared(&exponential, width, &three[..1], Comparison::HalfUnits(2));
        list.compared(&tangent, width, &three[..1], Comparison::HalfUnits(4));
    }
}

const FLOAT_COMPARISONS: [&str; 14] = [
    "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
];

fn comparisons(list: &mut List) {
    for (of, width) in [
        ("f32", Bits32),
        ("f64", Bits64),
        ("f16", Bits16),
        ("bf16", Bits16),
    ] {
        for comparison in FLOAT_COMPARISONS {
            list.add(&format!("setp.{comparison}.{of}"), Predicate, &[width; 2]);
        }
    }
    for comparison in FLOAT_COMPARISONS {
        list.add(
            &format!("setp.{comparison}.ftz.f32"),
            Predicate,
            &[Bits32; 2],
        );
        list.add(
            &format!("setp.{comparison}.ftz.f16"),
            Predicate,
            &[Bits16; 2],
        );
    }
    for (of, width) in INTEGERS {
        for comparison in ["eq", "ne", "lt", "le", "gt", "ge"] {
            list.add(&format!("setp.{comparison}.{of}"), Predicate, &[width; 2]);
        }
    }
    for comparison in ["eq", "ltu", "gt"] {
        for to in ["u32", "s32", "f32"] {
            list.add(&format!("set.{comparison}.{to}.f32"), Bits32, &[Bits32; 2]);
            list.add(
                &format!("set.{comparison}.ftz.{to}.f32"),
                Bits32,
                &[Bits32; 2],
            );
            list.add(&format!("set.{comparison}.{to}.f64"), Bits32, &[Bits64; 2]);
        }
        list.add(
            &format!("set.{comparison}.f16x2.f16x2"),
            Bits32,
            &[Bits32; 2],
        );
        list.add(&format!("set.{comparison}.u32.f16"), Bits32, &[Bits16; 2]);
        list.add(
            &format!("set.{comparison}.bf16x2.bf16x2"),
            Bits32,
            &[Bits32; 2],
        );
    }
    list.add("set.lt.u32.s32", Bits32, &[Bits32; 2]);
    list.add("slct.u32.s32", Bits32, &[Bits32; 3]);
    list.add("slct.u64.s32", Bits64, &[Bits64, Bits64, Bits32]);
    list.add("slct.f32.f32", Bits32, &[Bits32; 3]);
    list.add("slct.ftz.f32.f32", Bits32, &[Bits32; 3]);
    for property in [
        "finite",
        "infinite",
        "number",
        "notanumber",
        "normal",
        "subnormal",
    ] {
        list.add(&format!("testp.{property}.f32"), Predicate, &[Bits32]);
        list.add(&format!("testp.{property}.f64"), Predicate, &[Bits64]);
    }
}

fn approximations(list: &mut List) {
    let three = [Bits32; 3];
    for ftz in ["", ".ftz"] {
        for (name, comparison) in [
            ("rcp.approx", Comparison::Units(1)),
            ("rsqrt.approx", Comparison::Units(2)),
            ("sqrt.approx", Comparison::Units(2)),
            ("ex2.approx", Comparison::Units(2)),
            ("lg2.approx", Comparison::Absolute(3e-7)),
        ] {
            list.compared(&format!("{name}{ftz}.f32"), Bits32, &three[..1], comparison);
        }
        for name in ["sin", "cos"] {
            // The error is documented for operands within one period.
            let text = format!(
                "shl.b32 {{t}}, {{a}}, 1; min.u32 {{t}}, {{t}}, 0x80921fb4; shr.u32 {{t}}, {{t}}, 1; \
                 {name}.approx{ftz}.f32 {{d}}, {{t}};"
            );
            list.written(&text, Bits32, &three[..1], Comparison::Absolute(1e-6));
        }
        for name in ["div.approx", "div.full"] {
            let name = format!("{name}{ftz}.f32");
            list.compared(&name, Bits32, &three[..2], Comparison::Units(2));
        }
    }
    // 2^-11 of the result.
    list.compared(
        "tanh.approx.f32",
        Bits32,
        &three[..1],
        Comparison::Units(1 << 13),
    );
    for name in ["rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"] {
        list.compared(name, Bits64, &[Bits64], Comparison::UpperUnits(2));
    }
    list.compared(
        "rsqrt.approx.f64",
        Bits64,
        &[Bits64],
        Comparison::HalfUnits(2),
    );
}

const ALL_INTEGERS: [(&str, Width); 8] = [
    ("u8", Bits32),
    ("s8", Bits32),
    ("u16", Bits16),
    ("s16", Bits16),
    ("u32", Bits32),
    ("s32", Bits32),
    ("u64", Bits64),
    ("s64", Bits64),
];

fn integer_conversions(list: &mut List) {
    for (from, from_width) in ALL_INTEGERS {
        for (to, to_width) in ALL_INTEGERS {
            for sat in ["", ".sat"] {
                list.add(&format!("cvt{sat}.{to}.{from}"), to_width, &[from_width]);
            }
        }
        for (to, to_width) in FLOATS {
            for rounding in ROUNDINGS {
                list.add(
                    &format!("cvt.{rounding}.{to}.{from}"),
                    to_width,
                    &[from_width],
                );
            }
        }
        list.add(&format!("cvt.rn.sat.f32.{from}"), Bits32, &[from_width]);
    }
}

const FLOATS: [(&str, Width); 4] = [
    ("f16", Bits16),
    ("bf16", Bits16),
    ("f32", Bits32),
    ("f64", Bits64),
];

fn float_conversions(list: &mut List) {
    let comparison = Comparison::AnyNan;
    for (from, from_width) in FLOATS {
        for rounding in ["rni", "rzi", "rmi", "rpi"] {
            for (to, to_width) in ALL_INTEGERS {
                list.add(
                    &format!("cvt.{rounding}.{to}.{from}"),
                    to_width,
                    &[from_width],
                );
                if from == "f32" {
                    list.add(
                        &format!("cvt.{rounding}.ftz.{to}.{from}"),
                        to_width,
                        &[from_width],
                    );
                }
            }
            let name = format!("cvt.{rounding}.{from}.{from}");
            list.compared(&name, from_width, &[from_width], comparison);
        }
        for (to, to_width) in FLOATS {
            list.compared(
                &format!("cvt.{to}.{from}"),
                to_width,
                &[from_width],
                comparison,
            );
            for rounding in ROUNDINGS {
                let name = format!("cvt.{rounding}.{to}.{from}");
                list.compared(&name, to_width, &[from_width], comparison);
            }
        }
    }
    for name in [
        "cvt.rn.ftz.f32.f64",
        "cvt.rn.sat.f32.f64",
        "cvt.rzi.ftz.f32.f32",
        "cvt.sat.f32.f32",
        "cvt.ftz.f32.f32",
        "cvt.ftz.sat.f32.f16",
        "cvt.ftz.f64.f32",
        "cvt.sat.f64.f32",
        "cvt.rn.ftz.f16.f32",
        "cvt.rz.ftz.f16.f32",
        "cvt.rn.sat.f16.f32",
        "cvt.rn.relu.f16.f32",
        "cvt.rn.relu.bf16.f32",
        "cvt.rz.relu.bf16.f32",
        "cvt.sat.f16.f16",
    ] {
        let width = |of: &str| FLOATS.iter().find(|it| it.0 == of).expect("a float").1;
        let mut types = name.rsplit('.');
        let (from, to) = (types.next().unwrap_or(""), types.next().unwrap_or(""));
        list.compared(name, width(to), &[width(from)], comparison);
    }
}

fn small_conversions(list: &mut List) {
    for of in ["f16x2", "bf16x2"] {
        for rounding in ["rn", "rz"] {
            for modifier in [
                "",
                ".relu",
                ".satfinite",
                ".relu.satfinite",
                ".satfinite.relu",
            ] {
                let name = format!("cvt.{rounding}{modifier}.{of}.f32");
                list.add(&name, Bits32, &[Bits32; 2]);
            }
        }
    }
    for of in ["e4m3x2", "e5m2x2"] {
        for relu in ["", ".relu"] {
            list.add(
                &format!("cvt.rn.satfinite{relu}.{of}.f32"),
                Bits16,
                &[Bits32; 2],
            );
            list.add(
                &format!("cvt.rn.satfinite{relu}.{of}.f16x2"),
                Bits16,
                &[Bits32],
            );
            list.add(&format!("cvt.rn{relu}.f16x2.{of}"), Bits32, &[Bits16]);
        }
    }
    for name in [
        "cvt.rna.tf32.f32",
        "cvt.rn.tf32.f32",
        "cvt.rz.tf32.f32",
        "cvt.rn.relu.tf32.f32",
        "cvt.rz.relu.tf32.f32",
    ] {
        list.add(name, Bits32, &[Bits32]);
    }
    for of in ["u16", "s16"] {
        list.add(&format!("cvt.pack.sat.{of}.s32"), Bits32, &[Bits32; 2]);
    }
    for of in ["u8", "s8"] {
        list.add(&format!("cvt.pack.sat.{of}.s32.b32"), Bits32, &[Bits32; 3]);
    }
}
