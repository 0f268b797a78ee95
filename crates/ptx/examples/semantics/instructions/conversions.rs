//! Conversions.

use super::floats::ROUNDINGS;
use super::instruction::Width::{self, Bits16, Bits32, Bits64};
use super::instruction::{Comparison, List};

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

pub(super) fn integer_conversions(list: &mut List) {
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

pub(super) fn float_conversions(list: &mut List) {
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

pub(super) fn small_conversions(list: &mut List) {
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
