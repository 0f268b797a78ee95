//! A product over several devices, with an epilogue.

use crate::element::Element;
use crate::error::{During, ErrorKind, GroupError, Outcome, Result};
use crate::group::matrix::{Block, ShardedMatrix, Sharding};
use crate::matmul::{
    Activation, Arithmetic, Epilogue, LineVectors, MatmulElement, MatmulInto, OF_COLUMNS, OF_ROWS,
    check_inner, check_result,
};
use crate::setters::setters;
use cuda_std::float::Float;
use std::ops::Range;
use tilewright_kernels::epilogue::EpilogueElement as _;

/// A matrix product over the devices of a group, with an epilogue fused into the kernels.
///
/// It is the group's form of [`Matmul`](crate::Matmul):
///
/// ```text
/// C' = activation(alpha row_scale[i] column_scale[j] (A B)[i, j] + beta C[i, j] + row_bias[i] + column_bias[j])
/// ```
///
/// If all devices are of one kind, the bits are those of [`Matmul::run_into`](crate::Matmul::run_into) for the whole
/// matrices on one of them, for any number of ranks. A and B are sharded as for
/// [`DeviceGroup::matmul`](crate::DeviceGroup::matmul); each scale and each bias is replicated.
///
/// ```
/// use tilewright::{Activation, DeviceGroup, ShardedMatmul, Sharding};
///
/// # fn main() -> tilewright::Result<()> {
/// let group = DeviceGroup::simulated(2)?;
/// let x = group.matrix((2, 3), &[1.0_f32, 2.0, 3.0, -1.0, -2.0, -3.0], Sharding::Rows)?;
/// let weights = group.matrix((3, 1), &[1.0, 1.0, 1.0], Sharding::Replicated)?;
/// let bias = group.matrix((1, 1), &[0.5], Sharding::Replicated)?;
/// let layer = ShardedMatmul::new(&x, &weights)
///     .column_bias(&bias)
///     .activation(Activation::Relu);
/// assert_eq!(layer.run()?.to_vec()?, [6.5, 0.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ShardedMatmul<'a, T: MatmulElement> {
    pub(super) a: &'a ShardedMatrix<T>,
    pub(super) b: &'a ShardedMatrix<T>,
    pub(super) arithmetic: Arithmetic,
    alpha: T::Accumulator,
    beta: T::Accumulator,
    rows: Vectors<'a, T::Accumulator>,
    columns: Vectors<'a, T::Accumulator>,
    activation: Activation,
}

/// A scale and a bias on each rank, for all rows or for all columns.
#[derive(Clone, Copy, Debug)]
struct Vectors<'a, S: Element> {
    scale: Option<&'a ShardedMatrix<S>>,
    bias: Option<&'a ShardedMatrix<S>>,
}

impl<'a, S: Element> Vectors<'a, S> {
    const NONE: Self = Self {
        scale: None,
        bias: None,
    };

    /// The part for the rows or columns `lines`, on one of this process's devices.
    fn part(&self, local: usize, lines: &Range<usize>) -> Outcome<LineVectors<'a, S>> {
        let part = |vector: &'a ShardedMatrix<S>| {
            let all = vector.shards()[local].as_buffer().view();
            all.part(lines.clone())
        };
        Ok(LineVectors {
            scale: self.scale.map(part).transpose()?,
            bias: self.bias.map(part).transpose()?,
        })
    }
}

impl<'a, T: MatmulElement> ShardedMatmul<'a, T> {
    /// The product A B of an M x K and a K x N matrix, on the devices of A's group.
    #[must_use]
    pub fn new(a: &'a ShardedMatrix<T>, b: &'a ShardedMatrix<T>) -> Self {
        Self {
            a,
            b,
            arithmetic: Arithmetic::Auto,
            alpha: T::Accumulator::ONE,
            beta: T::Accumulator::ZERO,
            rows: Vectors::NONE,
            columns: Vectors::NONE,
            activation: Activation::Identity,
        }
    }

    setters! {
        /// Sets how the product is computed: [`Arithmetic::Auto`] if not given.
        arithmetic(arithmetic: Arithmetic) => arithmetic = arithmetic;

        /// Sets the factor of the product: 1 if not given. With 0, A and B are not read.
        alpha(alpha: T::Accumulator) => alpha = alpha;

        /// Sets the factor of C: 0 if not given. With 0, C is not read. A new C counts as zero.
        beta(beta: T::Accumulator) => beta = beta;

        /// Multiplies each row of the product by a factor: an M x 1 matrix.
        row_scale(scale: &'a ShardedMatrix<T::Accumulator>) => rows.scale = Some(scale);

        /// Multiplies each column of the product by a factor: a 1 x N matrix.
        column_scale(scale: &'a ShardedMatrix<T::Accumulator>) => columns.scale = Some(scale);

        /// Adds a number to each row of the product: an M x 1 matrix.
        row_bias(bias: &'a ShardedMatrix<T::Accumulator>) => rows.bias = Some(bias);

        /// Adds a number to each column of the product: a 1 x N matrix.
        column_bias(bias: &'a ShardedMatrix<T::Accumulator>) => columns.bias = Some(bias);
    }

    /// Sets the activation, which is applied last to each output. Integers have none.
    #[must_use]
    pub fn activation(mut self, activation: Activation) -> Self
    where
        T::Accumulator: Float,
    {
        self.activation = activation;
        self
    }

    /// Computes the product as a new matrix, sharded as by [`DeviceGroup::matmul`](crate::DeviceGroup::matmul).
    ///
    /// # Errors
    /// In [`ErrorKind::Group`]:
    ///
    /// - [`GroupError::Sharding`] if A and B are sharded in a way that
    ///   [`DeviceGroup::matmul`](crate::DeviceGroup::matmul) does not have, such as by K, or if a scale or a bias
    ///   is not replicated.
    /// - [`GroupError::OtherGroup`] if B, a scale or a bias belongs to another group than A.
    /// - Others if a rank of another process fails.
    ///
    /// [`ErrorKind::ShapeMismatch`] if A's columns are not B's rows, or if a scale or a bias does not have its
    /// shape; those of [`Matmul::run`](crate::Matmul::run).
    pub fn run(&self) -> Result<ShardedMatrix<T::Product>> {
        let group = self.a.group();
        group
            .together(|| self.product())
            .during("ShardedMatmul::run")
    }

    /// Writes the product to an existing M x N matrix.
    ///
    /// C is overwritten, or the product is added to it: see [`beta`](Self::beta). f16, bf16 and 8-bit floats can
    /// also be written to matrices of f32. C is sharded as [`run`](Self::run) shards the product. If A and B are
    /// both replicated, C can have any sharding: for a replicated C each device computes all outputs, and nothing
    /// is transferred.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] if C is not M x N; [`GroupError::Sharding`] in [`ErrorKind::Group`] if it is
    /// sharded in another way; those of [`run`](Self::run).
    pub fn run_into<O: Element>(&self, c: &mut ShardedMatrix<O>) -> Result<()>
    where
        T: MatmulInto<O>,
    {
        let group = self.a.group();
        group
            .together(|| self.multiply(c))
            .during("ShardedMatmul::run_into")
    }

    /// One rank's part of a call of the whole group.
    pub(super) fn product(&self) -> Outcome<ShardedMatrix<T::Product>> {
        let (whole, sharding) = self.check()?;
        let into_new = Self {
            beta: T::Accumulator::ZERO,
            ..*self
        };
        let mut c = ShardedMatrix::uninit(self.a.group(), whole, sharding)?;
        into_new.launch(&mut c)?;
        Ok(c)
    }

    /// One rank's part of a call of the whole group.
    pub(super) fn multiply<O: Element>(&self, c: &mut ShardedMatrix<O>) -> Outcome<()>
    where
        T: MatmulInto<O>,
    {
        let (whole, sharding) = self.check()?;
        let group = self.a.group();
        group.check_owns("the matrix C", c.group())?;
        check_result(whole, c.shape())?;
        let factors = [self.a.sharding(), self.b.sharding()];
        if c.sharding() != sharding && factors != [Sharding::Replicated; 2] {
            return Err(GroupError::Sharding {
                found: format!(
                    "C is {} and the product of A and B {sharding}",
                    c.sharding()
                ),
                remedy: "reshard C as the product is",
            }
            .into());
        }
        self.launch(c)
    }

    /// The shape of the product, and the sharding of a new one.
    fn check(&self) -> Outcome<((usize, usize), Sharding)> {
        let (m, n) = self.check_factors()?;
        let sharding = sharding_of_product(self.a.sharding(), self.b.sharding())?;
        for (vectors, names, shape) in [
            (self.rows, OF_ROWS, (m, 1)),
            (self.columns, OF_COLUMNS, (1, n)),
        ] {
            for (vector, name) in [vectors.scale, vectors.bias].into_iter().zip(names) {
                if let Some(vector) = vector {
                    self.check_vector(vector, name, shape)?;
                }
            }
        }
        Ok(((m, n), sharding))
    }

    /// The shape of the product.
    pub(super) fn check_factors(&self) -> Outcome<(usize, usize)> {
        let group = self.a.group();
        group.check_owns("the matrix B", self.b.group())?;
        check_inner(self.a.shape(), self.b.shape())?;
        Ok((self.a.shape().0, self.b.shape().1))
    }

    fn check_vector(
        &self,
        vector: &ShardedMatrix<T::Accumulator>,
        name: &'static str,
        shape: (usize, usize),
    ) -> Outcome<()> {
        let group = self.a.group();
        group.check_owns(name, vector.group())?;
        if vector.shape() != shape {
            return Err(ErrorKind::ShapeMismatch {
                operands: ["the shape that the product needs", name],
                left: shape,
                right: vector.shape(),
                rule: "vectors are Mx1 for the rows of the product and 1xN for its columns",
            });
        }
        match vector.sharding() {
            Sharding::Replicated => Ok(()),
            sharding => Err(GroupError::Sharding {
                found: format!("{name} is {sharding}"),
                remedy: "replicate the scales and the biases",
            }
            .into()),
        }
    }

    /// The epilogue for a block of the product, on one of this process's devices.
    pub(super) fn epilogue_of(
        &self,
        local: usize,
        (rows, columns): Block,
    ) -> Outcome<Epilogue<'a, T::Accumulator>> {
        Ok(Epilogue {
            alpha: self.alpha,
            beta: self.beta,
            rows: self.rows.part(local, &rows)?,
            columns: self.columns.part(local, &columns)?,
            activation: self.activation,
        })
    }
}

/// The sharding of the product of matrices with these shardings, so that one device computes each output.
fn sharding_of_product(a: Sharding, b: Sharding) -> Outcome<Sharding> {
    use Sharding::{Columns, Replicated, Rows};
    let remedy = match (a, b) {
        (Rows, Replicated | Columns) | (Replicated, Replicated) => return Ok(Rows),
        (Replicated, Columns) => return Ok(Columns),
        (Columns, Rows) => {
            "call matmul_reduce_scatter, which multiplies parts of K; or reshard A to rows or B to columns, and \
             replicate the other one"
        }
        (Columns, Columns | Replicated) => "reshard A to rows, or replicate it",
        (Rows | Replicated, Rows) => "reshard B to columns, or replicate it",
    };
    Err(GroupError::Sharding {
        found: format!("A is {a} and B {b}"),
        remedy,
    }
    .into())
}
