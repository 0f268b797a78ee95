//! The epilogue: what a kernel does to a product's sums before it writes them.

use super::arithmetic::Arithmetic;
use super::entry::EpilogueArguments;
use super::plan::Store;
use super::types::EpilogueScalar;
use crate::buffer::BufferView;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Outcome, check_length};
use crate::launch_args::{global, no_operand};
use cuda_std::global::Global;
use tilewright_kernels::epilogue::{self, EpilogueNumbers};

/// An activation, applied last to each output of a product.
///
/// It uses the functions of [`cuda_std::math`](crate::cuda_std::math), so the bits are the same on every device. For a
/// given sum, `Gelu`, `GeluTanh` and `Silu` are within one unit in the last place of their formulas in f32, and within
/// two in f64, subnormal results in the negative tail included. They map negative infinity to -0, their limit, and NaN
/// to NaN.
///
/// ```
/// use tilewright::{Activation, Device, Matmul};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let x = device.matrix((1, 2), &[1.0_f32, -2.0])?;
/// let weights = device.matrix((2, 2), &[1.0_f32, 0.0, 0.0, 1.0])?;
/// let y = Matmul::new(&x, &weights).activation(Activation::Relu).run()?;
/// assert_eq!(y.to_vec()?, [1.0, 0.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Activation {
    /// No activation.
    #[default]
    Identity,
    /// max(x, 0): x, or 0 where x < 0. NaN stays NaN.
    Relu,
    /// x (1 + erf(x / sqrt 2)) / 2: the Gaussian error linear unit.
    Gelu,
    /// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2: the common approximation of [`Gelu`](Self::Gelu).
    ///
    /// It is within 5e-4 of [`Gelu`](Self::Gelu), but falls to 0 faster: in the negative tail their quotient is far
    /// from 1.
    GeluTanh,
    /// x / (1 + e^-x): the sigmoid linear unit, also called swish.
    Silu,
}

impl Activation {
    const fn of_kernels(self) -> epilogue::Activation {
        match self {
            Self::Identity => epilogue::Activation::None,
            Self::Relu => epilogue::Activation::Relu,
            Self::Gelu => epilogue::Activation::Gelu,
            Self::GeluTanh => epilogue::Activation::GeluTanh,
            Self::Silu => epilogue::Activation::Silu,
        }
    }
}

/// The names in messages of the row vectors: the scale, and the bias.
pub const OF_ROWS: [&str; 2] = ["the row scale", "the row bias"];
/// The names in messages of the column vectors.
pub const OF_COLUMNS: [&str; 2] = ["the column scale", "the column bias"];

/// A scale and a bias, for all rows or for all columns.
#[derive(Clone, Copy, Debug)]
pub struct LineVectors<'a, S: Element> {
    pub scale: Option<BufferView<'a, S>>,
    pub bias: Option<BufferView<'a, S>>,
}

impl<S: Element> Default for LineVectors<'_, S> {
    fn default() -> Self {
        Self {
            scale: None,
            bias: None,
        }
    }
}

impl<S: Element> LineVectors<'_, S> {
    fn is_empty(&self) -> bool {
        self.scale.is_none() && self.bias.is_none()
    }

    /// Fails unless the vectors are on the device and have `len` elements. `names` are the names of the scale and
    /// of the bias.
    fn check(
        &self,
        device: &Device,
        len: usize,
        names: [&str; 2],
        rule: &'static str,
    ) -> Outcome<()> {
        for (vector, name) in [self.scale, self.bias].into_iter().zip(names) {
            if let Some(vector) = vector {
                device.check_reads(|| name.to_owned(), vector.holder())?;
                check_length(name, vector.len(), len, rule)?;
            }
        }
        Ok(())
    }
}

/// The epilogue, in numbers of type `S`.
#[derive(Clone, Copy, Debug)]
pub struct Epilogue<'a, S: Element> {
    pub alpha: S,
    pub beta: S,
    pub rows: LineVectors<'a, S>,
    pub columns: LineVectors<'a, S>,
    pub activation: Activation,
}

impl<'a, S: EpilogueScalar> Epilogue<'a, S> {
    /// The epilogue that writes sums unchanged.
    pub fn identity() -> Self {
        Self {
            alpha: S::ONE,
            beta: S::ZERO,
            rows: LineVectors::default(),
            columns: LineVectors::default(),
            activation: Activation::Identity,
        }
    }

    /// Whether sums are written unchanged.
    pub fn is_identity(&self) -> bool {
        self.alpha == S::ONE
            && self.beta == S::ZERO
            && self.rows.is_empty()
            && self.columns.is_empty()
            && self.activation == Activation::Identity
    }

    /// The epilogue of a product in new matrices, which count as zero.
    pub fn in_new(self) -> Self {
        Self {
            beta: S::ZERO,
            ..self
        }
    }

    /// The epilogue of the transposed product.
    pub fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            ..self
        }
    }

    /// Fails unless the vectors fit an `m` x `n` product on the device.
    pub fn check(&self, device: &Device, (m, n): (usize, usize)) -> Outcome<()> {
        let (rule, names) = ("one for each row of the product", OF_ROWS);
        self.rows.check(device, m, names, rule)?;
        let (rule, names) = ("one for each column of the product", OF_COLUMNS);
        self.columns.check(device, n, names, rule)
    }

    /// Whether A and B are read: not if alpha is 0.
    pub fn reads_operands(&self) -> bool {
        self.alpha != S::ZERO
    }

    /// The arithmetic to use if the caller asks for `arithmetic`: if A and B are not read, all have the same
    /// outputs.
    pub fn arithmetic(&self, arithmetic: Arithmetic) -> Arithmetic {
        match self.reads_operands() {
            true => arithmetic,
            false => Arithmetic::Auto,
        }
    }

    /// The kernel's arguments.
    pub fn arguments(&self, store: Store) -> EpilogueArguments<'a, S> {
        let is_plain = self.is_identity() && store != Store::Single;
        EpilogueArguments {
            numbers: match is_plain {
                true => EpilogueNumbers::PLAIN,
                false => {
                    let activation = self.activation.of_kernels();
                    EpilogueNumbers::new(self.alpha, self.beta, activation)
                }
            },
            row_scale: vector(self.rows.scale),
            column_scale: vector(self.columns.scale),
            row_bias: vector(self.rows.bias),
            column_bias: vector(self.columns.bias),
        }
    }
}

/// A vector as a kernel's parameter; empty if there is none.
pub fn vector<S: Element>(view: Option<BufferView<'_, S>>) -> Global<'_, S> {
    view.map_or(no_operand(), global)
}
