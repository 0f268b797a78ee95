//! The matrices of a product, checked against one another.

use super::entry::ChainArguments;
use super::epilogue::{Epilogue, Stores};
use super::kernel::{ElementType, GemmKernel};
use super::layout::layout_of;
use super::prepared::PreparedMatrix;
use super::problem::{MatrixLayout, Problem};
use crate::buffer::ALIGNMENT;
use crate::device::Device;
use crate::element::Element;
use crate::error::{ErrorKind, MUST_BE_EQUAL, Outcome};
use crate::launch::{LaunchConfig, MAX_GRID_Y, grid_x};
use crate::launch_args::{read_elements, written_by_product};
use crate::matrix::{MatrixBatch, MatrixBatchMut, Order};
use tilewright_kernels::epilogue::EpilogueElement;
use tilewright_kernels::matmul::{ProductDescriptor, ProductShape};

/// The rule for the shapes of A and B.
pub const INNER_RULE: &str = "A needs as many columns as B has rows";

/// The operands of one or more products of one shape.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a, T: Element> {
    pub a: MatrixBatch<'a, T>,
    pub b: MatrixBatch<'a, T>,
    /// The transpose of A, and B, if they were split before.
    pub prepared: [Option<&'a PreparedMatrix<'a>>; 2],
    /// Whether this is the transpose of the product that was requested.
    pub is_transposed: bool,
    /// Whether A is the transpose of B, so that the products are symmetric.
    pub is_gram: bool,
    /// If K is split, the length of its parts: each product multiplies as many columns of one A by as many rows of
    /// one B, and the last product the rest.
    pub part: Option<usize>,
}

impl<'a, T: Element> Operands<'a, T> {
    pub fn new(a: MatrixBatch<'a, T>, b: MatrixBatch<'a, T>) -> Self {
        Self {
            a,
            b,
            prepared: [None; 2],
            is_transposed: false,
            is_gram: false,
            part: None,
        }
    }

    /// The operands of the products of the transpose of `a` with `a`.
    pub fn gram(a: MatrixBatch<'a, T>) -> Self {
        Self {
            is_gram: true,
            ..Self::new(a.t(), a)
        }
    }

    /// The number of products.
    pub fn products(&self) -> Outcome<usize> {
        if let Some(part) = self.part {
            return Ok(self.a.first().cols().div_ceil(part));
        }
        match (self.a.count(), self.b.count()) {
            (Some(a), Some(b)) => check_counts(["A", "B"], a, b).map(|()| a),
            (Some(count), None) | (None, Some(count)) => Ok(count),
            (None, None) => Ok(1),
        }
    }

    /// Fails unless A has as many columns as B has rows.
    pub fn check_inner(&self) -> Outcome<()> {
        let (a, b) = (self.a.first(), self.b.first());
        if a.cols() == b.rows() {
            return Ok(());
        }
        Err(ErrorKind::ShapeMismatch {
            operands: ["A", "B"],
            left: a.shape(),
            right: b.shape(),
            rule: INNER_RULE,
        })
    }

    /// The problem of A B in new row-major matrices.
    pub fn problem_of_new(
        &self,
        types: (ElementType, ElementType),
        is_plain: bool,
    ) -> Outcome<Problem> {
        let shape = (self.a.first().rows(), self.b.first().cols());
        let c = MatrixLayout::packed(Order::RowMajor, shape, ALIGNMENT);
        Ok(Problem {
            batch: self.products()?,
            is_plain,
            ..self.problem_with(types, c)
        })
    }

    fn problem_with(
        &self,
        (element, output): (ElementType, ElementType),
        c: MatrixLayout,
    ) -> Problem {
        let Self {
            a,
            b,
            is_gram,
            part,
            ..
        } = *self;
        Problem {
            element,
            output,
            m: a.first().rows(),
            n: b.first().cols(),
            k: part.unwrap_or(a.first().cols()),
            a: layout_of(a),
            b: layout_of(b),
            c,
            batch: 1,
            is_plain: true,
            is_gram,
        }
    }
}

/// The matrices of one or more products of one shape, with an epilogue. The results are row-major and not empty.
pub struct Matrices<'a, T: Element, O: Element, S: Element> {
    pub a: MatrixBatch<'a, T>,
    pub b: MatrixBatch<'a, T>,
    pub c: MatrixBatchMut<'a, O>,
    pub epilogue: Epilogue<'a, S>,
    /// The transpose of A, and B, if they were split before.
    pub prepared: [Option<&'a PreparedMatrix<'a>>; 2],
    /// Whether this is the transpose of the product that was requested.
    pub is_transposed: bool,
    /// Whether A is the transpose of B, so that only the outputs of C on and below the diagonal are computed.
    pub is_gram: bool,
    /// If K is split, the length of its parts, as in [`Operands`].
    pub part: Option<usize>,
}

/// The distances in an operand, from line to line and from matrix to matrix.
pub struct Starts {
    pub leading_dimension: usize,
    pub stride: usize,
    /// Whether lines lie along k.
    pub is_along: bool,
}

impl<'a, T: Element, O: Element, S: Element + EpilogueElement> Matrices<'a, T, O, S> {
    /// The matrices of products on `device`; `None` if the results have no elements.
    pub fn of(
        device: &Device,
        operands: Operands<'a, T>,
        c: MatrixBatchMut<'a, O>,
        epilogue: Epilogue<'a, S>,
    ) -> Outcome<Option<Self>> {
        let Operands {
            a,
            b,
            prepared,
            is_transposed,
            is_gram,
            part,
        } = operands;
        let result = c.view().first();
        let holders = [
            ("A", a.first().device()),
            ("B", b.first().device()),
            ("C", result.device()),
        ];
        for (name, holder) in holders {
            device.check_owns(|| format!("the matrix {name}"), holder)?;
        }
        operands.check_inner()?;
        check_result((a.first().rows(), b.first().cols()), result.shape())?;
        let count = c.view().count().unwrap_or(1);
        check_counts(["the product of A and B", "C"], operands.products()?, count)?;
        epilogue.check(device, result.shape())?;
        if result.is_empty() {
            return Ok(None);
        }
        let order = result.order();
        let matrices = Self {
            a,
            b,
            c,
            epilogue,
            prepared,
            is_transposed,
            is_gram,
            part,
        };
        Ok(Some(match (order, is_gram) {
            (Order::RowMajor, _) => matrices,
            // The same outputs are computed: C is symmetric in the end.
            (Order::ColumnMajor, true) => Self {
                c: matrices.c.into_transposed(),
                ..matrices
            },
            (Order::ColumnMajor, false) => matrices.transposed(),
        }))
    }

    /// The products of the transposes of B with those of A, which are the transposes of C.
    pub fn transposed(self) -> Self {
        let [of_a, of_b] = self.prepared;
        Self {
            a: self.b.t(),
            b: self.a.t(),
            c: self.c.into_transposed(),
            epilogue: self.epilogue.transposed(),
            prepared: [of_b, of_a],
            is_transposed: !self.is_transposed,
            is_gram: self.is_gram,
            part: self.part,
        }
    }

    /// M, N, and the K that is read: all of it if it is split, 0 if alpha is 0.
    pub fn extents(&self) -> (usize, usize, usize) {
        let k = match self.epilogue.reads_operands() {
            true => self.a.first().cols(),
            false => 0,
        };
        (self.a.first().rows(), self.b.first().cols(), k)
    }

    /// `count` of the products, from number `first` on.
    pub fn part(&mut self, first: usize, count: usize) -> Matrices<'_, T, O, S> {
        Matrices {
            a: self.a.part(first, count),
            b: self.b.part(first, count),
            c: self.c.part_mut(first, count),
            epilogue: self.epilogue,
            prepared: self.prepared,
            is_transposed: self.is_transposed,
            is_gram: self.is_gram,
            part: self.part,
        }
    }

    /// Calls `launch` with as many of the products at a time as a grid can have along y.
    pub fn for_each_grid(
        mut self,
        launch: impl Fn(Matrices<'_, T, O, S>) -> Outcome<()>,
    ) -> Outcome<()> {
        const MOST: usize = MAX_GRID_Y as usize;
        let count = self.count();
        (0..count)
            .step_by(MOST)
            .try_for_each(|first| launch(self.part(first, MOST.min(count - first))))
    }

    /// The number of products.
    pub fn count(&self) -> usize {
        self.c.view().count().unwrap_or(1)
    }

    pub fn problem(&self, element: ElementType, output: ElementType) -> Problem {
        let c = layout_of(self.c.view());
        let (_, _, k) = self.extents();
        Problem {
            k: self.part.unwrap_or(k),
            batch: self.count(),
            is_plain: self.epilogue.is_identity(),
            ..self.operands().problem_with((element, output), c)
        }
    }

    fn operands(&self) -> Operands<'a, T> {
        Operands {
            is_gram: self.is_gram,
            part: self.part,
            ..Operands::new(self.a, self.b)
        }
    }

    /// Kernel shape, with lengths along K converted by `length`.
    pub fn shape(&self, length: fn(usize) -> usize, [a, b]: [Starts; 2]) -> ProductShape {
        let (m, n, k) = self.extents();
        let c = self.c.view();
        let part = self.part.map(length);
        let stride = |of: &Starts| match part {
            None => of.stride,
            Some(part) if of.is_along => part,
            Some(part) => part * of.leading_dimension,
        };
        ProductShape {
            m,
            n,
            k: length(k),
            lda: a.leading_dimension,
            ldb: b.leading_dimension,
            ldc: c.first().leading_dimension(),
            a_stride: stride(&a),
            b_stride: stride(&b),
            c_stride: c.stride(),
            is_lower: usize::from(self.is_gram),
            part: part.unwrap_or(0),
        }
    }

    /// A block for each tile of each result.
    pub fn grid(&self, kernel: &GemmKernel) -> Outcome<LaunchConfig> {
        let (m, n, _) = self.extents();
        let ProductDescriptor {
            tile,
            dynamic_shared_bytes,
            ..
        } = kernel.descriptor;
        let blocks = tile.blocks(m, n).map(|blocks| blocks as usize);
        let blocks = grid_x(blocks, || format!("a result of {m}x{n} elements"))?;
        let config = LaunchConfig::new((blocks, self.count() as u32), tile.threads);
        Ok(config.with_dynamic_shared(dynamic_shared_bytes as u32))
    }
}

impl<'a, T: Element + EpilogueElement> Matrices<'a, T, T, T> {
    /// The arguments of a kernel on CUDA cores.
    ///
    /// # Safety
    /// 1. The launch reads and writes only the elements of A, B and C.
    pub unsafe fn arguments(self) -> ChainArguments<'a, T> {
        let starts = |it: MatrixBatch<'_, T>, along_k| Starts {
            leading_dimension: it.first().leading_dimension(),
            stride: it.stride(),
            is_along: it.first().order() == along_k,
        };
        let starts = [
            starts(self.a, Order::RowMajor),
            starts(self.b, Order::ColumnMajor),
        ];
        let shape = self.shape(|k| k, starts);
        let Self {
            a, b, c, epilogue, ..
        } = self;
        // SAFETY: the launch accesses only the elements of the matrices: the caller's contract.
        let (a, b, c) = unsafe { (read_elements(a), read_elements(b), written_by_product(c)) };
        ChainArguments {
            a,
            b,
            c,
            shape,
            epilogue: epilogue.arguments(Stores::Plain),
        }
    }
}

fn check_counts(batches: [&'static str; 2], left: usize, right: usize) -> Outcome<()> {
    match left == right {
        true => Ok(()),
        false => Err(ErrorKind::BatchMismatch {
            batches,
            left,
            right,
        }),
    }
}

/// Fails unless the matrix for a product has the product's shape.
pub fn check_result(expected: (usize, usize), found: (usize, usize)) -> Outcome<()> {
    if found == expected {
        return Ok(());
    }
    Err(ErrorKind::ShapeMismatch {
        operands: ["the product", "the matrix for it"],
        left: expected,
        right: found,
        rule: MUST_BE_EQUAL,
    })
}
