//! The division of a product over the ranks, such that one device computes each output.

use super::request::ShardedMatmul;
use crate::element::Element;
use crate::error::Outcome;
use crate::group::exchange::{Exchange, Started};
use crate::group::matrix::{ShardedMatrix, Sharding};
use crate::matmul::{Computes, MatmulElement};
use crate::matrix::{Matrix, MatrixView};
use crate::partition::part;

impl<T: MatmulElement> ShardedMatmul<'_, T> {
    /// Writes the product to `c`. Each rank has the operands for its shard, except for the columns of B that others
    /// have.
    pub(super) fn launch<O: Element>(&self, c: &mut ShardedMatrix<O>) -> Outcome<()>
    where
        T: Computes<O, T::Accumulator>,
    {
        match (self.a.sharding(), self.b.sharding()) {
            (Sharding::Rows, Sharding::Columns) => self.multiply_in_turns(c),
            _ => self.multiply_each(c),
        }
    }

    /// The product if each rank has the operands for its shard of C, or for all of C.
    fn multiply_each<O: Element>(&self, c: &mut ShardedMatrix<O>) -> Outcome<()>
    where
        T: Computes<O, T::Accumulator>,
    {
        let (group, whole, sharding) = (self.a.group().clone(), c.shape(), c.sharding());
        for ((local, device), (rank, c)) in group.devices().iter().enumerate().zip(c.shards_mut()) {
            let (rows, columns) = sharding.block(whole, group.ranks(), rank);
            let (mut a, mut b) = (self.a.shards()[local].view(), self.b.shards()[local].view());
            if self.a.sharding() == Sharding::Replicated {
                a = a.part(rows.clone(), ..)?;
            }
            if self.b.sharding() == Sharding::Replicated {
                b = b.part(.., columns.clone())?;
            }
            let epilogue = self.epilogue_of(local, (rows, columns))?;
            device.multiply_part(whole, (a, b), c.view_mut(), self.arithmetic, epilogue)?;
        }
        Ok(())
    }

    /// The product of rows of A with columns of B that each rank receives in turn: first its own, then those of the
    /// next rank, and so on. The next turn's columns arrive while this turn's are multiplied.
    fn multiply_in_turns<O: Element>(&self, c: &mut ShardedMatrix<O>) -> Outcome<()>
    where
        T: Computes<O, T::Accumulator>,
    {
        let (group, whole) = (self.a.group(), c.shape());
        let ranks = group.ranks();
        let mut here: Vec<Matrix<T>> = Vec::new();
        for turn in 0..ranks {
            let mut next = self.memory_for_turn(turn + 1)?;
            let coming = self.start_turn(turn + 1, &mut next)?;
            for (local, (rank, c)) in c.shards_mut().enumerate() {
                let b: MatrixView<'_, T> = match turn {
                    0 => self.b.shards()[local].view(),
                    _ => here[local].view(),
                };
                let rows = part(whole.0, ranks, rank);
                let columns = part(whole.1, ranks, (rank + turn) % ranks);
                let place = c.view_mut().into_part(.., columns.clone())?;
                let epilogue = self.epilogue_of(local, (rows, columns))?;
                let a = self.a.shards()[local].view();
                group.devices()[local].multiply_part(
                    whole,
                    (a, b),
                    place,
                    self.arithmetic,
                    epilogue,
                )?;
            }
            coming.finish()?;
            here = next;
        }
        Ok(())
    }

    /// The shape of the shard of B that `rank` multiplies in a turn: that of the rank `turn` places after it.
    fn shape_of_turn(&self, rank: usize, turn: usize) -> (usize, usize) {
        let ((k, n), ranks) = (self.b.shape(), self.a.group().ranks());
        (k, part(n, ranks, (rank + turn) % ranks).len())
    }

    /// Memory for the shard of B that each rank of this process multiplies in a turn; none after the last turn.
    fn memory_for_turn(&self, turn: usize) -> Outcome<Vec<Matrix<T>>> {
        let group = self.a.group();
        let allocate =
            |(rank, device)| Matrix::uninit(device, self.shape_of_turn(rank, turn).into());
        match turn < group.ranks() {
            true => group.locals().map(allocate).collect(),
            false => Ok(Vec::new()),
        }
    }

    /// Starts the transfers of a turn's shards of B to `places`; none after the last turn.
    fn start_turn<'a>(
        &'a self,
        turn: usize,
        places: &'a mut [Matrix<T>],
    ) -> Outcome<Started<'a, 'a>> {
        let group = self.a.group();
        let ranks = group.ranks();
        let mut exchange = Exchange::default();
        let mut places = places.iter_mut();
        for to in (0..ranks).filter(|_| turn < ranks) {
            let from = (to + turn) % ranks;
            let (rows, len) = self.shape_of_turn(to, turn);
            let source = group.local_of(from);
            let source = source.map(|local| self.b.shards()[local].as_buffer().view());
            let place = group.local_of(to).and_then(|_| places.next());
            let place = place.map(|it| it.buffer_mut().view_mut());
            exchange.add((from, to), rows * len, source, place);
        }
        exchange.start(group)
    }
}
