//! Checks of the matrices of a ladder's products.

use super::StepInfo;
use tilewright::{Element, ErrorKind, Matrix, Order, Result};

/// The operands of a product step: row-major A and C, and B in the step's order.
pub(crate) struct Operands {
    /// The name of the operation in errors.
    pub operation: &'static str,
    /// The step.
    pub step: StepInfo,
    /// The step's order of B.
    pub order_of_b: Order,
}

impl Operands {
    /// Compares the shapes and the orders of the matrices of C = A B.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`]; [`ErrorKind::LaunchConfig`] if a matrix has another order.
    pub(crate) fn check<T: Element>(
        &self,
        a: &Matrix<T>,
        b: &Matrix<T>,
        c: &Matrix<T>,
    ) -> Result<()> {
        self.check_shapes(a.shape(), b.shape(), c.shape())?;
        self.check_order("A", a, Order::RowMajor)?;
        self.check_order("B", b, self.order_of_b)?;
        self.check_order("C", c, Order::RowMajor)
    }

    fn check_shapes(&self, a: (usize, usize), b: (usize, usize), c: (usize, usize)) -> Result<()> {
        let mismatch = |operands, left, right, rule| {
            let kind = ErrorKind::ShapeMismatch {
                operands,
                left,
                right,
                rule,
            };
            Err(kind.during(self.operation))
        };
        if a.1 != b.0 {
            return mismatch(["A", "B"], a, b, "A needs as many columns as B has rows");
        }
        let product = (a.0, b.1);
        if product != c {
            return mismatch(
                ["the product", "C"],
                product,
                c,
                "the two shapes must be equal",
            );
        }
        Ok(())
    }

    fn check_order<T: Element>(
        &self,
        name: &str,
        matrix: &Matrix<T>,
        expected: Order,
    ) -> Result<()> {
        let found = matrix.order();
        if found == expected {
            return Ok(());
        }
        Err(ErrorKind::LaunchConfig {
            kernel: self.step.kernel,
            reason: format!("{name} is {found:?}; it takes {expected:?}"),
        }
        .during(self.operation))
    }
}
