//! Collectives of buffers, one for each rank.

use super::{fault, groups};
use tilewright::{
    Buffer, Device, DeviceGroup, Element, ErrorKind, GroupError, SimulatorError, ops,
};
use tilewright_test_support::assert_kind;

/// Lengths without elements, with fewer than most groups have ranks, and uneven ones.
const LENGTHS: [usize; 4] = [0, 1, 5, 1000];

/// A buffer of each rank, with elements that tell ranks and places apart.
fn buffers<T: Element>(
    group: &DeviceGroup,
    len: usize,
    of: impl Fn(usize, usize) -> T,
) -> Vec<Buffer<T>> {
    let upload = |(rank, device): (usize, &Device)| {
        let data: Vec<T> = (0..len).map(|index| of(rank, index)).collect();
        device.upload(&data).unwrap()
    };
    group.devices().iter().enumerate().map(upload).collect()
}

fn element(rank: usize, index: usize) -> f32 {
    ((rank * 7919 + index * 104_729) % 1013) as f32 * 0.3 - 100.0
}

#[test]
fn a_broadcast_copies_the_roots_elements_to_all() {
    for group in groups() {
        for len in LENGTHS {
            let root = group.ranks() / 2;
            let mut all = buffers(&group, len, element);
            let expected = all[root].to_vec().unwrap();
            group.broadcast(root, &mut all).unwrap();
            assert!(all.iter().all(|it| it.to_vec().unwrap() == expected));
        }
    }
}

#[test]
fn an_all_gather_has_the_elements_of_all_ranks_in_order() {
    for group in groups() {
        for len in LENGTHS {
            let of_ranks = buffers(&group, len, element);
            let expected = of_ranks.iter().flat_map(|it| it.to_vec().unwrap());
            let expected: Vec<f32> = expected.collect();
            let all = group.all_gather(&of_ranks).unwrap();
            assert_eq!(all.len(), group.ranks());
            assert!(all.iter().all(|it| it.to_vec().unwrap() == expected));
        }
    }
}

#[test]
fn more_elements_than_an_index_counts_are_not_gathered() {
    let group = DeviceGroup::simulated(2).unwrap();
    let of_ranks = |len: usize| -> Vec<Buffer<[u8; 0]>> {
        let devices = group.devices().iter();
        devices.map(|device| device.zeros(len).unwrap()).collect()
    };
    let most = usize::MAX / 2;
    assert_eq!(
        group.all_gather(&of_ranks(most)).unwrap()[1].len(),
        2 * most
    );
    let error = group.all_gather(&of_ranks(most + 1)).unwrap_err();
    assert_kind!(error is ErrorKind::TooLarge { .. });
}

#[test]
fn reductions_over_ranks_have_the_bits_of_columns_on_one_device() {
    let one = Device::simulator();
    for group in groups() {
        for len in LENGTHS {
            let of_ranks = buffers(&group, len, element);
            let rows: Vec<f32> = of_ranks
                .iter()
                .flat_map(|it| it.to_vec().unwrap())
                .collect();
            let rows = one.matrix((group.ranks(), len), &rows).unwrap();
            let expected = one
                .reduce_columns(&rows, ops::Sum)
                .unwrap()
                .to_vec()
                .unwrap();
            for sums in group.all_reduce(&of_ranks, ops::Sum).unwrap() {
                assert_eq!(sums.to_vec().unwrap(), expected);
            }
            let parts = group.reduce_scatter(&of_ranks, ops::Sum).unwrap();
            let parts: Vec<_> = parts.iter().map(|it| it.to_vec().unwrap()).collect();
            assert_eq!(parts.concat(), expected);
            let lens = parts.iter().map(Vec::len);
            assert!(lens.clone().max().unwrap() - lens.min().unwrap() <= 1);
        }
    }
}

#[test]
fn other_operations_than_sums_go_over_ranks() {
    let group = DeviceGroup::simulated(3).unwrap();
    let of_ranks = buffers(&group, 4, |rank, index| ((rank + index) % 3) as i32);
    for greatest in group.all_reduce(&of_ranks, ops::ArgMax).unwrap() {
        assert_eq!(greatest.to_vec().unwrap(), [2, 1, 0, 2]);
    }
    let masks = buffers(&group, 2, |rank, index| u8::from(rank == index));
    for counts in group.all_reduce(&masks, ops::Count).unwrap() {
        assert_eq!(counts.to_vec().unwrap(), [1, 1]);
    }
}

#[test]
fn wrong_buffers_are_errors_and_the_group_goes_on() {
    let group = DeviceGroup::simulated(2).unwrap();
    let (one, other) = (&group.devices()[0], &group.devices()[1]);
    let absent = group.broadcast(2, &mut buffers(&group, 1, element));
    assert_eq!(fault(absent), GroupError::NoRank { rank: 2, ranks: 2 });
    let too_few = group.all_gather(&[one.upload(&[1]).unwrap()]).unwrap_err();
    assert_kind!(too_few is ErrorKind::WrongLength { expected: 2, found: 1, .. });
    let uneven = [one.zeros::<f32>(2).unwrap(), other.zeros(3).unwrap()];
    let uneven = group.all_reduce(&uneven, ops::Sum).unwrap_err();
    assert_kind!(uneven is ErrorKind::WrongLength { expected: 2, found: 3, .. });
    let misplaced = [one.zeros::<f32>(2).unwrap(), one.zeros(2).unwrap()];
    let misplaced = group.all_gather(&misplaced).unwrap_err();
    assert_kind!(misplaced is ErrorKind::WrongDevice { .. });
    let unwritten = [one.uninit::<f32>(2).unwrap(), other.zeros(2).unwrap()];
    let unwritten = group.all_gather(&unwritten).unwrap_err();
    assert_kind!(unwritten is ErrorKind::Simulator(SimulatorError::NeverWritten { .. }));
    let right = buffers(&group, 3, element);
    assert_eq!(group.all_gather(&right).unwrap()[1].len(), 6);
}
