//! The epilogue of a product, applied to its sums before they are written:
//!
//! ```text
//! C' = activation(alpha row_scale[i] column_scale[j] sum + beta C + row_bias[i] + column_bias[j])
//! ```
//!
//! Factors are multiplied together first, and biases added together first. Neither depends on which is a row's, so
//! computing a product as its transpose gives the same bits. One fused multiply-add adds `beta C`, and C is not read
//! if beta is 0.
//!
//! Integer sums have the same epilogue in wrapping arithmetic, without an activation.

use bytemuck::{Pod, Zeroable};
use cuda_std::float::Float;
use cuda_std::math;
use cuda_std::prelude::*;

/// The last step of an epilogue, applied to each output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u32)]
pub enum Activation {
    /// Nothing.
    None,
    /// x, or 0 if x < 0. NaN stays NaN, and -0 stays -0.
    Relu,
    /// [`math::gelu`].
    Gelu,
    /// [`math::gelu_tanh`].
    GeluTanh,
    /// [`math::silu`].
    Silu,
}

/// The numbers of an [`Epilogue`], as a kernel's parameter.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct EpilogueNumbers<T> {
    /// The factor of sums.
    pub alpha: T,
    /// The factor of the old C, which is not read if this is 0.
    pub beta: T,
    activation: u32,
    /// 1 if sums are written unchanged.
    is_plain: u32,
}

// SAFETY: all fields may be zero, and there is no padding: two `T` of 4 or 8 bytes are followed by eight bytes.
unsafe impl<T: EpilogueElement> Zeroable for EpilogueNumbers<T> {}
// SAFETY: as above.
unsafe impl<T: EpilogueElement> Pod for EpilogueNumbers<T> {}

impl<T: EpilogueElement> EpilogueNumbers<T> {
    /// Writes sums unchanged.
    pub const PLAIN: Self = Self {
        alpha: T::ONE,
        beta: T::ZERO,
        activation: Activation::None as u32,
        is_plain: 1,
    };

    /// The numbers of an epilogue that may change sums.
    #[must_use]
    pub const fn new(alpha: T, beta: T, activation: Activation) -> Self {
        Self {
            alpha,
            beta,
            activation: activation as u32,
            is_plain: 0,
        }
    }
}

/// A type of sums: f32, f64, or i32, whose arithmetic wraps.
pub trait EpilogueElement: Pod + PartialEq {
    /// Zero, positive.
    const ZERO: Self;

    /// One.
    const ONE: Self;

    /// The neutral element of addition: -0 for floats.
    const NOTHING: Self;

    /// `self * factor`.
    #[must_use]
    fn times(self, factor: Self) -> Self;

    /// `self + summand`.
    #[must_use]
    fn plus(self, summand: Self) -> Self;

    /// `self * factor + summand`, rounded once.
    #[track_caller]
    #[must_use]
    fn times_plus(self, factor: Self, summand: Self) -> Self;

    /// `activation` of the value.
    #[must_use]
    fn activated(self, activation: u32) -> Self;

    /// The same number, or the canonical NaN.
    #[must_use]
    fn canonical(self) -> Self;
}

macro_rules! floats {
    ($($element:ident)*) => {$(
        impl EpilogueElement for $element {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NOTHING: Self = -0.0;

            #[inline(always)]
            fn times(self, factor: Self) -> Self {
                self * factor
            }

            #[inline(always)]
            fn plus(self, summand: Self) -> Self {
                self + summand
            }

            #[inline(always)]
            #[track_caller]
            fn times_plus(self, factor: Self, summand: Self) -> Self {
                Float::mul_add(self, factor, summand)
            }

            // Not inlined on a host: each product calls it in several places.
            #[cfg_attr(target_arch = "nvptx64", inline(always))]
            #[cfg_attr(not(target_arch = "nvptx64"), inline(never))]
            fn activated(self, activation: u32) -> Self {
                const RELU: u32 = Activation::Relu as u32;
                const GELU: u32 = Activation::Gelu as u32;
                const GELU_TANH: u32 = Activation::GeluTanh as u32;
                const SILU: u32 = Activation::Silu as u32;
                let x = self;
                match activation {
                    RELU if x < 0.0 => 0.0,
                    GELU => math::gelu(x),
                    GELU_TANH => math::gelu_tanh(x),
                    SILU => math::silu(x),
                    _ => x,
                }
            }

            #[inline(always)]
            fn canonical(self) -> Self {
                self.canonical_nan()
            }
        }
    )*};
}
floats!(f32 f64);

impl EpilogueElement for i32 {
    const ZERO: Self = 0;
    const ONE: Self = 1;
    const NOTHING: Self = 0;

    #[inline(always)]
    fn times(self, factor: Self) -> Self {
        self.wrapping_mul(factor)
    }

    #[inline(always)]
    fn plus(self, summand: Self) -> Self {
        self.wrapping_add(summand)
    }

    #[inline(always)]
    fn times_plus(self, factor: Self, summand: Self) -> Self {
        self.wrapping_mul(factor).wrapping_add(summand)
    }

    #[inline(always)]
    fn activated(self, _activation: u32) -> Self {
        self
    }

    #[inline(always)]
    fn canonical(self) -> Self {
        self
    }
}

/// An epilogue's parameters. Empty vectors have no effect.
#[derive(Clone, Copy)]
pub struct Epilogue<'launch, T> {
    /// Alpha, beta and the activation.
    pub numbers: GridConstant<'launch, EpilogueNumbers<T>>,
    /// A factor for each row.
    pub row_scale: Global<'launch, T>,
    /// A factor for each column.
    pub column_scale: Global<'launch, T>,
    /// A summand for each row.
    pub row_bias: Global<'launch, T>,
    /// A summand for each column.
    pub column_bias: Global<'launch, T>,
}

/// The factor and the summand of a row or a column.
#[derive(Clone, Copy)]
pub struct Line<T> {
    scale: T,
    bias: T,
}

impl<T: EpilogueElement> Line<T> {
    #[inline(always)]
    fn of(scale: Global<'_, T>, bias: Global<'_, T>, index: usize) -> Self {
        Self {
            scale: scale.get(index).unwrap_or(T::ONE),
            bias: bias.get(index).unwrap_or(T::NOTHING),
        }
    }
}

impl<T: EpilogueElement> Epilogue<'_, T> {
    /// Whether sums are written unchanged.
    #[inline(always)]
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.numbers.is_plain != 0
    }

    /// Whether C is read.
    #[inline(always)]
    #[must_use]
    pub fn reads_c(&self) -> bool {
        self.numbers.beta != T::ZERO
    }

    /// The factor and the summand of row `index`.
    #[inline(always)]
    #[must_use]
    pub fn row(&self, index: usize) -> Line<T> {
        Line::of(self.row_scale, self.row_bias, index)
    }

    /// The factor and the summand of column `index`.
    #[inline(always)]
    #[must_use]
    pub fn column(&self, index: usize) -> Line<T> {
        Line::of(self.column_scale, self.column_bias, index)
    }

    /// The output of `sum`. `c` is the old element of C, ignored if C is not read.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn output(&self, sum: T, c: T, row: Line<T>, column: Line<T>) -> T {
        let numbers = &*self.numbers;
        let scaled = sum.times(numbers.alpha.times(row.scale.times(column.scale)));
        let added = match self.reads_c() {
            true => numbers.beta.times_plus(c, scaled),
            false => scaled,
        };
        added
            .plus(row.bias.plus(column.bias))
            .activated(numbers.activation)
            .canonical()
    }
}
