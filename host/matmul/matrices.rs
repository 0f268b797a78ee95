//! The matrices of a product, compared with one another.

use super::kernels::{ElementType, GemmArguments, GemmKernel};
use super::operands::{layout_of, read_elements, written_by_product};
use super::problem::{MatrixLayout, Problem};
use crate::buffer::ALIGNMENT;
use crate::device::Device;
use crate::element::Element;
use crate::error::{ErrorKind, Outcome};
use crate::launch::LaunchConfig;
use crate::matrix::{MatrixView, MatrixViewMut, Order};

/// The matrices of a product whose result is row-major and has elements.
pub struct Matrices<'a, T: Element> {
    pub a: MatrixView<'a, T>,
    pub b: MatrixView<'a, T>,
    pub c: MatrixViewMut<'a, T>,
    /// Whether this is the transpose of the product that was requested.
    pub is_transposed: bool,
}

impl<'a, T: Element> Matrices<'a, T> {
    /// The matrices of a product on `device`, or `None` if the result has no elements.
    pub fn of(
        device: &Device,
        a: MatrixView<'a, T>,
        b: MatrixView<'a, T>,
        c: MatrixViewMut<'a, T>,
    ) -> Outcome<Option<Self>> {
        let holders = [("A", a.device()), ("B", b.device()), ("C", c.device())];
        for (name, holder) in holders {
            device.check_owns(|| format!("the matrix {name}"), holder)?;
        }
        check_inner(a, b)?;
        check_result(a, b, c.view())?;
        if c.is_empty() {
            return Ok(None);
        }
        // A column-major C is a row-major transpose of C, which is that of B times that of A.
        Ok(Some(match c.order() {
            Order::RowMajor => Self {
                a,
                b,
                c,
                is_transposed: false,
            },
            Order::ColumnMajor => Self {
                a: b.t(),
                b: a.t(),
                c: c.into_transposed(),
                is_transposed: true,
            },
        }))
    }

    /// M, N and K.
    pub fn extents(&self) -> (usize, usize, usize) {
        (self.a.rows(), self.b.cols(), self.a.cols())
    }

    pub fn problem(&self, element: ElementType) -> Problem {
        problem_with(element, self.a, self.b, layout_of(self.c.view()))
    }

    /// A block for each tile of the result.
    pub fn grid(&self, kernel: &GemmKernel) -> Outcome<LaunchConfig> {
        let (m, n, _) = self.extents();
        let tile = kernel.descriptor.tile;
        let blocks = tile.blocks(m, n).ok_or_else(|| ErrorKind::TooLarge {
            what: format!("a result of {m}x{n} elements"),
            remedy: "a grid can have at most 2^31 - 1 blocks: multiply parts of the matrices",
        })?;
        Ok(LaunchConfig::new(blocks, tile.threads))
    }

    /// The arguments of a kernel on the ordinary units.
    ///
    /// # Safety
    /// 1. The launch reads and writes the elements of A, B and C alone.
    pub unsafe fn arguments(self) -> GemmArguments<'a, T> {
        let (m, n, k) = self.extents();
        let Self { a, b, c, .. } = self;
        let (lda, ldb, ldc) = (
            a.leading_dimension(),
            b.leading_dimension(),
            c.leading_dimension(),
        );
        // SAFETY: (1) is (1).
        let (a, b, c) = unsafe { (read_elements(a), read_elements(b), written_by_product(c)) };
        (a, b, c, m, n, k, lda, ldb, ldc)
    }
}

/// A B in a new row-major matrix.
pub fn problem_of_new<T: Element>(
    element: ElementType,
    a: MatrixView<'_, T>,
    b: MatrixView<'_, T>,
) -> Problem {
    let shape = (a.rows(), b.cols());
    let c = MatrixLayout::packed(Order::RowMajor, shape, ALIGNMENT);
    problem_with(element, a, b, c)
}

fn problem_with<T: Element>(
    element: ElementType,
    a: MatrixView<'_, T>,
    b: MatrixView<'_, T>,
    c: MatrixLayout,
) -> Problem {
    Problem {
        element,
        output: element,
        m: a.rows(),
        n: b.cols(),
        k: a.cols(),
        a: layout_of(a),
        b: layout_of(b),
        c,
        batch: 1,
    }
}

/// Fails unless A has as many columns as B has rows.
pub fn check_inner<T: Element>(a: MatrixView<'_, T>, b: MatrixView<'_, T>) -> Outcome<()> {
    if a.cols() == b.rows() {
        return Ok(());
    }
    Err(ErrorKind::ShapeMismatch {
        left: a.shape(),
        right: b.shape(),
        rule: "the left matrix needs as many columns as the right one has rows",
    })
}

fn check_result<T: Element>(
    a: MatrixView<'_, T>,
    b: MatrixView<'_, T>,
    c: MatrixView<'_, T>,
) -> Outcome<()> {
    let expected = (a.rows(), b.cols());
    if c.shape() == expected {
        return Ok(());
    }
    Err(ErrorKind::ShapeMismatch {
        left: expected,
        right: c.shape(),
        rule: "the first is the product's shape, the second that of the matrix for it: they must be equal",
    })
}
