//! Arithmetic rounded towards zero, up or down, by LLVM's own emulation.

use super::slot::{Function, Number};
use crate::operations::{Arithmetic, ArithmeticName};
use crate::words::{Rounding, Type};
use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, Round};

/// The function of an instruction with such a rounding.
pub(super) fn directed(it: &Arithmetic) -> Option<Function> {
    match (it.of, it.rounding?) {
        (Type::F32, Rounding::Zero) => rounded::<Single, Zero>(it.name),
        (Type::F32, Rounding::Up) => rounded::<Single, Up>(it.name),
        (Type::F32, Rounding::Down) => rounded::<Single, Down>(it.name),
        (Type::F64, Rounding::Zero) => rounded::<Double, Zero>(it.name),
        (Type::F64, Rounding::Up) => rounded::<Double, Up>(it.name),
        (Type::F64, Rounding::Down) => rounded::<Double, Down>(it.name),
        _ => None,
    }
}

/// A rounding as a type, so that functions need no captures.
trait Direction {
    const ROUND: Round;
}

struct Zero;
struct Up;
struct Down;

impl Direction for Zero {
    const ROUND: Round = Round::TowardZero;
}

impl Direction for Up {
    const ROUND: Round = Round::TowardPositive;
}

impl Direction for Down {
    const ROUND: Round = Round::TowardNegative;
}

/// A type of numbers in slots.
trait Emulated: Float {
    fn written(self) -> u64;
}

impl Emulated for Single {
    fn written(self) -> u64 {
        f32::from_bits(self.to_bits() as u32).slot()
    }
}

impl Emulated for Double {
    fn written(self) -> u64 {
        self.to_bits() as u64
    }
}

fn rounded<F: Emulated, R: Direction>(name: ArithmeticName) -> Option<Function> {
    fn of<F: Float>(slot: u64) -> F {
        F::from_bits(slot.into())
    }
    Some(match name {
        ArithmeticName::Add => {
            Function::Binary(|a, b| of::<F>(a).add_r(of(b), R::ROUND).value.written())
        }
        ArithmeticName::Subtract => {
            Function::Binary(|a, b| of::<F>(a).sub_r(of(b), R::ROUND).value.written())
        }
        ArithmeticName::Multiply => {
            Function::Binary(|a, b| of::<F>(a).mul_r(of(b), R::ROUND).value.written())
        }
        ArithmeticName::Divide => {
            Function::Binary(|a, b| of::<F>(a).div_r(of(b), R::ROUND).value.written())
        }
        ArithmeticName::Fma | ArithmeticName::MultiplyAdd => Function::Ternary(|a, b, c| {
            let sum = of::<F>(a).mul_add_r(of(b), of(c), R::ROUND);
            sum.value.written()
        }),
        _ => return None,
    })
}
