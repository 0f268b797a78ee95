//! A matrix over the devices of a group. `reshard.rs` changes its sharding.

mod reshard;

use super::DeviceGroup;
use crate::element::Element;
use crate::error::{During, ONE_FOR_EACH_OF_MATRIX, Outcome, Result, check_length, zeroed_vec};
use crate::matrix::{Matrix, MatrixShape, MatrixView, MatrixViewMut};
use crate::partition::part;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// How a matrix is divided over the ranks of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sharding {
    /// By rows: of n ranks, rank r has the rows from floor(r rows / n) to floor((r + 1) rows / n).
    Rows,
    /// By columns: of n ranks, rank r has the columns from floor(r columns / n) to floor((r + 1) columns / n).
    Columns,
    /// Each rank has all elements.
    Replicated,
}

/// A matrix that is divided over the devices of a [`DeviceGroup`], or replicated on each.
///
/// The *shard* of a rank is a row-major matrix in the memory of its device. Rows and columns need not be multiples
/// of the number of ranks.
///
/// ```
/// use tilewright::{DeviceGroup, Sharding};
///
/// # fn main() -> tilewright::Result<()> {
/// let group = DeviceGroup::simulated(2)?;
/// let a = group.matrix((3, 2), &[1, 2, 3, 4, 5, 6], Sharding::Rows)?;
/// assert_eq!(a.shard(1).unwrap().to_vec()?, [3, 4, 5, 6]);
/// let a = a.reshard(Sharding::Columns)?;
/// assert_eq!(a.shard(1).unwrap().to_vec()?, [2, 4, 6]);
/// # Ok(())
/// # }
/// ```
pub struct ShardedMatrix<T: Element> {
    group: DeviceGroup,
    shape: (usize, usize),
    sharding: Sharding,
    /// The shards of this process's ranks.
    shards: Vec<Matrix<T>>,
}

/// Rows and columns of a matrix.
pub(super) type Block = (Range<usize>, Range<usize>);

/// The words in messages, as in "A is sharded by rows".
impl Display for Sharding {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Rows => "sharded by rows",
            Self::Columns => "sharded by columns",
            Self::Replicated => "replicated",
        })
    }
}

impl Sharding {
    /// The rows and columns of a matrix that rank `rank` of `ranks` has.
    pub(super) fn block(self, (rows, columns): (usize, usize), ranks: usize, rank: usize) -> Block {
        match self {
            Self::Rows => (part(rows, ranks, rank), 0..columns),
            Self::Columns => (0..rows, part(columns, ranks, rank)),
            Self::Replicated => (0..rows, 0..columns),
        }
    }
}

impl DeviceGroup {
    /// Makes a matrix of the given rows and columns with a copy of `data`, sharded over the devices.
    ///
    /// `data` has the elements row after row. In a group of several processes, each passes all of it.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `data` does not have `rows * columns` elements;
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if that product overflows; and those of [any
    /// call](crate#errors).
    pub fn matrix<T: Element>(
        &self,
        shape: (usize, usize),
        data: &[T],
        sharding: Sharding,
    ) -> Result<ShardedMatrix<T>> {
        let uploaded = || {
            let expected = MatrixShape::from(shape).checked_len()?;
            check_length("the data", data.len(), expected, ONE_FOR_EACH_OF_MATRIX)?;
            let mut matrix = ShardedMatrix::uninit(self, shape, sharding)?;
            matrix.read_host(data)?;
            Ok(matrix)
        };
        uploaded().during("matrix")
    }
}

impl<T: Element> ShardedMatrix<T> {
    pub(super) fn uninit(
        group: &DeviceGroup,
        shape: (usize, usize),
        sharding: Sharding,
    ) -> Outcome<Self> {
        MatrixShape::from(shape).checked_len()?;
        let allocate = |(rank, device)| {
            let (rows, columns) = sharding.block(shape, group.ranks(), rank);
            Matrix::uninit(device, (rows.len(), columns.len()).into())
        };
        let shards = group.locals().map(allocate).collect::<Outcome<_>>()?;
        Ok(Self::of_shards(group, shape, sharding, shards))
    }

    /// The shards are those of `sharding`.
    pub(super) fn of_shards(
        group: &DeviceGroup,
        shape: (usize, usize),
        sharding: Sharding,
        shards: Vec<Matrix<T>>,
    ) -> Self {
        Self {
            group: group.clone(),
            shape,
            sharding,
            shards,
        }
    }

    /// The numbers of rows and columns of the whole matrix.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// How the matrix is divided over the ranks.
    #[must_use]
    pub fn sharding(&self) -> Sharding {
        self.sharding
    }

    /// The group whose devices hold the matrix.
    #[must_use]
    pub fn group(&self) -> &DeviceGroup {
        &self.group
    }

    /// The rows and the columns that a rank has.
    ///
    /// # Errors
    /// [`GroupError::NoRank`](crate::GroupError::NoRank) in [`ErrorKind::Group`](crate::ErrorKind::Group) if there is
    /// no such rank.
    pub fn block(&self, rank: usize) -> Result<(Range<usize>, Range<usize>)> {
        self.group.check_rank(rank).during("block")?;
        Ok(self.block_of(rank))
    }

    pub(super) fn block_of(&self, rank: usize) -> Block {
        self.sharding.block(self.shape, self.group.ranks(), rank)
    }

    /// The shard of a rank, in the memory of its device; `None` if another process has it.
    #[must_use]
    pub fn shard(&self, rank: usize) -> Option<MatrixView<'_, T>> {
        Some(self.shards[self.group.local_of(rank)?].view())
    }

    /// The shard of a rank, for writing; `None` if another process has it.
    #[must_use]
    pub fn shard_mut(&mut self, rank: usize) -> Option<MatrixViewMut<'_, T>> {
        let local = self.group.local_of(rank)?;
        Some(self.shards[local].view_mut())
    }

    /// The shards of this process's ranks.
    pub(super) fn shards(&self) -> &[Matrix<T>] {
        &self.shards
    }

    /// The shards of this process's ranks, with the ranks.
    pub(super) fn shards_mut(&mut self) -> impl Iterator<Item = (usize, &mut Matrix<T>)> {
        self.group.local_ranks().zip(&mut self.shards)
    }

    fn read_host(&mut self, data: &[T]) -> Outcome<()> {
        let (_, columns_of_all) = self.shape;
        for rank in self.group.local_ranks() {
            let (rows, columns) = self.block_of(rank);
            if rows.is_empty() || columns.is_empty() {
                continue;
            }
            let source = &data[rows.start * columns_of_all + columns.start..];
            let shard = &mut self.shards[rank - self.group.local_ranks().start];
            shard.view_mut().read_strided(source, columns_of_all)?;
        }
        Ok(())
    }

    /// Copies all elements to host memory, row after row, in each process.
    ///
    /// # Errors
    /// The errors of [`Matrix::to_vec`], and in a group of several processes
    /// [`ErrorKind::Group`](crate::ErrorKind::Group).
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.group.together(|| self.elements()).during("to_vec")
    }

    fn elements(&self) -> Outcome<Vec<T>> {
        if self.sharding == Sharding::Replicated {
            return self.shards[0].view().row_after_row();
        }
        if !self.group.is_whole() {
            return self.resharded(Sharding::Replicated)?.elements();
        }
        let len = MatrixShape::from(self.shape).checked_len()?;
        let mut elements = zeroed_vec(len)?;
        let (_, columns_of_all) = self.shape;
        for (rank, shard) in self.shards.iter().enumerate() {
            let (rows, columns) = self.block_of(rank);
            if !rows.is_empty() && !columns.is_empty() {
                let place = &mut elements[rows.start * columns_of_all + columns.start..];
                shard.view().write_strided(place, columns_of_all)?;
            }
        }
        Ok(elements)
    }
}

impl<T: Element> fmt::Debug for ShardedMatrix<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ShardedMatrix")
            .field("element", &std::any::type_name::<T>())
            .field("shape", &self.shape)
            .field("sharding", &self.sharding)
            .field("group", &self.group)
            .finish()
    }
}
