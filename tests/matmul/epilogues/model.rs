//! The result of an epilogue for a sum, in the arithmetic of the host.

use crate::common::random::Random;
use crate::harness::Bits;
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::{Activation, Element};

/// A type of sums.
pub trait Sum: Element + Bits + Debug + PartialOrd {
    fn of(value: f64) -> Self;
    fn times(self, other: Self) -> Self;
    fn plus(self, other: Self) -> Self;
    fn mul_add(self, a: Self, b: Self) -> Self;
}

macro_rules! sums {
    ($($sum:ident)*) => {$(
        impl Sum for $sum {
            fn of(value: f64) -> Self {
                value as $sum
            }
            fn times(self, other: Self) -> Self {
                self * other
            }
            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn mul_add(self, a: Self, b: Self) -> Self {
                $sum::mul_add(self, a, b)
            }
        }
    )*};
}
sums!(f32 f64);

/// Integers wrap around.
impl Sum for i32 {
    fn of(value: f64) -> Self {
        value as i32
    }
    fn times(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    fn mul_add(self, a: Self, b: Self) -> Self {
        self.times(a).plus(b)
    }
}

/// A type of outputs.
pub trait Output<S>: Element + Bits + Debug {
    fn widened(self) -> S;
    fn rounded(value: S) -> Self;
}

macro_rules! outputs {
    ($($output:ident in $sum:ident: $widened:expr, $rounded:expr;)*) => {$(
        impl Output<$sum> for $output {
            fn widened(self) -> $sum {
                $widened(self)
            }
            fn rounded(value: $sum) -> Self {
                $rounded(value)
            }
        }
    )*};
}
outputs! {
    f16 in f32: f16::to_f32, f16::from_f32;
    bf16 in f32: bf16::to_f32, bf16::from_f32;
    f32 in f32: |it| it, |it| it;
    f64 in f64: |it| it, |it| it;
    i32 in i32: |it| it, |it| it;
    F8E4M3 in f32: F8E4M3::to_f32, F8E4M3::from_f32;
    F8E5M2 in f32: F8E5M2::to_f32, F8E5M2::from_f32;
}

/// Which parts an epilogue has.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub alpha: f64,
    pub beta: f64,
    pub row_scale: bool,
    pub column_scale: bool,
    pub row_bias: bool,
    pub column_bias: bool,
    pub activation: Activation,
}

/// Sums as they are.
pub const NOTHING: Case = Case {
    alpha: 1.0,
    beta: 0.0,
    row_scale: false,
    column_scale: false,
    row_bias: false,
    column_bias: false,
    activation: Activation::Identity,
};

pub const CASES: [Case; 9] = [
    NOTHING,
    Case {
        alpha: -0.75,
        ..NOTHING
    },
    Case {
        beta: 0.3,
        ..NOTHING
    },
    Case {
        row_scale: true,
        ..NOTHING
    },
    Case {
        column_scale: true,
        row_bias: true,
        ..NOTHING
    },
    Case {
        column_bias: true,
        activation: Activation::Relu,
        ..NOTHING
    },
    Case {
        alpha: 0.0,
        beta: -1.5,
        ..NOTHING
    },
    Case {
        alpha: 0.0,
        row_bias: true,
        ..NOTHING
    },
    Case {
        alpha: 1.7,
        beta: -0.6,
        row_scale: true,
        column_scale: true,
        row_bias: true,
        column_bias: true,
        activation: Activation::Relu,
    },
];

/// The vectors of a case.
pub struct Vectors<S> {
    pub row_scale: Vec<S>,
    pub column_scale: Vec<S>,
    pub row_bias: Vec<S>,
    pub column_bias: Vec<S>,
}

impl<S: Sum> Vectors<S> {
    pub fn new(random: &mut Random, (m, n): (usize, usize)) -> Self {
        let mut vector = |len| (0..len).map(|_| S::of(random.signed_unit())).collect();
        Self {
            row_scale: vector(m),
            column_scale: vector(n),
            row_bias: vector(m),
            column_bias: vector(n),
        }
    }
}

impl Case {
    /// The output of `sum` at (`row`, `column`).
    pub fn output<S: Sum>(
        self,
        vectors: &Vectors<S>,
        sum: S,
        c: S,
        (row, column): (usize, usize),
    ) -> S {
        let (one, zero) = (S::of(1.0), S::of(-0.0));
        let either = |given: bool, vector: &[S], at: usize, otherwise: S| match given {
            true => vector[at],
            false => otherwise,
        };
        let scale = either(self.row_scale, &vectors.row_scale, row, one).times(either(
            self.column_scale,
            &vectors.column_scale,
            column,
            one,
        ));
        let bias = either(self.row_bias, &vectors.row_bias, row, zero).plus(either(
            self.column_bias,
            &vectors.column_bias,
            column,
            zero,
        ));
        let scaled = sum.times(S::of(self.alpha).times(scale));
        let added = match self.beta {
            0.0 => scaled,
            beta => S::of(beta).mul_add(c, scaled),
        };
        let output = added.plus(bias);
        match self.activation {
            Activation::Relu if output < S::of(0.0) => S::of(0.0),
            _ => output,
        }
    }
}
