//! Products of matrices over several devices.

use super::DeviceGroup;
use super::matrix::{ShardedMatrix, Sharding};
use super::partition::part;
use super::transport::Exchange;
use crate::error::{During, ErrorKind, GroupError, Outcome, Result};
use crate::matmul::{Accumulate, MatmulElement};
use crate::matrix::{Matrix, MatrixView};
use crate::reduce::{ReducibleLines, ops};

impl DeviceGroup {
    /// The product A B of an M x K and a K x N matrix, M x N. The bits are those of
    /// [`Device::matmul`](crate::Device::matmul) of the whole matrices on one of the devices, however many there
    /// are: each output is computed on one device, in the way that the shape of the whole product selects.
    ///
    /// | A | B | A B | what goes from rank to rank |
    /// |---|---|---|---|
    /// | `Rows` | `Replicated` | `Rows` | nothing |
    /// | `Replicated` | `Columns` | `Columns` | nothing |
    /// | `Replicated` | `Replicated` | `Rows` | nothing |
    /// | `Rows` | `Columns` | `Rows` | each shard of B to each rank, one at a time |
    ///
    /// ```
    /// use tilewright::{DeviceGroup, Sharding};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let group = DeviceGroup::simulated(2)?;
    /// let a = group.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0], Sharding::Rows)?;
    /// let b = group.matrix((2, 2), &[1.0_f32, 1.0, 0.0, 1.0], Sharding::Replicated)?;
    /// let c = group.matmul(&a, &b)?;
    /// assert_eq!(c.sharding(), Sharding::Rows);
    /// assert_eq!(c.to_vec()?, [1.0, 3.0, 3.0, 7.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`GroupError::Sharding`] in [`ErrorKind::Group`] if A and B are divided in another way;
    /// [`GroupError::OtherGroup`] if one is of another group; the other errors of [`ErrorKind::Group`] if a rank
    /// of another process fails; those of [`Matmul::run`](crate::Matmul::run).
    pub fn matmul<T: MatmulElement>(
        &self,
        a: &ShardedMatrix<T>,
        b: &ShardedMatrix<T>,
    ) -> Result<ShardedMatrix<<T as Accumulate>::Product>> {
        self.product(a, b).during("matmul")
    }

    /// The product A B of f32 or f64 with K divided over the ranks: A has its columns divided, B its rows, and
    /// the product has its rows divided.
    ///
    /// Each rank multiplies its part of K as [`Device::matmul`](crate::Device::matmul) does. The products of the
    /// ranks are added by [`reduce_scatter`](Self::reduce_scatter), in a tree that depends on the number of ranks
    /// alone. So the bits depend on the number of ranks, and are the same in every run.
    ///
    /// # Errors
    /// Those of [`matmul`](Self::matmul).
    pub fn matmul_reduce_scatter<
        T: MatmulElement<Product = T> + ReducibleLines<ops::Sum, Output = T>,
    >(
        &self,
        a: &ShardedMatrix<T>,
        b: &ShardedMatrix<T>,
    ) -> Result<ShardedMatrix<T>> {
        self.product_of_parts(a, b).during("matmul_reduce_scatter")
    }

    fn product<T: MatmulElement>(
        &self,
        a: &ShardedMatrix<T>,
        b: &ShardedMatrix<T>,
    ) -> Outcome<ShardedMatrix<T::Product>> {
        use Sharding::{Columns, Replicated, Rows};
        let whole = self.check_factors(a, b)?;
        match (a.sharding(), b.sharding()) {
            (Rows, Replicated) | (Replicated, Replicated) => {
                self.together(|| self.multiply_each(a, b, whole, Rows))
            }
            (Replicated, Columns) => self.together(|| self.multiply_each(a, b, whole, Columns)),
            (Rows, Columns) => self.together(|| self.multiply_in_turns(a, b, whole)),
            (Columns, Rows) => Err(sharding(
                "matmul_reduce_scatter multiplies parts of K; or reshard A to rows or B to columns, and replicate \
                 the other one",
            )),
            _ => Err(sharding(
                "reshard A to rows, or B to columns, or replicate one of them",
            )),
        }
    }

    /// The shape of the product.
    fn check_factors<T: MatmulElement>(
        &self,
        a: &ShardedMatrix<T>,
        b: &ShardedMatrix<T>,
    ) -> Outcome<(usize, usize)> {
        self.check_owns("the left matrix", a.group())?;
        self.check_owns("the right matrix", b.group())?;
        let ((m, k), (k_of_b, n)) = (a.shape(), b.shape());
        if k != k_of_b {
            return Err(ErrorKind::ShapeMismatch {
                left: a.shape(),
                right: b.shape(),
                rule: "the left matrix needs as many columns as the right one has rows",
            });
        }
        Ok((m, n))
    }

    /// The product divided by `sharding`, of which each rank has what it needs.
    fn multiply_each<T: MatmulElement>(
        &self,
        a: &ShardedMatrix<T>,
        b: &ShardedMatrix<T>,
        whole: (usize, usize),
        sharding: Sharding,
    ) -> Outcome<ShardedMatrix<T::Product>> {
        let mut c = ShardedMatrix::uninit(self, whole, sharding)?;
        for ((local, device), (rank, c)) in self.devices().iter().enumerate().zip(c.shards_mut()) {
            let (mut a_part, b_part) = (a.shards()[local].view(), b.shards()[local].view());
            if a.sharding() == b.sharding() {
                a_part = a_part.part(part(whole.0, self.ranks(), rank), ..)?;
            }
            device.multiply_part(whole, (a_part, b_part), c.view_mut())?;
        }
        Ok(c)
    }

    /// The product of rows of A and of columns of B that come to each rank in turns: first its own, then those
    /// of the next rank, and so on. Each comes while the one before is multiplied, as far as the transport runs
    /// beside the products.
    fn multiply_in_turns<T: MatmulElement>(
        &self,
        a: &ShardedMatrix<T>,
        b: &ShardedMatrix<T>,
        whole: (usize, usize),
    ) -> Outcome<ShardedMatrix<T::Product>> {
        let ranks = self.ranks();
        let mut c = ShardedMatrix::uninit(self, whole, Sharding::Rows)?;
        let mut next = Vec::new();
        for turn in 0..ranks {
            let here: Vec<Matrix<T>> = next;
            next = match turn + 1 < ranks {
                true => self.columns_of_turn(b, turn + 1)?,
                false => Vec::new(),
            };
            for (rank, c) in c.shards_mut() {
                let owner = (rank + turn) % ranks;
                let local = rank - self.local_ranks().start;
                let columns: MatrixView<'_, T> = match turn {
                    0 => b.shards()[local].view(),
                    _ => here[local].view(),
                };
                let place = c.view_mut().into_part(.., part(whole.1, ranks, owner))?;
                let rows = a.shards()[local].view();
                let device = &self.devices()[local];
                device.multiply_part(whole, (rows, columns), place)?;
            }
        }
        Ok(c)
    }

    /// The shard of B of the rank `turn` behind each rank of this process.
    fn columns_of_turn<T: MatmulElement>(
        &self,
        b: &ShardedMatrix<T>,
        turn: usize,
    ) -> Outcome<Vec<Matrix<T>>> {
        let ranks = self.ranks();
        let shape_of = |rank: usize| (b.shape().0, part(b.shape().1, ranks, rank).len());
        let allocate =
            |(rank, device)| Matrix::uninit(device, shape_of((rank + turn) % ranks).into());
        let columns = self.locals().map(allocate).collect::<Outcome<Vec<_>>>();
        let mut columns = columns?;
        let mut exchange = Exchange::default();
        let mut places = columns.iter_mut();
        for to in 0..ranks {
            let from = (to + turn) % ranks;
            let (rows, len) = shape_of(from);
            let source = self.local_of(from);
            let source = source.map(|local| b.shards()[local].as_buffer().view());
            let place = self.local_of(to).and_then(|_| places.next());
            let place = place.map(|it| it.buffer_mut().view_mut());
            exchange.add((from, to), rows * len, source, place);
        }
        exchange.run(self)?;
        Ok(columns)
    }

    fn product_of_parts<T: MatmulElement<Product = T> + ReducibleLines<ops::Sum, Output = T>>(
        &self,
        a: &ShardedMatrix<T>,
        b: &ShardedMatrix<T>,
    ) -> Outcome<ShardedMatrix<T>> {
        let (m, n) = self.check_factors(a, b)?;
        if (a.sharding(), b.sharding()) != (Sharding::Columns, Sharding::Rows) {
            return Err(sharding(
                "reshard A to columns and B to rows, or use matmul",
            ));
        }
        self.together(|| {
            let mut products = Vec::new();
            for (device, (a, b)) in self.devices().iter().zip(a.shards().iter().zip(b.shards())) {
                let product = device.matmul(a, b).map_err(crate::Error::into_kind)?;
                products.push(product.into_buffer());
            }
            let ranks = self.ranks();
            let of_rank = |rank| {
                let rows = part(m, ranks, rank);
                rows.start * n..rows.end * n
            };
            let sums = self.scattered::<ops::Sum, T>(&products, of_rank)?;
            let shards = self.local_ranks().zip(sums).map(|(rank, sums)| {
                let rows = part(m, ranks, rank).len();
                sums.into_matrix((rows, n)).map_err(crate::Error::into_kind)
            });
            let shards = shards.collect::<Outcome<_>>()?;
            Ok(ShardedMatrix::of_shards(
                self,
                (m, n),
                Sharding::Rows,
                shards,
            ))
        })
    }
}

fn sharding(remedy: &'static str) -> ErrorKind {
    GroupError::Sharding { remedy }.into()
}
