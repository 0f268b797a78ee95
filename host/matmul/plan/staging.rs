//! How the operands of a product reach its kernel.

use super::cost::aligned_copies_pay;
use super::prepared::PreparedAs;
use super::problem::{MatrixLayout, Problem};
use super::steps::Steps;
use crate::matmul::kernel::{GemmKernel, Method};
use crate::matmul::types::ElementType;
use crate::matrix::Order;
use tilewright_kernels::matvec::LOAD_BYTES;

/// 8-bit elements in a word, which some kernels read at once.
const WORD: usize = size_of::<i32>();

/// How an operand of a product reaches the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Staging {
    /// The kernel reads it where it lies.
    InPlace,
    /// It is copied, with rows (columns, if column-major) that start at multiples of 16 bytes.
    Copied,
    /// It is transposed: elements that are not contiguous along K.
    Transposed,
    /// Each f32 is split into two f16 values.
    Split,
    /// It is split once, before several launches that share it.
    SplitOnce,
    /// [`Device::prepare`](crate::Device::prepare) or [`Device::prepare_exact`](crate::Device::prepare_exact) has
    /// prepared it.
    Prepared,
    /// It is the transpose of the other operand, which is split.
    SplitWithOther,
    /// It is not read: K or alpha is 0.
    Unread,
}

/// The form in which a kernel needs its operands.
enum Needs {
    Nothing,
    /// Rows that start at multiples of 16 bytes.
    AlignedRows,
    /// Elements that are contiguous along K, possibly prepared.
    LinesAlongK(Option<PreparedAs>),
    /// Rows along K that start at multiples of 16 bytes, with a multiple of this many elements.
    AlongK(usize),
    /// Two f16 for each f32.
    Split,
}

impl Staging {
    /// How both operands reach the kernel.
    pub(super) fn of(kernel: &GemmKernel, steps: &Steps, problem: &Problem) -> [Self; 2] {
        let needs = match (kernel.method, steps) {
            (_, Steps::Split(_)) => Needs::Split,
            (_, Steps::TilesOfWords) => Needs::AlongK(WORD),
            (_, Steps::VectorOfWords(_)) => Needs::AlongK(LOAD_BYTES),
            (_, Steps::Vector(_) | Steps::Grouped) => Needs::Nothing,
            (Method::Tiled | Method::Coarsened(_), _) => Needs::Nothing,
            (_, Steps::Exact(exact)) => {
                Needs::LinesAlongK(exact.residues.as_ref().map(|_| PreparedAs::Exact))
            }
            (_, Steps::Residues(_)) => Needs::LinesAlongK(Some(PreparedAs::Residues)),
            _ if problem.element.bytes() == 1 => Needs::AlongK(1),
            _ if problem.element == ElementType::F64 && !aligned_copies_pay(problem) => {
                Needs::Nothing
            }
            _ => Needs::AlignedRows,
        };
        let one = |number: usize, layout: MatrixLayout, shape, along_k| match needs {
            Needs::Nothing => Self::InPlace,
            Needs::Split => Self::of_split(number, steps, problem),
            _ if problem.k == 0 => Self::Unread,
            Needs::AlignedRows => Self::aligned(layout, problem),
            Needs::LinesAlongK(Some(form)) if problem.prepared[number] == Some(form) => {
                Self::Prepared
            }
            Needs::LinesAlongK(_) => {
                match layout.in_order_if_possible(along_k, shape).order == along_k {
                    true => Self::InPlace,
                    false => Self::Transposed,
                }
            }
            Needs::AlongK(multiple) => {
                let layout = match steps {
                    Steps::VectorOfWords(_) => layout.in_order_if_possible(along_k, shape),
                    _ => layout,
                };
                match layout.order == along_k {
                    true if problem.whole_k.is_multiple_of(multiple) => {
                        Self::aligned(layout, problem)
                    }
                    true => Self::Copied,
                    false => Self::Transposed,
                }
            }
        };
        let k = problem.whole_k;
        [
            one(0, problem.a, (problem.m, k), Order::RowMajor),
            one(1, problem.b, (k, problem.n), Order::ColumnMajor),
        ]
    }

    fn aligned(layout: MatrixLayout, problem: &Problem) -> Self {
        match layout.is_aligned(problem.element.bytes()) {
            true => Self::InPlace,
            false => Self::Copied,
        }
    }

    fn of_split(number: usize, steps: &Steps, problem: &Problem) -> Self {
        let is_once = matches!(steps, Steps::Split(split) if problem.batch > split.at_a_time);
        match number {
            _ if problem.prepared[number] == Some(PreparedAs::Split) => Self::Prepared,
            1 if problem.is_gram => Self::SplitWithOther,
            _ if is_once && problem.is_shared[number] => Self::SplitOnce,
            _ => Self::Split,
        }
    }
}
