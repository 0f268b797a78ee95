//! Changes the sharding of a matrix over the devices of a group.

use super::{Block, ShardedMatrix, Sharding};
use crate::element::Element;
use crate::error::{During, Outcome, Result};
use crate::group::exchange::Exchange;
use crate::matrix::{Matrix, MatrixView};
use std::ops::Range;

/// Some rows and columns that go from one rank to another.
struct Piece<T: Element> {
    from: usize,
    to: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    /// A copy without gaps, if the source has gaps.
    packed: Option<Matrix<T>>,
    /// The piece as it arrives at a rank of this process.
    arrived: Option<Matrix<T>>,
}

fn common(one: Range<usize>, other: Range<usize>) -> Range<usize> {
    one.start.max(other.start)..one.end.min(other.end)
}

/// The range counted from `start`.
fn shifted(range: &Range<usize>, start: usize) -> Range<usize> {
    range.start - start..range.end - start
}

impl<T: Element> ShardedMatrix<T> {
    /// Copies the matrix to new memory with another sharding.
    ///
    /// # Errors
    /// The errors of [any call](crate#errors), and in a group of several processes
    /// [`ErrorKind::Group`](crate::ErrorKind::Group).
    pub fn reshard(&self, sharding: Sharding) -> Result<Self> {
        let group = &self.group;
        group
            .together(|| self.resharded(sharding))
            .during("reshard")
    }

    pub(super) fn resharded(&self, sharding: Sharding) -> Outcome<Self> {
        let group = &self.group;
        let mut matrix = Self::uninit(group, self.shape, sharding)?;
        let mut pieces = self.pieces_for(|rank| matrix.block_of(rank))?;
        let mut exchange = Exchange::default();
        for piece in &mut pieces {
            let len = piece.rows.len() * piece.columns.len();
            let source = match (&piece.packed, group.local_of(piece.from)) {
                (Some(packed), _) => Some(packed.as_buffer().view()),
                (None, Some(_)) => self.part_of(piece.from, piece)?.as_buffer_view(),
                (None, None) => None,
            };
            let destination = piece.arrived.as_mut();
            let destination = destination.map(|it| it.buffer_mut().view_mut());
            exchange.add((piece.from, piece.to), len, source, destination);
        }
        exchange.run(group)?;
        for piece in &pieces {
            if let Some(arrived) = &piece.arrived {
                let (rows, columns) = matrix.block_of(piece.to);
                let place = matrix.shard_mut(piece.to).expect("it arrived here");
                let rows = shifted(&piece.rows, rows.start);
                let mut place = place.into_part(rows, shifted(&piece.columns, columns.start))?;
                place.read_view(arrived.view())?;
            }
        }
        Ok(matrix)
    }

    /// The pieces that go from each rank to each rank that is to have `block_of(rank)`, with memory for them.
    fn pieces_for(&self, block_of: impl Fn(usize) -> Block) -> Outcome<Vec<Piece<T>>> {
        let group = &self.group;
        let mut pieces = Vec::new();
        for to in 0..group.ranks() {
            for from in 0..group.ranks() {
                // A rank copies what it already has from its own shard.
                if self.sharding == Sharding::Replicated && from != to {
                    continue;
                }
                let ((rows, columns), (of_rows, of_columns)) = (self.block_of(from), block_of(to));
                let mut piece = Piece {
                    from,
                    to,
                    rows: common(rows, of_rows),
                    columns: common(columns, of_columns),
                    packed: None,
                    arrived: None,
                };
                if piece.rows.is_empty() || piece.columns.is_empty() {
                    continue;
                }
                if group.local_of(from).is_some() {
                    let source = self.part_of(from, &piece)?;
                    if source.as_buffer_view().is_none() {
                        piece.packed = Some(source.copied()?);
                    }
                }
                if let Some(local) = group.local_of(to) {
                    let shape = (piece.rows.len(), piece.columns.len());
                    piece.arrived = Some(Matrix::uninit(&group.devices()[local], shape.into())?);
                }
                pieces.push(piece);
            }
        }
        Ok(pieces)
    }

    /// The piece in the shard of a rank of this process.
    fn part_of(&self, rank: usize, piece: &Piece<T>) -> Outcome<MatrixView<'_, T>> {
        let (rows, columns) = self.block_of(rank);
        let shard = self.shard(rank).expect("the rank is of this process");
        let rows = shifted(&piece.rows, rows.start);
        shard.part(rows, shifted(&piece.columns, columns.start))
    }
}
