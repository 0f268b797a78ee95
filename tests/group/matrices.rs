//! Matrices over several devices: divided, put together, and divided in another way.

use super::{fault, groups};
use tilewright::{DeviceGroup, ErrorKind, GroupError, Sharding};
use tilewright_test_support::assert_kind;

const SHARDINGS: [Sharding; 3] = [Sharding::Rows, Sharding::Columns, Sharding::Replicated];

/// Without elements, smaller than most groups, uneven.
const SHAPES: [(usize, usize); 5] = [(0, 3), (1, 1), (3, 5), (8, 1), (10, 9)];

fn data((rows, columns): (usize, usize)) -> Vec<u32> {
    (0..rows * columns).map(|index| index as u32 + 1).collect()
}

#[test]
fn every_element_comes_back_from_every_division() {
    for group in groups() {
        for shape in SHAPES {
            let data = data(shape);
            for sharding in SHARDINGS {
                let matrix = group.matrix(shape, &data, sharding).unwrap();
                assert_eq!(matrix.to_vec().unwrap(), data);
                for other in SHARDINGS {
                    let other = matrix.reshard(other).unwrap();
                    assert_eq!(other.to_vec().unwrap(), data);
                    check_shards(&other, &data);
                }
            }
        }
    }
}

/// Fails unless each rank has the elements of its block.
#[track_caller]
fn check_shards(matrix: &tilewright::ShardedMatrix<u32>, data: &[u32]) {
    let (_, columns_of_all) = matrix.shape();
    for rank in 0..matrix.group().ranks() {
        let (rows, columns) = matrix.block(rank).unwrap();
        let expected = rows.flat_map(|row| {
            let columns = columns.clone();
            columns.map(move |column| data[row * columns_of_all + column])
        });
        let shard = matrix.shard(rank).unwrap();
        assert_eq!(shard.to_vec().unwrap(), expected.collect::<Vec<_>>());
    }
}

#[test]
fn wrong_lengths_and_ranks_are_errors() {
    let group = DeviceGroup::simulated(2).unwrap();
    let short = group
        .matrix((2, 2), &[1, 2, 3], Sharding::Rows)
        .unwrap_err();
    assert_kind!(short is ErrorKind::WrongLength { expected: 4, found: 3, .. });
    let huge = group
        .matrix((usize::MAX, 2), &[1], Sharding::Rows)
        .unwrap_err();
    assert_kind!(huge is ErrorKind::TooLarge { .. });
    let mut matrix = group.matrix((2, 1), &[1, 2], Sharding::Rows).unwrap();
    assert_eq!(
        fault(matrix.block(2)),
        GroupError::NoRank { rank: 2, ranks: 2 }
    );
    assert!(matrix.shard_mut(2).is_none());
    matrix
        .shard_mut(1)
        .unwrap()
        .copy_from_strided(&[7], 1)
        .unwrap();
    assert_eq!(matrix.to_vec().unwrap(), [1, 7]);
}
