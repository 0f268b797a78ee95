//! Products of matrices over several devices. `request.rs` is a product with an epilogue, and `launch.rs` divides it
//! over the ranks.

mod launch;
mod request;

pub use request::ShardedMatmul;

use super::DeviceGroup;
use super::matrix::{ShardedMatrix, Sharding};
use crate::element::Element;
use crate::error::{During, GroupError, Outcome, Result};
use crate::matmul::{MatmulElement, MatmulInto};
use crate::partition::part;
use crate::reduce::{ReducibleLines, ops};

impl DeviceGroup {
    /// The product A B of matrices over the group's devices: M x K times K x N.
    ///
    /// The bits are those of [`Device::matmul`](crate::Device::matmul) for the whole matrices on one of the
    /// devices, for any number of ranks, if all devices are of one kind: one device computes each output, by the method
    /// that the shape of the whole product selects.
    ///
    /// | A | B | A B | transfers between ranks |
    /// |---|---|---|---|
    /// | `Rows` | `Replicated` | `Rows` | none |
    /// | `Replicated` | `Columns` | `Columns` | none |
    /// | `Replicated` | `Replicated` | `Rows` | none |
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
    /// [`ShardedMatmul`] adds an epilogue: scales, biases and an activation.
    ///
    /// # Errors
    /// In [`ErrorKind::Group`](crate::ErrorKind::Group): [`GroupError::Sharding`] if A and B are sharded in any
    /// other way; [`GroupError::OtherGroup`] if one belongs to another group; others if a rank of another process
    /// fails. Those of [`Matmul::run`](crate::Matmul::run).
    pub fn matmul<T: MatmulElement>(
        &self,
        a: &ShardedMatrix<T>,
        b: &ShardedMatrix<T>,
    ) -> Result<ShardedMatrix<T::Product>> {
        let multiply = || {
            self.check_owns("the matrix A", a.group())?;
            ShardedMatmul::new(a, b).product()
        };
        self.together(multiply).during("matmul")
    }

    /// Writes [`matmul`](Self::matmul) to an existing matrix, whose elements it overwrites.
    ///
    /// C is sharded as for [`ShardedMatmul::run_into`].
    ///
    /// # Errors
    /// The errors of [`ShardedMatmul::run_into`]; [`GroupError::OtherGroup`] if A belongs to another group.
    pub fn matmul_into<T: MatmulInto<O>, O: Element>(
        &self,
        a: &ShardedMatrix<T>,
        b: &ShardedMatrix<T>,
        c: &mut ShardedMatrix<O>,
    ) -> Result<()> {
        let multiply = || {
            self.check_owns("the matrix A", a.group())?;
            ShardedMatmul::new(a, b).multiply(c)
        };
        self.together(multiply).during("matmul_into")
    }

    /// The product A B of f32 or f64 with K split over the ranks.
    ///
    /// A is sharded by columns, B by rows, and the product by rows. Each rank multiplies its part of K as
    /// [`Device::matmul`](crate::Device::matmul) does. Then [`reduce_scatter`](Self::reduce_scatter) adds the
    /// ranks' products, in a tree that depends on the number of ranks alone. So the bits depend on the number of
    /// ranks, and are the same in every run.
    ///
    /// There is no form with an epilogue: no rank has whole sums before the reduce-scatter, and after it an
    /// epilogue would be one more pass.
    ///
    /// # Errors
    /// The errors of [`matmul`](Self::matmul).
    pub fn matmul_reduce_scatter<T>(
        &self,
        a: &ShardedMatrix<T>,
        b: &ShardedMatrix<T>,
    ) -> Result<ShardedMatrix<T>>
    where
        T: MatmulElement<Product = T> + ReducibleLines<ops::Sum, Output = T>,
    {
        self.together(|| self.product_of_parts(a, b))
            .during("matmul_reduce_scatter")
    }

    fn product_of_parts<T: MatmulElement<Product = T> + ReducibleLines<ops::Sum, Output = T>>(
        &self,
        a: &ShardedMatrix<T>,
        b: &ShardedMatrix<T>,
    ) -> Outcome<ShardedMatrix<T>> {
        self.check_owns("the matrix A", a.group())?;
        let (m, n) = ShardedMatmul::new(a, b).check_factors()?;
        if (a.sharding(), b.sharding()) != (Sharding::Columns, Sharding::Rows) {
            return Err(GroupError::Sharding {
                found: format!("A is {} and B {}", a.sharding(), b.sharding()),
                remedy: "reshard A to columns and B to rows, or use matmul",
            }
            .into());
        }
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
    }
}
