//! The matrices of a product, checked against one another, and the facts about them that a plan needs.

use super::block_scales::BlockScales;
use super::epilogue::Epilogue;
use super::plan::{MatrixLayout, Problem};
use super::staging::PreparedMatrix;
use super::types::{ElementType, EpilogueScalar};
use crate::buffer::{ALIGNMENT, BufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{ErrorKind, Outcome, check_counts, check_length, check_shapes};
use crate::launch::MAX_GRID_Y;
use crate::launch_args::address_of;
use crate::matrix::{MatrixBatch, MatrixBatchMut, Order};

/// The operands of one or more products of one shape.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a, T: Element> {
    pub a: MatrixBatch<'a, T>,
    pub b: MatrixBatch<'a, T>,
    /// The transpose of A, and B, if they were prepared.
    pub prepared: [Option<&'a PreparedMatrix<'a, T>>; 2],
    /// Whether this is the transpose of the product that was requested.
    pub is_transposed: bool,
    /// Whether A is the transpose of B, so that the products are symmetric.
    pub is_gram: bool,
    /// If K is split, the length of its parts: each product multiplies as many columns of one A by as many rows of
    /// one B, and the last product the rest.
    pub part: Option<usize>,
    /// The scales of the operands' blocks.
    pub scales: Option<BlockScales<'a>>,
    /// The rows of each group, in device memory: of each matrix A or, if all products share one, of its rows from the
    /// first on.
    pub counts: Option<BufferView<'a, u32>>,
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
            scales: None,
            counts: None,
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

    /// The number of result matrices: one if the groups are rows of one matrix.
    pub fn results(&self) -> Outcome<usize> {
        match self.counts.is_some() && self.a.count().is_none() {
            true => Ok(1),
            false => self.products(),
        }
    }

    /// Fails unless A has as many columns as B has rows, and scales and counts are those of the operands.
    pub fn check_inner(&self) -> Outcome<()> {
        check_inner(self.a.first().shape(), self.b.first().shape())?;
        self.check_scales_and_counts()
    }

    fn check_scales_and_counts(&self) -> Outcome<()> {
        if let Some(scales) = &self.scales {
            scales.check(self.a, self.b)?;
        }
        match self.counts {
            Some(counts) => check_length(
                "the list of row counts",
                counts.len(),
                self.products()?,
                "one for each product",
            ),
            None => Ok(()),
        }
    }

    /// Fails unless `device` can read scales and counts.
    fn check_reads_of_scales_and_counts(&self, device: &Device) -> Outcome<()> {
        if let Some(scales) = &self.scales {
            scales.check_reads(device)?;
        }
        match self.counts {
            Some(counts) => {
                device.check_reads(|| "the list of row counts".to_owned(), counts.holder())
            }
            None => Ok(()),
        }
    }

    /// M, N and K.
    pub fn extents(&self) -> (usize, usize, usize) {
        let (a, b) = (self.a.first(), self.b.first());
        (a.rows(), b.cols(), a.cols())
    }

    /// The products of the transposes of B with those of A.
    fn transposed(self) -> Self {
        let [of_a, of_b] = self.prepared;
        Self {
            a: self.b.t(),
            b: self.a.t(),
            prepared: [of_b, of_a],
            is_transposed: !self.is_transposed,
            ..self
        }
    }

    /// The problem of the products in new row-major matrices, one below the other.
    pub fn problem_in_new<S: EpilogueScalar>(
        &self,
        types: (ElementType, ElementType),
        epilogue: &Epilogue<'_, S>,
    ) -> Outcome<Problem> {
        let ((m, n, _), count) = (self.extents(), self.results()?);
        let c = MatrixLayout::packed(Order::RowMajor, (m, n), ALIGNMENT);
        let c = match count {
            1 => c,
            _ => c.one_of_many(m.saturating_mul(n).saturating_mul(types.1.bytes())),
        };
        Ok(self.problem(types, (c, count), epilogue))
    }

    /// The same operands, read in the stream of `device`.
    fn in_stream_of(&self, device: &'a Device) -> Self {
        Self {
            a: self.a.in_stream_of(device),
            b: self.b.in_stream_of(device),
            ..*self
        }
    }

    /// The problem of `count` products in matrices of the layout `c`.
    fn problem<S: EpilogueScalar>(
        &self,
        (element, output): (ElementType, ElementType),
        (c, count): (MatrixLayout, usize),
        epilogue: &Epilogue<'_, S>,
    ) -> Problem {
        let (m, n, whole_k) = self.extents();
        Problem {
            element,
            output,
            m,
            n,
            k: match epilogue.reads_operands() {
                true => whole_k,
                false => 0,
            },
            whole_k,
            a: layout_of(self.a),
            b: layout_of(self.b),
            c,
            batch: self.counts.map_or(count, |it| it.len()),
            is_plain: epilogue.is_identity(),
            is_gram: self.is_gram,
            is_shared: [self.a, self.b].map(|it| it.count().is_none()),
            prepared: self.prepared.map(|it| it?.form()),
            is_transposed: self.is_transposed,
            is_scaled: self.scales.is_some(),
            is_counted: self.counts.is_some(),
        }
    }
}

/// The layout of a batch in memory.
fn layout_of<T: Element>(batch: MatrixBatch<'_, T>) -> MatrixLayout {
    let view = batch.first();
    // Without elements, the alignment is that of an empty buffer. Otherwise the least aligned matrix counts for all.
    let distance = (batch.stride() * size_of::<T>()) as u64;
    let zeros = (address_of(view) | distance).trailing_zeros();
    MatrixLayout {
        order: view.order(),
        leading_dimension: view.leading_dimension(),
        alignment: 1 << zeros.min(ALIGNMENT.ilog2()),
    }
}

/// The matrices of one or more products of one shape, with an epilogue. The results are row-major and not empty.
pub struct Matrices<'a, T: Element, O: Element, S: Element> {
    pub operands: Operands<'a, T>,
    pub c: MatrixBatchMut<'a, O>,
    pub epilogue: Epilogue<'a, S>,
}

impl<'a, T: Element, O: Element, S: EpilogueScalar> Matrices<'a, T, O, S> {
    /// Fails unless the matrices are of `device`, whose later work may use them, and fit one another.
    pub fn check(
        device: &Device,
        operands: &Operands<'_, T>,
        c: &MatrixBatchMut<'_, O>,
        epilogue: &Epilogue<'_, S>,
    ) -> Outcome<()> {
        let result = c.view().first();
        for (name, batch) in [("A", &operands.a), ("B", &operands.b)] {
            device.check_reads(|| format!("the matrix {name}"), batch.first().holder())?;
        }
        for prepared in operands.prepared.iter().flatten() {
            prepared.order_reads(device)?;
        }
        device.check_writes(|| "the matrix C".to_owned(), c.written())?;
        operands.check_inner()?;
        let (m, n, _) = operands.extents();
        check_result((m, n), result.shape())?;
        let count = c.view().count().unwrap_or(1);
        check_counts(["the product of A and B", "C"], operands.results()?, count)?;
        operands.check_reads_of_scales_and_counts(device)?;
        epilogue.check(device, result.shape())?;
        let is_scaled_or_counted = operands.scales.is_some() || operands.counts.is_some();
        if is_scaled_or_counted && result.order() == Order::ColumnMajor && !result.is_empty() {
            return Err(ErrorKind::NoKernel {
                problem: format!("a product in a column-major matrix of {m}x{n}"),
                device: device.label(),
                reason: "products with block scales or row counts have row-major results"
                    .to_owned(),
            });
        }
        Ok(())
    }

    /// The matrices of products in the stream of `device`, which passed [`check`](Self::check). Column-major results
    /// are the row-major ones of the transposed products.
    pub fn in_stream_of(
        device: &'a Device,
        operands: &Operands<'a, T>,
        c: MatrixBatchMut<'a, O>,
        epilogue: &Epilogue<'a, S>,
    ) -> Self {
        let is_column_major = c.view().first().order() == Order::ColumnMajor;
        let mut matrices = Self {
            operands: operands.in_stream_of(device),
            c: c.in_stream_of(device),
            epilogue: *epilogue,
        };
        match (is_column_major, operands.is_gram) {
            (false, _) => {}
            // The same outputs are computed: C is symmetric in the end.
            (true, true) => matrices.c = matrices.c.into_transposed(),
            (true, false) => matrices = matrices.transposed(),
        }
        matrices
    }

    /// The products of the transposes of B with those of A, which are the transposes of C.
    pub fn transposed(self) -> Self {
        Self {
            operands: self.operands.transposed(),
            c: self.c.into_transposed(),
            epilogue: self.epilogue.transposed(),
        }
    }

    /// M, N, and the K that is read: all of it if it is divided, 0 if alpha is 0.
    pub fn extents(&self) -> (usize, usize, usize) {
        let (m, n, k) = self.operands.extents();
        match self.epilogue.reads_operands() {
            true => (m, n, k),
            false => (m, n, 0),
        }
    }

    /// `count` of the products, from number `first` on.
    pub fn part(&mut self, first: usize, count: usize) -> Matrices<'_, T, O, S> {
        Matrices {
            operands: Operands {
                a: self.operands.a.part(first, count),
                b: self.operands.b.part(first, count),
                ..self.operands
            },
            c: self.c.part_mut(first, count),
            epilogue: self.epilogue,
        }
    }

    /// Calls `launch` with as many of the products at a time as a grid can have along y.
    pub fn for_each_grid(
        mut self,
        launch: impl Fn(&mut Matrices<'_, T, O, S>) -> Outcome<()>,
    ) -> Outcome<()> {
        const MOST: usize = MAX_GRID_Y as usize;
        let count = self.count();
        if count <= MOST {
            return launch(&mut self);
        }
        (0..count)
            .step_by(MOST)
            .try_for_each(|first| launch(&mut self.part(first, MOST.min(count - first))))
    }

    /// The number of products.
    pub fn count(&self) -> usize {
        self.c.view().count().unwrap_or(1)
    }

    /// The number of products: more than there are results, if these are groups of rows of one matrix.
    pub fn products(&self) -> usize {
        self.operands.counts.map_or(self.count(), |it| it.len())
    }

    /// The problem of the products.
    pub fn problem(&self, types: (ElementType, ElementType)) -> Problem {
        let c = (layout_of(self.c.view()), self.count());
        self.operands.problem(types, c, &self.epilogue)
    }
}

/// Fails unless A has as many columns as B has rows.
pub fn check_inner(a: (usize, usize), b: (usize, usize)) -> Outcome<()> {
    match a.1 == b.0 {
        true => Ok(()),
        false => Err(ErrorKind::ShapeMismatch {
            operands: ["A", "B"],
            left: a,
            right: b,
            rule: "A needs as many columns as B has rows",
        }),
    }
}

/// Fails unless the matrix for a product has the product's shape.
pub fn check_result(expected: (usize, usize), found: (usize, usize)) -> Outcome<()> {
    check_shapes(["the product", "the matrix for it"], expected, found)
}
