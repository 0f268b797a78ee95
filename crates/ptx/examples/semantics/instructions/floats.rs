//! Arithmetic of floats, comparisons and approximations.

use super::instruction::Width::{Bits16, Bits32, Bits64, Predicate};
use super::instruction::{Comparison, List};
use super::integers::INTEGERS;

pub(super) const ROUNDINGS: [&str; 4] = ["rn", "rz", "rm", "rp"];

pub(super) fn single(list: &mut List) {
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

pub(super) fn double(list: &mut List) {
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

pub(super) fn halves(list: &mut List) {
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

pub(super) fn comparisons(list: &mut List) {
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

pub(super) fn approximations(list: &mut List) {
    let three = [Bits32; 3];
    for ftz in ["", ".ftz"] {
        for (name, comparison) in [
            ("rcp.approx", Comparison::Units(1)),
            ("rsqrt.approx", Comparison::Units(2)),
            ("sqrt.approx", Comparison::Units(2)),
            ("ex2.approx", Comparison::Units(2)),
            // 2^-22, and the half unit of this executor's rounding.
            ("lg2.approx", Comparison::Relative(3e-7)),
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
